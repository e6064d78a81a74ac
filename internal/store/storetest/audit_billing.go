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
	r := b.replay(s, f)
	b.auditEnd(s, r, f)
	if s.Status != payment.SubscriptionCancelled {
		auditNext(s, r, f)
	}
	b.auditCounters(s, f)
	for _, x := range s.Rebills {
		b.auditEvents(x, f)
	}
}

// replayed is where billing stands after what has happened.
type replayed struct {
	period, tries int
	status        payment.SubscriptionStatus
	next          payment.Date
	open          string
	// refusedForGood tells that the last try leaves none.
	refusedForGood bool
	used           time.Time // when the mandate was last presented
}

// replay goes through the rebills in their order. Each period has its turn, is
// tried until it is collected or nothing is left to try, and only periods that
// began while another was tried again are left out.
func (b *Books) replay(s *BookedSubscription, f *Findings) replayed {
	r := replayed{period: 1, status: payment.SubscriptionActive, used: s.StartedAt}
	if !s.TrialEnd.IsZero() {
		r.period = 0
	}
	r.next = s.Frequency.PeriodStart(s.Anchor, r.period)
	if s.First.Status == payment.TransactionPending {
		r.open = s.First.ID
	}
	moved := s.First.AmountMinor > 0
	for _, x := range s.Rebills {
		b.auditTurn(s, x, r, f)
		if want := sequence(moved); x.Sequence != want {
			f.add("rebill %s of subscription %s is %s, want %s", x.ID, s.ID, x.Sequence, want)
		}
		moved = moved || x.Status != payment.TransactionDeclined
		if r.open = ""; !x.ProcessedAt.IsZero() {
			r.used = x.CreatedAt // what was never sent uses no mandate
		}
		b.turn(s, x, &r)
	}
	if want := sequence(moved); s.Sequence != want && (r.open == "" || b.Rebills[r.open] == nil || b.Rebills[r.open].Phase == payment.PhaseNone) {
		f.add("the next collection of subscription %s is %s, want %s", s.ID, s.Sequence, want)
	}
	return r
}

// sequence is what a collection is after money was moved under the mandate, or
// before that.
func sequence(moved bool) payment.SequenceType {
	if moved {
		return payment.SequenceRecurring
	}
	return payment.SequenceFirst
}

// auditTurn: a rebill is made when it is its period's turn, not earlier than its
// day, for the regular price, and not once the subscription has ended.
func (b *Books) auditTurn(s *BookedSubscription, x *BookedTransaction, r replayed, f *Findings) {
	switch {
	case r.open != "":
		f.add("rebill %s of subscription %s was made while %s was open", x.ID, s.ID, r.open)
	case r.refusedForGood:
		f.add("rebill %s of subscription %s was made although the one before was refused for good", x.ID, s.ID)
	case x.Period != r.period || x.Try != r.tries+1:
		f.add("rebill %s of subscription %s is try %d of period %d, want try %d of period %d", x.ID, s.ID, x.Try, x.Period, r.tries+1, r.period)
	case r.next.IsZero() || x.CreatedAt.Before(r.next.Start()):
		f.add("rebill %s of subscription %s was made at %s, and is due on %s", x.ID, s.ID, x.CreatedAt, r.next)
	case !s.CancelledAt.IsZero() && x.CreatedAt.After(s.CancelledAt):
		f.add("rebill %s of subscription %s was made after its end", x.ID, s.ID)
	}
	if x.AmountMinor != s.AmountMinor || x.Order != s.Order {
		f.add("rebill %s of subscription %s has another amount or order", x.ID, s.ID)
	}
}

// turn moves on by what became of a rebill.
func (b *Books) turn(s *BookedSubscription, x *BookedTransaction, r *replayed) {
	r.tries = x.Try
	switch x.Status {
	case payment.TransactionPending:
		r.open = x.ID
		if x.Phase == payment.PhaseNone { // taken in, and not the try to be waited for any more
			r.next = s.Frequency.PeriodStart(s.Anchor, s.after(x, x.ProcessedAt))
		}
	case payment.TransactionDeclined:
		if x.neverArrived() { // the period is due as before
			r.tries--
			if at := b.settledAt(x); r.next.Start().After(at) {
				r.next = payment.DateOf(at)
			}
			return
		}
		r.refusedForGood = b.hard(x) || r.tries > len(b.Rules.Dunning)
		if !r.refusedForGood {
			r.status = payment.SubscriptionPastDue
			r.next = payment.DateOf(b.settledAt(x)).AddDays(b.Rules.Dunning[r.tries-1])
		}
	default:
		r.period, r.tries, r.status = s.after(x, b.settledAt(x)), 0, payment.SubscriptionActive
		r.next = s.Frequency.PeriodStart(s.Anchor, r.period)
	}
}

// neverArrived tells a payment that its gateway never got, which is no refusal.
func (x *BookedTransaction) neverArrived() bool {
	return x.Status == payment.TransactionDeclined && x.Decline == payment.GatewayUnavailable
}

