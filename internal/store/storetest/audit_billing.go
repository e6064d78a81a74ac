package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"sepad/internal/payment"
)

// auditSubscription bills a subscription again on paper, from the transactions
// alone, and holds what comes out against what is recorded.
func (b *Books) auditSubscription(s *BookedSubscription, f *Findings) {
	if s.First == nil {
		f.add("subscription %s was started by no payment", s.ID)
		return
	}
	ends, complaint := b.replay(s)
	if len(ends) == 0 {
		f.add("subscription %s: %s", s.ID, complaint)
	} else if !slices.ContainsFunc(ends, func(r replayed) bool { return s.differsFrom(r) == "" }) {
		f.add("subscription %s: %s", s.ID, s.differsFrom(ends[0]))
	}
	s.auditDue(f)
	revenue := b.earned(s.First)
	for _, x := range s.Rebills {
		revenue += b.earned(x)
		b.auditEvents(x, f)
	}
	if s.RevenueMinor != revenue {
		f.add("subscription %s has a revenue of %d, want %d", s.ID, s.RevenueMinor, revenue)
	}
}

// differsFrom says in what the record of a subscription is not what it was
// replayed to, "" for in nothing.
func (s *BookedSubscription) differsFrom(r replayed) string {
	switch isCancelled := s.Status == payment.SubscriptionCancelled; {
	case isCancelled != (r.ended != ""):
		return fmt.Sprintf("it is %s, and its end is %q", s.Status, r.ended)
	case isCancelled != !s.CancelledAt.IsZero() || isCancelled && !s.Next.IsZero():
		return fmt.Sprintf("it is %s, has ended at %s and is billed next on %s", s.Status, s.CancelledAt, s.Next)
	case s.CancelReason != r.ended || s.CancelCode != r.endCode:
		return fmt.Sprintf("it has ended by %q (%s), want %q (%s)", s.CancelReason, s.CancelCode, r.ended, r.endCode)
	case s.Open != r.open:
		return fmt.Sprintf("it waits for %q, and %q is open", s.Open, r.open)
	case s.Successful != r.successful || s.Failed != r.failed:
		return fmt.Sprintf("it counts %d collected and %d failed, want %d and %d", s.Successful, s.Failed, r.successful, r.failed)
	case !s.LastBilledAt.Equal(r.billed):
		return fmt.Sprintf("it was billed last at %s, want %s", s.LastBilledAt, r.billed)
	case isCancelled:
		return ""
	case s.Status != r.status || s.Period != r.period || s.Tries != r.tries || s.Next != r.next || s.Owed != r.owed:
		return fmt.Sprintf("it is %s, try %d of period %d, next on %s, owed %q; want %s, try %d of period %d, next on %s, owed %q",
			s.Status, s.Tries, s.Period, s.Next, s.Owed, r.status, r.tries, r.period, r.next, r.owed)
	case !s.MandateUsedAt.Equal(r.used):
		return fmt.Sprintf("its mandate was used at %s, want %s", s.MandateUsedAt, r.used)
	case s.Sequence != r.sequence:
		return fmt.Sprintf("its next collection is %s, want %s", s.Sequence, r.sequence)
	default:
		return ""
	}
}

func (s *BookedSubscription) rebillChargedBack() bool {
	return slices.ContainsFunc(s.Rebills, func(x *BookedTransaction) bool { return x.Status == payment.TransactionChargedBack })
}

// auditDue: when there is something to do follows from the rest of the record.
func (s *BookedSubscription) auditDue(f *Findings) {
	want := s.Next.Start()
	if lapse := lapses(s.MandateUsedAt); s.Next.IsZero() || lapse.Before(want) {
		want = lapse
	}
	if s.Status == payment.SubscriptionCancelled || s.Open != "" {
		want = time.Time{}
	}
	if !s.DueAt.Equal(want) {
		f.add("subscription %s is due at %s, want %s", s.ID, s.DueAt, want)
	}
}

// earned is what is left of a collection.
func (b *Books) earned(x *BookedTransaction) int64 {
	if !x.collected() {
		return 0
	}
	return x.AmountMinor - x.RefundedMinor - b.Chargebacks[x.ID].AmountMinor
}

