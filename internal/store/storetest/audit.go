package storetest

import (
	"fmt"
	"slices"
	"time"

	"sepad/internal/gateway/sandbox"
	"sepad/internal/payment"
)

// Findings are sentences about what must never be.
type Findings []string

func (f *Findings) add(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

// Audit checks everything that must hold whenever nobody writes, whatever has
// crashed before. Open attempts are allowed: they wait to be asked about.
func (b *Books) Audit(now time.Time) Findings {
	f := b.AuditRecords(now)
	b.auditLedger(&f)
	slices.Sort(f)
	return f
}

// AuditRecords does as Audit where the gateway's memory is not at hand.
func (b *Books) AuditRecords(now time.Time) (f Findings) {
	for _, s := range b.Sessions {
		b.auditMoney(s, &f)
		b.auditAttempts(s, &f)
		b.auditOrder(s, &f)
		b.auditReports(s, &f)
	}
	for _, s := range b.Subscriptions {
		b.auditSubscription(s, &f)
	}
	b.auditMoneyBack(&f)
	b.auditLeads(now, &f)
	b.auditReferences(&f)
	f = append(f, b.miscounts...)
	slices.Sort(f)
	return f
}

// collected tells that a transaction of ours stands for money taken, whether or
// not it was given or taken back since.
func (x *BookedTransaction) collected() bool {
	return x.Status == payment.TransactionApproved || x.Status == payment.TransactionRefunded ||
		x.Status == payment.TransactionChargedBack
}

// collecting is collected, or taken in to be.
func (x *BookedTransaction) collecting(s *BookedSession) bool {
	return x.collected() || x.Status == payment.TransactionPending && x.ID == s.Last && s.Status == payment.SessionCompleted
}

// auditMoney: a session collects once, and only when it is completed.
func (b *Books) auditMoney(s *BookedSession, f *Findings) {
	collecting := 0
	for _, x := range s.Transactions {
		if x.collecting(s) {
			collecting++
		}
	}
	last := b.Transactions[s.Last]
	switch {
	case collecting > 1:
		f.add("session %s has %d collecting transactions", s.ID, collecting)
	case collecting == 1 && s.Status != payment.SessionCompleted:
		f.add("session %s is %s and has a collecting transaction", s.ID, s.Status)
	case collecting == 0 && s.Status == payment.SessionCompleted && !b.refusedLate(last):
		f.add("session %s is COMPLETED and has no collecting transaction", s.ID)
	}
	if s.Status == payment.SessionCompleted && last == nil {
		f.add("session %s is COMPLETED without an attempt", s.ID)
	}
}

// refusedLate tells a payment that was taken in as pending and refused later.
func (b *Books) refusedLate(x *BookedTransaction) bool {
	return x != nil && x.Status == payment.TransactionDeclined &&
		b.Events[string(payment.EventTransactionStatusChanged)+":"+x.ID+":pending>declined"] == 1
}

// auditAttempts: at most one attempt is open, the session names it, and the
// count is right.
func (b *Books) auditAttempts(s *BookedSession, f *Findings) {
	open := ""
	for _, x := range s.Transactions {
		if x.Phase == payment.PhaseNone {
			continue
		}
		if open != "" {
			f.add("session %s has two open attempts", s.ID)
		}
		open = x.ID
		fits := map[payment.Phase]payment.SessionStatus{
			payment.PhaseSubmit: payment.SessionPending,
			payment.PhaseVerify: payment.SessionAwaiting, payment.PhaseExpire: payment.SessionAwaiting,
		}
		if s.Status != fits[x.Phase] || x.Status != payment.TransactionPending {
			f.add("session %s is %s and its transaction %s while the attempt is open in phase %s", s.ID, s.Status, x.Status, x.Phase)
		}
	}
	if open != s.Open {
		f.add("session %s names %q as its open attempt, and %q is open", s.ID, s.Open, open)
	}
	if s.Attempts > s.MaxAttempts || s.Attempts > len(s.Transactions) || s.Attempts < 0 {
		f.add("session %s counts %d attempts of %d, and has %d transactions", s.ID, s.Attempts, s.MaxAttempts, len(s.Transactions))
	}
	if b.Transactions[s.Last] == nil && (s.Last != "" || len(s.Transactions) > 0) {
		f.add("session %s has %d attempts and names %q as its last", s.ID, len(s.Transactions), s.Last)
	}
}

// auditOrder: one order as soon as there is an attempt, in the state that the
// last attempt has brought it to.
func (b *Books) auditOrder(s *BookedSession, f *Findings) {
	if len(s.Transactions) == 0 {
		if len(s.Orders) != 0 {
			f.add("session %s has an order and no attempt", s.ID)
		}
		return
	}
	if len(s.Orders) != 1 {
		f.add("session %s has %d orders", s.ID, len(s.Orders))
		return
	}
	order, last := s.Orders[0], b.Transactions[s.Last]
	for _, x := range s.Transactions {
		if x.Order != order.ID {
			f.add("transaction %s belongs to another order", x.ID)
		}
	}
	want := orderStatus(last)
	if slices.ContainsFunc(s.Subscriptions, (*BookedSubscription).rebillChargedBack) {
		want = payment.OrderChargedBack
	}
	if last != nil && order.Status != want {
		f.add("the order of session %s (%s, transaction %s) is %s, want %s", s.ID, s.Status, last.Status, order.Status, want)
	}
}

func orderStatus(last *BookedTransaction) payment.OrderStatus {
	switch {
	case last == nil:
		return ""
	case last.Phase == payment.PhaseSubmit:
		return payment.OrderSubmitting
	case last.Status == payment.TransactionApproved:
		return payment.OrderCompleted
	case last.Status == payment.TransactionRefunded:
		return payment.OrderRefunded
	case last.Status == payment.TransactionChargedBack:
		return payment.OrderChargedBack
	case last.Status == payment.TransactionPending:
		return payment.OrderPending
	default:
		return payment.OrderFailed
	}
}

// auditReports: what is completed is told once and starts its subscription, and
// of everything else nothing is told.
func (b *Books) auditReports(s *BookedSession, f *Findings) {
	completed := 0
	if s.Status == payment.SessionCompleted {
		completed = 1
	}
	if told := b.Events[string(payment.EventSessionCompleted)+":"+s.ID]; told != completed {
		f.add("session %s is %s and its completion was told %d times", s.ID, s.Status, told)
	}
	for _, x := range s.Transactions {
		want := 0
		if completed == 1 && x.ID == s.Last {
			want = 1
		}
		if told := b.Events[string(payment.EventTransactionCreated)+":"+x.ID]; told != want {
			f.add("transaction %s of session %s (%s) was told %d times, want %d", x.ID, s.ID, x.Status, told, want)
		}
	}
	want := 0
	if s.BillingType != payment.OneOff {
		want = completed
	}
	if len(s.Subscriptions) != want {
		f.add("session %s (%s, %s) has %d subscriptions", s.ID, s.Status, s.BillingType, len(s.Subscriptions))
		return
	}
	if last := b.Transactions[s.Last]; want == 1 && (last.Subscription != s.Subscriptions[0].ID || s.Subscriptions[0].Order != last.Order) {
		f.add("session %s, its transaction and its subscription do not belong together", s.ID)
	}
}

// auditLeads: a lead has one session at most that can be paid, and one that has
// ended does not stand in the way of another.
func (b *Books) auditLeads(now time.Time, f *Findings) {
	active := map[string]string{}
	for _, s := range b.Sessions {
		if s.Status != payment.SessionPending && s.Status != payment.SessionAwaiting {
			if s.HoldsLead {
				f.add("session %s is %s and holds its lead", s.ID, s.Status)
			}
			continue
		}
		if !s.ExpiresAt.After(now) {
			continue
		}
		if !s.HoldsLead {
			f.add("session %s is %s and does not hold its lead", s.ID, s.Status)
		}
		if other, taken := active[s.Tenant+s.Lead]; taken {
			f.add("lead %s has two active sessions, %s and %s", s.Lead, other, s.ID)
		}
		active[s.Tenant+s.Lead] = s.ID
	}
}

// auditReferences: a merchant's reference is used once, and so is each of ours.
func (b *Books) auditReferences(f *Findings) {
	used := map[string]bool{}
	for x := range b.all() {
		for _, reference := range []string{"ours " + x.MerchantTransactionID, "theirs " + x.Reference} {
			key := x.Tenant + reference
			if reference != "theirs " && used[key] {
				f.add("reference %s is used twice", reference)
			}
			used[key] = true
		}
	}
	for _, x := range b.Transactions {
		if b.Sessions[x.Session] == nil {
			f.add("transaction %s belongs to no session", x.ID)
		}
	}
	for _, x := range b.Rebills {
		if b.Subscriptions[x.Subscription] == nil {
			f.add("rebill %s belongs to no subscription", x.ID)
		}
	}
}

// auditLedger holds the gateway's memory against ours.
func (b *Books) auditLedger(f *Findings) {
	ours := map[string]*BookedTransaction{}
	for x := range b.all() {
		ours[x.Tenant+x.Gateway+x.MerchantTransactionID] = x
	}
	collecting := map[string]int{}
	for _, l := range b.Ledger {
		key := l.Tenant + l.Gateway + l.MerchantTransactionID
		x := ours[key]
		delete(ours, key)
		if x == nil {
			f.add("the gateway has %s, of which we know nothing", l.MerchantTransactionID)
			continue
		}
		if l.MayCollect() && x.Type != payment.Refund && x.Status != payment.TransactionChargedBack {
			collecting[l.Tenant+" mandate "+l.Mandate+x.occasion()]++
		}
		if x.AmountMinor != l.AmountMinor || x.Currency != l.Currency || x.Type != l.Type {
			f.add("transaction %s: the gateway has another amount, currency or type", x.ID)
		}
		if !l.agrees(x, b.Sessions[x.Session]) {
			f.add("transaction %s is %s in phase %q, and at the gateway it is %s (%s)", x.ID, x.Status, x.Phase, l.State, l.Outcome)
		}
	}
	for mandate, n := range collecting {
		if n > 1 {
			f.add("the gateway collects %d payments under %s", n, mandate)
		}
	}
	for _, x := range ours {
		if x.Phase != payment.PhaseSubmit && (x.Status != payment.TransactionDeclined || x.Decline != payment.GatewayUnavailable) {
			f.add("transaction %s is %s (%s), and the gateway never got it", x.ID, x.Status, x.Decline)
		}
	}
}

// agrees tells whether our record follows from the gateway's. While an attempt
// is open ours may lag behind, but it never says more than the gateway does.
func (l LedgerLine) agrees(x *BookedTransaction, s *BookedSession) bool {
	if x.Phase != payment.PhaseNone {
		return true
	}
	// The payer may have decided at the bank without anybody having asked.
	awaits := s != nil && x.Status == payment.TransactionPending && s.Status == payment.SessionAwaiting && s.Last == x.ID
	// The gateway has settled, and the process that asked it did not live to
	// write that down.
	unsettled := x.Status == payment.TransactionPending && !x.SettleDueAt.IsZero()
	switch l.State {
	case sandbox.StateApproved:
		return x.collected() || awaits || unsettled
	case sandbox.StatePending:
		return unsettled
	case sandbox.StateAwaiting:
		return awaits
	default:
		return x.Status == payment.TransactionDeclined || awaits || unsettled
	}
}

// Later compares with what was read earlier: nothing is forgotten, and what has
// changed its state did so along the tables.
func (b *Books) Later(earlier *Books) (f Findings) {
	for id, was := range earlier.Sessions {
		is := b.Sessions[id]
		if is == nil {
			f.add("session %s is gone", id)
		} else if !reachable(payment.SessionRules, was.Status, is.Status) {
			f.add("session %s went from %s to %s", id, was.Status, is.Status)
		}
	}
	present := map[string]*BookedTransaction{}
	for x := range b.all() {
		present[x.ID] = x
	}
	for was := range earlier.all() {
		is := present[was.ID]
		if is == nil {
			f.add("transaction %s is gone", was.ID)
		} else if !reachable(payment.TransactionRules, was.Status, is.Status) {
			f.add("transaction %s went from %s to %s", was.ID, was.Status, is.Status)
		}
	}
	b.laterSubscriptions(earlier, &f)
	for key, n := range earlier.Events {
		if b.Events[key] != n {
			f.add("event %s was there %d times and is now %d times", key, n, b.Events[key])
		}
	}
	return f
}

// reachable tells whether a table leads from one state to another, in any
// number of steps.
func reachable[S ~string](rules []payment.Rule[S], from, to S) bool {
	seen := map[S]bool{from: true}
	for next := []S{from}; len(next) > 0; next = next[1:] {
		if next[0] == to {
			return true
		}
		for _, rule := range rules {
			if rule.From == next[0] && !seen[rule.To] {
				seen[rule.To] = true
				next = append(next, rule.To)
			}
		}
	}
	return false
}
