package playedbank

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Shape is how a bank writes.
type Shape string

// The shapes, each of a country whose banks are known to write so.
const (
	// Plain keeps to the standard: the newest versions, single returns with every reference.
	Plain Shape = "plain"
	// German leaves the end-to-end id of returns away, has its charges inside the booking, and says the kind of booking by number.
	German Shape = "german"
	// Dutch gathers the returns of a day into one booking, names the payer as creditor and says something else in words.
	Dutch Shape = "dutch"
	// Swiss uses namespaces and codes of its own and books charges apart.
	Swiss Shape = "swiss"
	// French writes the kind of exception into text, and announces returns in notices of its own.
	French Shape = "french"
)

// Shapes lists them.
var Shapes = []Shape{Plain, German, Dutch, Swiss, French}

// File is an answer as it is put into the merchant's folder.
type File struct {
	Name    string
	Content []byte
}

// Verdict is what becomes of a collection, in codes: refused before any money moves, or given back after it was
// credited; neither for one that is paid.
type Verdict struct{ Reject, GiveBack string }

// AnswersBy does as Answers, with verdicts of the caller's own in place of those of the test accounts.
func AnswersBy(order *Order, shape Shape, until time.Time, judge func(*Debit) Verdict) ([]File, error) {
	order.judge = judge
	return Answers(order, shape, until)
}

// Answers gives everything that the bank has said about an order up to a moment, oldest first.
func Answers(order *Order, shape Shape, until time.Time) ([]File, error) {
	if !slices.Contains(Shapes, shape) {
		return nil, ErrNoShape
	}
	p := &paper{shape: shape, order: order}
	var files []File
	if order.IsTransfers && p.checksPayees() {
		files = append(files, p.payeeReport(order.verdicts()))
	}
	files = append(files, p.statusReport(order.verdicts()))
	for _, day := range order.days() {
		if day.date.After(until) {
			break
		}
		if shape == French && len(day.returned) > 0 && !order.IsTransfers {
			files = append(files, p.notice(day))
		}
		files = append(files, p.statement(day))
	}
	return files, nil
}

// Refuse gives the status report for a file that is not taken.
func Refuse(refusal *Refusal, shape Shape, at time.Time) File {
	p := &paper{shape: shape, order: &Order{MessageID: cmp.Or(refusal.MessageID, "UNREADABLE"), Version: "pain.008.001.08", CreatedAt: at}}
	return p.fileRejected(refusal)
}

// payment is a collection with its block and what becomes of it.
type playedPayment struct {
	block   *Block
	debit   *Debit
	verdict verdict
}

func (o *Order) verdicts() (payments []playedPayment) {
	for i := range o.Blocks {
		for j := range o.Blocks[i].Debits {
			payment := playedPayment{block: &o.Blocks[i], debit: &o.Blocks[i].Debits[j]}
			payment.verdict = o.verdictOn(payment.block, payment.debit)
			payments = append(payments, payment)
		}
	}
	return payments
}

func (o *Order) verdictOn(b *Block, d *Debit) verdict {
	switch {
	case o.judge != nil:
		own := o.judge(d)
		return verdict{reject: own.Reject, giveBack: own.GiveBack, after: 2}
	case o.IsTransfers:
		return judgeTransfer(d)
	}
	return judge(b, d)
}

// bookingDay is what moves on one day.
type bookingDay struct {
	date     time.Time
	credited map[string][]playedPayment // by block
	returned []playedPayment
}

// days gives the days on which something of the order is booked, in order.
func (o *Order) days() []*bookingDay {
	days := map[string]*bookingDay{}
	on := func(date time.Time) *bookingDay {
		key := date.Format(time.DateOnly)
		if days[key] == nil {
			days[key] = &bookingDay{date: date, credited: map[string][]playedPayment{}}
		}
		return days[key]
	}
	for _, payment := range o.verdicts() {
		if payment.verdict.reject != "" {
			continue
		}
		credit := on(payment.block.Due)
		credit.credited[payment.block.ID] = append(credit.credited[payment.block.ID], payment)
		if payment.verdict.giveBack != "" {
			back := on(businessDaysAfter(payment.block.Due, payment.verdict.after))
			back.returned = append(back.returned, payment)
		}
	}
	var ordered []*bookingDay
	for _, key := range slices.Sorted(maps.Keys(days)) {
		ordered = append(ordered, days[key])
	}
	return ordered
}

func sum(payments []playedPayment) (cents int64) {
	for _, payment := range payments {
		cents += payment.debit.Cents
	}
	return cents
}

func euro(cents int64) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }
