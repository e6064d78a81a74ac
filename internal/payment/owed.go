package payment

import (
	"slices"
	"strconv"
	"strings"
)

// Periods are periods of a subscription in their order, written as text with
// spaces between them: that is how they are stored and compared.
type Periods string

func (p Periods) list() (all []int) {
	for text := range strings.FieldsSeq(string(p)) {
		if period, err := strconv.Atoi(text); err == nil {
			all = append(all, period)
		}
	}
	return all
}

// with adds a period.
func (p Periods) with(period int) Periods {
	all := p.list()
	if slices.Contains(all, period) {
		return p
	}
	return written(append(all, period))
}

// first takes the earliest period out.
func (p Periods) first() (period int, rest Periods, found bool) {
	all := p.list()
	if len(all) == 0 {
		return 0, "", false
	}
	return all[0], written(all[1:]), true
}

func written(periods []int) Periods {
	slices.Sort(periods)
	texts := make([]string, len(periods))
	for i, period := range periods {
		texts[i] = strconv.Itoa(period)
	}
	return Periods(strings.Join(texts, " "))
}
