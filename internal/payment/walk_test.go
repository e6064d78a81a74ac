package payment

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// world is a purchase with one of its rebills, as far as it has come.
type world struct {
	now     time.Time
	debits  []Debit // the payment of the session, then rebills
	history []string
}

// sub is the subscription that the debits share.
func (w world) sub() *Subscription { return w.debits[len(w.debits)-1].Subscription }

// with is the world after a change of one of its debits.
func (w world) with(i int, c Change) world {
	after := world{now: w.now, debits: slices.Clone(w.debits), history: slices.Clone(w.history)}
	after.debits[i] = c.Debit
	for j := range after.debits {
		after.debits[j].Subscription = c.Subscription
		if j != i && c.Order != nil {
			after.debits[j].Order = c.Order
		}
	}
	return after
}

// key tells states apart, without ids and dates.
func (w world) key() string {
	text := ""
	for _, d := range w.debits {
		t := d.Transaction
		text += fmt.Sprint(t.Type, t.Status, t.Attempt.Phase, t.AwaitsVerification(), t.RefundedMinor, t.RefundingMinor, " ")
		if d.Session != nil {
			text += fmt.Sprint(d.Session.Status, d.Session.AttemptsRemaining(), d.Session.overdue(w.now), " ")
		}
		if d.Refund != nil {
			text += fmt.Sprint("refund ", d.Refund.Status, d.Refund.Attempt.Phase, " ")
		}
		if d.Order != nil {
			text += string(d.Order.Status) + " "
		}
	}
	if s := w.sub(); s != nil {
		text += fmt.Sprint(s.Status, s.Tries, s.OpenTransactionID != nil, s.Owed, !s.DueAt().IsZero() && !s.DueAt().After(w.now))
	}
	return text
}

// event is one thing that may happen, from one source.
type event struct {
	name string
	do   func(w world) (world, error)
}

// outcomes are what gateways and banks say, one for each thing that follows.
var walkOutcomes = []Outcome{
	{Verdict: VerdictApproved}, {Verdict: VerdictPending}, {Verdict: VerdictVerify, VerificationURL: "https://bank.example"},
	{Verdict: VerdictUnsent}, {Verdict: VerdictLost},
	{Verdict: VerdictDeclined, Decline: Decline{Code: InsufficientFunds, GatewayCode: "AM04"}},
	{Verdict: VerdictDeclined, Decline: Decline{Code: AccountClosed, GatewayCode: "AC04"}},
	{Verdict: VerdictDeclined, Decline: Decline{Code: DeclineUnknown, GatewayCode: "AC03"}},
	{Verdict: VerdictDeclined, Final: true},
}

// happenings are all events from all sources.
func happenings() (all []event) {
	for i := range 2 {
		for _, o := range walkOutcomes {
			name := fmt.Sprint(o.Verdict, o.Decline.GatewayCode, " of debit ", i)
			all = append(all, event{"answered " + name, onDebit(i, func(d Debit, now time.Time) (Change, error) { return answered(d, o, now) })})
			if o.Verdict == VerdictApproved || o.Verdict == VerdictPending || o.Verdict == VerdictDeclined {
				all = append(all, event{"reported " + name, onDebit(i, func(d Debit, now time.Time) (Change, error) { return heard(d, o, now) })})
			}
		}
		for _, source := range ChargebackSources {
			for _, code := range []string{"", "AM04", "MD01", "MD06", "AC03"} {
				report := Chargeback{Source: source, ReasonCode: code}
				all = append(all, event{fmt.Sprintf("charged back %s by %s, debit %d", code, source, i), onDebit(i, func(d Debit, now time.Time) (Change, error) {
					return d.ChargeBack(report, usual, now)
				})})
			}
		}
		all = append(all,
			event{fmt.Sprint("refund of debit ", i), onDebit(i, func(d Debit, now time.Time) (Change, error) { return d.BeginRefund(nil, now) })},
			event{fmt.Sprint("refund elsewhere of debit ", i), onDebit(i, func(d Debit, now time.Time) (Change, error) { return d.RefundElsewhere(usual, now) })},
		)
	}
	return append(all, event{"verify", question(Debit.BeginVerify)}, event{"expire", question(Debit.BeginExpire)},
		event{"two hours pass", pass(2 * time.Hour)}, event{"until it is due", untilDue}, event{"bill", bill}, event{"cancel", cancel})
}

// answered is what callers do with the answer to a question: they ask only where
// one is open or a date has come, and use only what is an answer.
func answered(d Debit, o Outcome, now time.Time) (Change, error) {
	if t := d.Asked(); t.IsDecided() || !t.InFlight() && t.SettleDueAt.IsZero() || !d.IsAnsweredBy(o) ||
		o.Verdict == VerdictUnsent && !t.InFlight() {
		return Change{}, Conflicting("nobody asks")
	}
	return d.Settle(o, usual, now)
}

// heard is what callers do with a report.
func heard(d Debit, o Outcome, now time.Time) (Change, error) {
	changes, err := d.Hear(o)
	if err != nil || !changes {
		return Change{Debit: d, Before: d}, err
	}
	return d.Settle(o, usual, now)
}