// after is the period whose turn it is once a rebill was collected at an instant.
func (s *BookedSubscription) after(x *BookedTransaction, at time.Time) int {
	next := x.Period + 1
	for x.Try > 1 && !s.Frequency.PeriodStart(s.Anchor, next).Start().After(at) {
		next++
	}
	return next
}

// settledAt is when we learned what became of a transaction: a change of mind is
// told, and so is what was collected at once.
func (b *Books) settledAt(x *BookedTransaction) time.Time {
	for _, end := range []payment.TransactionStatus{payment.TransactionApproved, payment.TransactionDeclined} {
		if at, told := b.ToldAt[changed(x, payment.TransactionPending, end)]; told {
			return at
		}
	}
	if x.ProcessedAt.IsZero() {
		return x.UpdatedAt // it was never sent, so that nothing has changed it since
	}
	return x.ProcessedAt
}

func changed(x *BookedTransaction, from, to payment.TransactionStatus) string {
	return fmt.Sprintf("%s:%s:%s>%s", payment.EventTransactionStatusChanged, x.ID, from, to)
}

// hard tells a refusal after which nothing is tried again. That a gateway takes
// no further payment of a payer stands in its own memory only.
func (b *Books) hard(x *BookedTransaction) bool {
	return x.Decline.Hard() || b.final[x.Tenant+x.MerchantTransactionID]
}

// auditEnd: a subscription ends for a reason, and where there is one it ends.
func (b *Books) auditEnd(s *BookedSubscription, r replayed, f *Findings) {
	chargedBack := s.rebillChargedBack() || s.First.Status == payment.TransactionChargedBack
	must := r.refusedForGood || s.First.Status == payment.TransactionDeclined || chargedBack && !b.Rules.KeepSubscriptions ||
		b.Rules.CancelledByHand[s.ID]
	isCancelled := s.Status == payment.SubscriptionCancelled
	lapsed := !s.CancelledAt.Before(lapses(r.used))
	switch {
	case must && !isCancelled:
		f.add("subscription %s is %s and should have ended", s.ID, s.Status)
	case isCancelled && !must && !lapsed:
		f.add("subscription %s has ended for no reason", s.ID)
	case isCancelled != !s.CancelledAt.IsZero() || isCancelled && !s.Next.IsZero():
		f.add("subscription %s is %s, has ended at %s and is billed next on %s", s.ID, s.Status, s.CancelledAt, s.Next)
	}
	open := r.open
	if open != s.Open {
		f.add("subscription %s waits for %q, and %q is open", s.ID, s.Open, open)
	}
	want := s.Next.Start()
	if lapse := lapses(s.MandateUsedAt); s.Next.IsZero() || lapse.Before(want) {
		want = lapse
	}
	if isCancelled || s.Open != "" {
		want = time.Time{}
	}
	if !s.DueAt.Equal(want) {
		f.add("subscription %s is due at %s, want %s", s.ID, s.DueAt, want)
	}
}

func (s *BookedSubscription) rebillChargedBack() bool {
	return slices.ContainsFunc(s.Rebills, func(x *BookedTransaction) bool { return x.Status == payment.TransactionChargedBack })
}

// lapses is when a mandate that is not used again may not be used any more: 36
// months later, counted by the day.
func lapses(used time.Time) time.Time {
	return payment.DateOf(used).AddMonths(36).AddDays(1).Start()
}

// auditNext: what is to come follows from what has been.
func auditNext(s *BookedSubscription, r replayed, f *Findings) {
	if s.Status != r.status || s.Period != r.period || s.Tries != r.tries || s.Next != r.next {
		f.add("subscription %s is %s, try %d of period %d, next on %s; want %s, try %d of period %d, next on %s",
			s.ID, s.Status, s.Tries, s.Period, s.Next, r.status, r.tries, r.period, r.next)
	}
	if !s.MandateUsedAt.Equal(r.used) {
		f.add("the mandate of subscription %s was used at %s, want %s", s.ID, s.MandateUsedAt, r.used)
	}
}

// auditCounters: counters and revenue are what the transactions add up to.
func (b *Books) auditCounters(s *BookedSubscription, f *Findings) {
	var successful, failed int
	var billed time.Time
	revenue := b.earned(s.First)
	if s.First.collected() && s.First.AmountMinor > 0 {
		billed = b.settledAt(s.First)
	}
	for _, x := range s.Rebills {
		revenue += b.earned(x)
		if x.Status == payment.TransactionDeclined && !x.neverArrived() {
			failed++
		}
		if x.collected() {
			successful++
			billed = latest(billed, b.settledAt(x))
		}
	}
	if s.Successful != successful || s.Failed != failed {
		f.add("subscription %s counts %d rebills and %d refused, want %d and %d", s.ID, s.Successful, s.Failed, successful, failed)
	}
	if s.RevenueMinor != revenue {
		f.add("subscription %s has a revenue of %d, want %d", s.ID, s.RevenueMinor, revenue)
	}
	if !s.LastBilledAt.Equal(billed) {
		f.add("subscription %s was billed last at %s, want %s", s.ID, s.LastBilledAt, billed)
	}
}

func latest(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare) }

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