// auditEvents: a transaction that was ever more than refused is told once, and
// each change of its status once.
func (b *Books) auditEvents(x *BookedTransaction, f *Findings) {
	refusedLate := b.Events[changed(x, payment.TransactionPending, payment.TransactionDeclined)]
	want := 0
	if x.collected() || x.Status == payment.TransactionPending && x.Phase == payment.PhaseNone || refusedLate > 0 {
		want = 1
	}
	if told := b.Events[string(payment.EventTransactionCreated)+":"+x.ID]; told != want {
		f.add("transaction %s (%s) was told %d times, want %d", x.ID, x.Status, told, want)
	}
	if x.DueDate != "" && b.Events[string(payment.EventCollectionAnnounced)+":"+x.ID+":"+x.DueDate] != 1 {
		f.add("the payer of transaction %s was not told of %s", x.ID, x.DueDate)
	}
	if refusedLate > 0 && x.Status != payment.TransactionDeclined {
		f.add("transaction %s was told to be refused, and is %s", x.ID, x.Status)
	}
}

// auditMoneyBack: what is recorded as given back is the sum of the refunds, and a
// chargeback is told with its payment's change.
func (b *Books) auditMoneyBack(f *Findings) {
	given, giving := map[string]int64{}, map[string]int64{}
	for _, x := range b.Refunds {
		b.auditEvents(x, f)
		switch x.Status {
		case payment.TransactionApproved:
			given[x.RefundOf] += x.AmountMinor
		case payment.TransactionPending:
			giving[x.RefundOf] += x.AmountMinor
		}
	}
	for x := range b.all() {
		if x.RefundedMinor != given[x.ID] || x.RefundingMinor != giving[x.ID] || given[x.ID]+giving[x.ID] > x.AmountMinor {
			f.add("of transaction %s (%d) %d are recorded as given back and %d as under way, want %d and %d",
				x.ID, x.AmountMinor, x.RefundedMinor, x.RefundingMinor, given[x.ID], giving[x.ID])
		}
		back, isBack := b.Chargebacks[x.ID]
		if isBack != (x.Status == payment.TransactionChargedBack) || isBack && b.Events[string(payment.EventChargebackCreated)+":"+back.ID] != 1 {
			f.add("transaction %s is %s, charged back: %v, and that was told %d times", x.ID, x.Status, isBack,
				b.Events[string(payment.EventChargebackCreated)+":"+back.ID])
		}
	}
}

// occasion is what may be collected once: the purchase, or a subscription's period.
func (x *BookedTransaction) occasion() string {
	if x.Type != payment.Rebill {
		return ""
	}
	return fmt.Sprintf(" for period %d", x.Period)
}

// laterSubscriptions: what was cancelled stays so and is not billed again.
func (b *Books) laterSubscriptions(earlier *Books, f *Findings) {
	for id, was := range earlier.Subscriptions {
		is := b.Subscriptions[id]
		switch {
		case is == nil:
			f.add("subscription %s is gone", id)
		case !reachable(payment.SubscriptionRules, was.Status, is.Status):
			f.add("subscription %s went from %s to %s", id, was.Status, is.Status)
		case was.Status == payment.SubscriptionCancelled && len(is.Rebills) != len(was.Rebills):
			f.add("subscription %s was billed after its end", id)
		}
	}
}

// Behind are the subscriptions for which something was to be done by an instant,
// and the pending collections of which the gateway was to be asked.
func (b *Books) Behind(now time.Time) (f Findings) {
	for _, s := range b.Subscriptions {
		if !s.DueAt.IsZero() && !s.DueAt.After(now) {
			f.add("subscription %s (%s) is due since %s", s.ID, s.Status, s.DueAt)
		}
	}
	for x := range b.all() {
		if !x.SettleDueAt.IsZero() && !x.SettleDueAt.After(now) {
			f.add("transaction %s is to be settled since %s", x.ID, x.SettleDueAt)
		}
	}
	slices.SortFunc(f, cmp.Compare)
	return f
}