func onDebit(i int, do func(Debit, time.Time) (Change, error)) func(world) (world, error) {
	return func(w world) (world, error) {
		if i >= len(w.debits) {
			return w, Conflicting("there is none")
		}
		c, err := do(w.debits[i], w.now)
		if err != nil {
			return w, err
		}
		if c.Refund != nil && c.Refund.IsDecided() {
			c.Refund = nil
		}
		return w.with(i, c), nil
	}
}

func question(open func(Debit, time.Time) (Debit, error)) func(world) (world, error) {
	return func(w world) (world, error) {
		d, err := open(w.debits[0], w.now)
		if err != nil {
			return w, err
		}
		return w.with(0, Change{Debit: d}), nil
	}
}

func pass(by time.Duration) func(world) (world, error) {
	return func(w world) (world, error) {
		w.now = w.now.Add(by)
		return w, nil
	}
}

func untilDue(w world) (world, error) {
	if w.sub() != nil && w.sub().DueAt().After(w.now) {
		w.now = w.sub().DueAt()
	}
	return w, nil
}

func bill(w world) (world, error) {
	sub := w.sub()
	if sub == nil || sub.DueAt().IsZero() || sub.DueAt().After(w.now) {
		return w, Conflicting("nothing is due")
	}
	lapsing := *sub
	if lapsed, err := lapsing.Lapse(w.now); lapsed || err != nil {
		return w.with(0, Change{Debit: withSub(w.debits[0], &lapsing)}), err
	}
	begun, err := BeginRebill(*sub, w.debits[0].Transaction, DateOf(w.now), w.now)
	if err != nil {
		return w, err
	}
	begun.Order = w.debits[0].Order
	after := w.with(0, Change{Debit: withSub(w.debits[0], begun.Subscription)})
	after.debits = append(after.debits[:1], begun.Debit)
	return after, nil
}

func cancel(w world) (world, error) {
	if w.sub() == nil {
		return w, Conflicting("there is none")
	}
	ended, err := CancelSubscription(*w.sub(), CancelledByMerchant, w.now)
	if err != nil {
		return w, err
	}
	return w.with(0, Change{Debit: withSub(w.debits[0], &ended)}), nil
}

func withSub(d Debit, sub *Subscription) Debit {
	d.Subscription = sub
	return d
}

// check says what is wrong with a state: each must have a way on.
func (w world) check() string {
	for _, d := range w.debits {
		t, s := d.Transaction, d.Session
		switch {
		case !t.IsDecided() && !t.InFlight() && t.SettleDueAt.IsZero() && !t.AwaitsVerification():
			return "a pending transaction that nobody asks about"
		case s != nil && s.InFlight() != t.InFlight():
			return "session and transaction disagree about the question that is open"
		case s != nil && s.AwaitsVerification() && t.IsDecided():
			return "a session that awaits the verification of a payment that is decided"
		case s != nil && t.AwaitsVerification() && !s.AwaitsVerification():
			return "a payment that awaits verification in a session that does not"
		case t.RefundedMinor+t.RefundingMinor > t.AmountMinor || t.RefundingMinor < 0:
			return "more is refunded than was collected"
		}
	}
	s := w.sub()
	if s == nil {
		return ""
	}
	open := slices.ContainsFunc(w.debits, func(d Debit) bool {
		return s.OpenTransactionID != nil && d.Transaction.ID == *s.OpenTransactionID && !d.Transaction.IsDecided()
	})
	switch {
	case s.OpenTransactionID != nil && !open:
		return "a subscription that waits for what is decided"
	case s.Status != SubscriptionCancelled && s.OpenTransactionID == nil && s.DueAt().IsZero():
		return "a subscription that is never billed again"
	case s.Tries < 0:
		return "fewer than no tries"
	case (s.Status == SubscriptionCancelled) != (s.CancelReason != ""):
		return "a subscription that does not know why it ended"
	}
	return ""
}

// TestEveryStateHasAWayOn walks through every state that a purchase and one of its
// rebills can come to, and tries in each everything that can happen, from every
// source. What cannot be is refused with a sentence, never with a fault.
func TestEveryStateHasAWayOn(t *testing.T) {
	t.Parallel()
	for name, terms := range map[string]Terms{
		"one-off": {PriceMinor: 2999, Currency: "EUR", BillingType: OneOff}, "monthly": monthly, "free trial": freeTrial, "paid trial": paidTrial(100),
		"no rhythm": {PriceMinor: 2999, Currency: "EUR", BillingType: Recurring},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			walk(t, world{now: noon, debits: []Debit{submitted(t, withTerms(terms), withMaxAttempts(2))}})
		})
	}
}

// maxStates bounds the walk; dunning with owed periods has no end of its own.
const maxStates = 1200

func walk(t *testing.T, start world) {
	t.Helper()
	all, seen := happenings(), map[string]bool{start.key(): true}
	for next := []world{start}; len(next) > 0 && len(seen) < maxStates; next = next[1:] {
		for _, e := range all {
			after, err := e.do(next[0])
			path := append(slices.Clone(next[0].history), e.name)
			if err != nil {
				if KindOf(err) == 0 {
					t.Fatalf("%q is a fault: %v", path, err)
				}
				continue
			}
			if wrong := after.check(); wrong != "" {
				t.Fatalf("%q leaves %s", path, wrong)
			}
			if key := after.key(); !seen[key] {
				seen[key] = true
				after.history = path
				next = append(next, after)
			}
		}
	}
	if len(seen) < 30 {
		t.Errorf("only %d states were found", len(seen))
	}
}
