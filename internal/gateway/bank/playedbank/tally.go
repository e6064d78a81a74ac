package playedbank

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// header begins a file, of collections and of credit transfers alike.
type header struct {
	ID      string `xml:"MsgId"`
	Created string `xml:"CreDtTm"`
	Count   string `xml:"NbOfTxs"`
	Sum     string `xml:"CtrlSum"`
	Party   string `xml:"InitgPty>Nm"`
}

// open takes a file over: the order of this header, filled with its blocks, and the whole held against what the header
// says. It gives the order also where it is refused, as far as it could be read.
func (h *header) open(version string, limits Limits, fill func(*Order, Limits, *tally) error) (*Order, error) {
	created, err := time.Parse("2006-01-02T15:04:05", strings.TrimSuffix(h.Created, "Z")) // with or without a zone
	order, whole := &Order{MessageID: h.ID, Version: version, CreatedAt: created}, newTally()
	if err != nil {
		return order, &Refusal{Code: "DT01", Text: "the time of creation is none"}
	}
	if err := fill(order, limits, whole); err != nil {
		return order, err
	}
	return order, whole.end(h, limits)
}

// money is an amount as it is written.
type money struct {
	Text     string `xml:",chardata"`
	Currency string `xml:"Ccy,attr"`
}

// tally adds up what a file holds, as numbers, never as text or floats.
type tally struct {
	ids   map[string]bool
	count int
	sum   *big.Rat
}

func newTally() *tally { return &tally{ids: map[string]bool{}, sum: new(big.Rat)} }

// part begins the tally of a block: ids are unique in the whole file.
func (t *tally) part() *tally { return &tally{ids: t.ids, sum: new(big.Rat)} }

// take counts a payment and gives its cents.
func (t *tally) take(id string, m money) (cents int64, err error) {
	if t.ids[id] {
		return 0, &Refusal{Code: "AM05", Text: "the end-to-end id " + id + " comes twice"}
	}
	t.ids[id] = true
	amount, isNumber := new(big.Rat).SetString(m.Text)
	if !isNumber || m.Currency != "EUR" {
		return 0, &Refusal{Code: "AM01", Text: "an amount is none in euro"}
	}
	t.count, t.sum = t.count+1, t.sum.Add(t.sum, amount)
	whole := new(big.Rat).Mul(amount, big.NewRat(100, 1))
	if !whole.IsInt() || whole.Sign() <= 0 {
		return 0, &Refusal{Code: "AM01", Text: "the amount of " + id + " is none that can be paid"}
	}
	return whole.Num().Int64(), nil
}

// add takes a block's tally over.
func (t *tally) add(part *tally) { t.count, t.sum = t.count+part.count, t.sum.Add(t.sum, part.sum) }

// agree holds what was said against what is there.
func (t *tally) agree(count, sum string) error {
	said, isNumber := new(big.Rat).SetString(sum)
	if n, err := strconv.Atoi(count); err != nil || n != t.count || t.count == 0 {
		return &Refusal{Code: "AM18", Text: "the number of payments is not what was said"}
	}
	if !isNumber || said.Cmp(t.sum) != 0 {
		return &Refusal{Code: "AM10", Text: "the control sum is not what was said"}
	}
	return nil
}

// end holds the whole file against what its header says and what the bank allows.
func (t *tally) end(h *header, limits Limits) error {
	if limits.Entries > 0 && t.count > limits.Entries {
		return &Refusal{Code: "AM13", Text: fmt.Sprintf("%d payments, %d are allowed in a file", t.count, limits.Entries)}
	}
	return t.agree(h.Count, h.Sum)
}
