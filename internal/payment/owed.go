package payment

import (
	"slices"
	"strconv"
	"strings"
)

// Periods are periods of a subscription in their order, written as text with
// spaces between them: that is how they are stored and compared. Behind them may stand
// the place at which billing goes on after them, with a plus.
type Periods string

const goesOn = "+"

func (p Periods) list() (all []int, place string) {
	for text := range strings.FieldsSeq(string(p)) {
		if strings.HasPrefix(text, goesOn) {
			place = text
		} else if period, err := strconv.Atoi(text); err == nil {
			all = append(all, period)
		}
	}
	return all, place
}

// with adds a period.
func (p Periods) with(period int) Periods {
	all, place := p.list()
	if slices.Contains(all, period) {
		return p
	}
	return written(append(all, period), place)
}

// first takes the earliest period out.
func (p Periods) first() (period int, rest Periods, found bool) {
	all, place := p.list()
	if len(all) == 0 {
		return 0, "", false
	}
	return all[0], written(all[1:], place), true
}

// withPlace notes a place, unless there is one.
func (p Periods) withPlace(period int) Periods {
	if all, place := p.list(); place == "" {
		return written(all, goesOn+strconv.Itoa(period))
	}
	return p
}

// place is the period at which billing goes on, if one is noted.
func (p Periods) place() (period int, found bool) {
	_, place := p.list()
	period, err := strconv.Atoi(place)
	return period, err == nil
}

// withoutPlace forgets the place.
func (p Periods) withoutPlace() Periods {
	all, _ := p.list()
	return written(all, "")
}

func written(periods []int, place string) Periods {
	slices.Sort(periods)
	texts := make([]string, len(periods))
	for i, period := range periods {
		texts[i] = strconv.Itoa(period)
	}
	if place != "" {
		texts = append(texts, place)
	}
	return Periods(strings.Join(texts, " "))
}
