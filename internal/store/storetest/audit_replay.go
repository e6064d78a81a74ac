package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sepad/internal/payment"
	"sepad/internal/sepa"
)

// replayed is where billing stands after what has happened. It is compared as a
// whole, so that the same end that two orders lead to counts once.
type replayed struct {
	period, tries int
	owed          string // periods that came back and wait for their turn, in order
	status        payment.SubscriptionStatus
	next          payment.Date
	open          string
	sequence      payment.SequenceType
	ended         payment.CancelReason // "" while it goes on
	endCode       string
	used          time.Time // when the mandate was last presented
	billed        time.Time
	successful    int
	failed        int
}

// step is one thing that happened to a subscription. It changes where billing
// stands, or says why it cannot have happened there.
type step struct {
	at    time.Time
	apply func(r *replayed) (complaint string)
}

// sameMoment is within which time it is not recorded what came first: whoever
// writes has looked at the clock a little earlier.
const sameMoment = time.Minute

// replay bills a subscription again on paper: it goes through what happened in
// the order of time, and through every order of what happened at the same moment.
// It gives all ends that are possible, or what is wrong with the best try.
func (b *Books) replay(s *BookedSubscription) (ends []replayed, complaint string) {
	w := &walk{threads: b.threads(s), seen: map[string]bool{}}
	w.position = make([]int, len(w.threads))
	w.from(b.started(s), 0)
	return w.ends, w.complaint
}

// walk looks for orders of steps. What belongs to one transaction is a thread,
// whose order is known.
type walk struct {
	threads   [][]step
	position  []int
	seen      map[string]bool
	ends      []replayed
	complaint string
	deepest   int
}

func (w *walk) from(r replayed, depth int) {
	next := w.candidates()
	if len(next) == 0 {
		if !slices.Contains(w.ends, r) {
			w.ends = append(w.ends, r)
		}
		return
	}
	if len(next) > 1 {
		key := fmt.Sprint(w.position, r)
		if w.seen[key] {
			return
		}
		w.seen[key] = true
		if w.onlyLineUp(r, next) {
			next = next[:1]
		}
	}
	for _, thread := range next {
		after := r
		if complaint := w.threads[thread][w.position[thread]].apply(&after); complaint != "" {
			if depth >= w.deepest {
				w.deepest, w.complaint = depth, complaint
			}
			continue
		}
		w.position[thread]++
		w.from(after, depth+1)
		w.position[thread]--
	}
}

// onlyLineUp tells steps of which each does nothing but put its period into line, which has an order of its own: they lead to the
// same whichever goes first. Of twenty periods that came back at one moment there would be a million places to look at.
func (w *walk) onlyLineUp(r replayed, next []int) bool {
	for _, thread := range next {
		after := r
		complaint := w.threads[thread][w.position[thread]].apply(&after)
		lined := after.owed != r.owed
		after.owed, after.failed = r.owed, r.failed
		if complaint != "" || !lined || after != r {
			return false
		}
	}
	return true
}

// candidates are the threads that may have gone on first, the earliest before the others.
func (w *walk) candidates() (threads []int) {
	var first time.Time
	for i, steps := range w.threads {
		if at := w.position[i]; at < len(steps) && (first.IsZero() || steps[at].at.Before(first)) {
			first = steps[at].at
		}
	}
	for i, steps := range w.threads {
		if at := w.position[i]; at < len(steps) && !steps[at].at.After(first.Add(sameMoment)) {
			threads = append(threads, i)
		}
	}
	slices.SortStableFunc(threads, func(a, b int) int {
		return w.threads[a][w.position[a]].at.Compare(w.threads[b][w.position[b]].at)
	})
	return threads
}

// started is a subscription after its first payment was accepted.
func (b *Books) started(s *BookedSubscription) replayed {
	r := replayed{period: 1, status: payment.SubscriptionActive, used: s.StartedAt, sequence: payment.SequenceRecurring}
	if !s.TrialEnd.IsZero() {
		r.period = 0
	}
	r.next = s.Frequency.PeriodStart(s.Anchor, r.period)
	if s.First.AmountMinor == 0 {
		r.sequence = payment.SequenceFirst
	}
	if _, later := b.toldLater(s.First); later || s.First.Status == payment.TransactionPending {
		r.open = s.First.ID
	} else if s.First.AmountMinor > 0 {
		r.billed = s.StartedAt
	}
	return r
}

// threads are all steps of a subscription: those of each transaction, and its end.
func (b *Books) threads(s *BookedSubscription) [][]step {
	threads := [][]step{b.firstSteps(s)}
	for _, x := range s.Rebills {
		threads = append(threads, b.rebillSteps(s, x))
	}
	if s.Status == payment.SubscriptionCancelled {
		threads = append(threads, []step{{s.CancelledAt, func(r *replayed) string { return b.end(s, r) }}})
	}
	return threads
}

// end: a subscription ends because of what happened, by hand, or when its mandate
// was not used for too long.
func (b *Books) end(s *BookedSubscription, r *replayed) string {
	switch {
	case r.ended != "":
	case b.Rules.CancelledByHand[s.ID]:
		r.ended = payment.CancelledByOperator
	case !s.CancelledAt.Before(lapses(r.used)):
		r.ended = payment.CancelledByLapse
	default:
		return "has ended for no reason"
	}
	return ""
}

func (b *Books) firstSteps(s *BookedSubscription) (steps []step) {
	x := s.First
	if at, later := b.toldLater(x); later {
		steps = append(steps, step{at, func(r *replayed) string {
			r.open = ""
			switch {
			case x.Status == payment.TransactionDeclined && s.Frequency != "" && sepa.ReasonFor(x.GatewayCode).Follows == sepa.FollowsCreditor:
				// By our own mistake: it is collected again.
				r.period, r.next, r.sequence = s.firstPeriod(), payment.DateOf(at), x.Sequence
			case x.Status == payment.TransactionDeclined:
				r.ended, r.endCode = payment.CancelledByRefusal, x.reasonCode()
			case x.AmountMinor > 0:
				r.billed = at
			}
			return ""
		}})
	}
	return append(steps, b.returnStep(s, x)...)
}

func (b *Books) rebillSteps(s *BookedSubscription, x *BookedTransaction) []step {
	steps := []step{{x.CreatedAt, func(r *replayed) string { return claimed(s, x, r) }}}
	_, later := b.toldLater(x)
	if x.Phase == payment.PhaseNone && (later || x.Status == payment.TransactionPending) {
		steps = append(steps, step{x.ProcessedAt, func(r *replayed) string {
			r.used, r.sequence = x.CreatedAt, payment.SequenceRecurring
			if r.ended == "" {
				r.next = s.Frequency.PeriodStart(s.Anchor, s.after(r, x.ProcessedAt))
			}
			return ""
		}})
	}
	if x.Status != payment.TransactionPending {
		at := b.settledAt(x)
		steps = append(steps, step{at, func(r *replayed) string { return b.settled(s, x, at, r) }})
	}
	return append(steps, b.returnStep(s, x)...)
}

// claimed: a rebill is made when it is its period's turn, not earlier than its
// day, for the price of its period, and not once the subscription has ended.
func claimed(s *BookedSubscription, x *BookedTransaction, r *replayed) (complaint string) {
	price := s.AmountMinor
	if x.Period == s.firstPeriod() {
		price = s.First.AmountMinor // what came back of the first payment
	}
	tries := r.tries
	for _, earlier := range s.Rebills { // a period that waited for its turn goes on with its count
		if earlier.Period == x.Period && earlier.Status == payment.TransactionChargedBack && earlier.CreatedAt.Before(x.CreatedAt) {
			tries = max(tries, earlier.Try)
		}
	}
	switch {
	case r.open != "":
		return fmt.Sprintf("rebill %s was made while %s was open", x.ID, r.open)
	case r.ended != "":
		return fmt.Sprintf("rebill %s was made after its end (%s)", x.ID, r.ended)
	case x.Period != r.period || x.Try != tries+1:
		return fmt.Sprintf("rebill %s is try %d of period %d, want try %d of period %d", x.ID, x.Try, x.Period, tries+1, r.period)
	case r.next.IsZero() || x.DueDate == "" && x.CreatedAt.Before(r.next.Start()) || x.DueDate != "" && x.DueDate < r.next.String():
		return fmt.Sprintf("rebill %s was made at %s, and is due on %s", x.ID, x.CreatedAt, r.next)
	case x.Sequence != r.sequence:
		return fmt.Sprintf("rebill %s is %s, want %s", x.ID, x.Sequence, r.sequence)
	case x.AmountMinor != price || x.Order != s.Order:
		return fmt.Sprintf("rebill %s has another amount or order", x.ID)
	}
	r.tries, r.open = tries+1, x.ID
	return ""
}

// settled moves on by what became of a rebill.
func (b *Books) settled(s *BookedSubscription, x *BookedTransaction, at time.Time, r *replayed) (complaint string) {
	if r.open != x.ID {
		return fmt.Sprintf("rebill %s was settled while the open one was %q", x.ID, r.open)
	}
	r.open = ""
	switch {
	case x.Status != payment.TransactionDeclined:
		b.billed(s, x, at, r)
	case x.ProcessedAt.IsZero(): // never sent: the period is due as before
		r.tries--
	case x.isWithdrawn():
		r.tries--
		r.sequence = x.Sequence
	default:
		r.used, r.sequence = x.CreatedAt, x.Sequence
		r.failed++
		switch {
		case r.ended != "":
		case b.hard(x):
			r.ended, r.endCode = payment.CancelledByRefusal, x.reasonCode()
		default:
			if r.tries == 1 {
				s.keepPlace(r, r.period+1, x.CreatedAt)
			}
			b.tryAgain(r, r.period, r.tries, at)
		}
	}
	return ""
}

// billed has the next period its turn, unless an earlier one came back.
func (b *Books) billed(s *BookedSubscription, x *BookedTransaction, at time.Time, r *replayed) {
	r.successful++
	r.used, r.billed, r.sequence = x.CreatedAt, at, payment.SequenceRecurring
	if r.ended != "" {
		return
	}
	r.period, r.tries, r.status = s.after(r, at), 0, payment.SubscriptionActive
	r.next = s.Frequency.PeriodStart(s.Anchor, r.period)
	owed := strings.Fields(r.owed)
	if len(owed) == 1 && strings.HasPrefix(owed[0], "+") {
		r.owed, owed = "", nil // the place at which it was to go on was reached
	}
	if len(owed) > 0 {
		s.keepPlace(r, r.period, at)
		owed = strings.Fields(r.owed)
		period, _ := strconv.Atoi(owed[0])
		r.owed = strings.Join(owed[1:], " ")
		b.tryAgain(r, period, 1, at)
	}
}

// tryAgain says when a period is tried next, or ends the subscription.
func (b *Books) tryAgain(r *replayed, period, tries int, at time.Time) {
	if tries > len(b.Rules.Dunning) {
		r.ended = payment.CancelledByDunning
		return
	}
	r.status, r.period, r.tries = payment.SubscriptionPastDue, period, tries
	r.next = payment.DateOf(at).AddDays(b.Rules.Dunning[tries-1])
}

// returnStep acts on money that came back, by the bank's code.
func (b *Books) returnStep(s *BookedSubscription, x *BookedTransaction) []step {
	back, found := b.Chargebacks[x.ID]
	if !found {
		return nil
	}
	return []step{{back.CreatedAt, func(r *replayed) string {
		if r.ended != "" {
			return ""
		}
		switch sepa.ReasonFor(back.Code).AfterReturn() {
		case sepa.FollowsCreditor:
		case sepa.FollowsRetry:
			b.failedAfterAll(s, x, back.CreatedAt, r)
		case sepa.FollowsClaim:
			if !b.Rules.KeepSubscriptions {
				r.ended, r.endCode = payment.CancelledByChargeback, back.Code
			}
		default:
			r.ended, r.endCode = payment.CancelledByChargeback, back.Code
		}
		return ""
	}}}
}

// failedAfterAll has a period collected again, after the one that is being
// collected or tried.
func (b *Books) failedAfterAll(s *BookedSubscription, x *BookedTransaction, at time.Time, r *replayed) {
	if s.Frequency == "" {
		return
	}
	r.failed++
	period, tries := s.firstPeriod(), 1
	if x.Type == payment.Rebill {
		period, tries = x.Period, x.Try
	}
	if r.open == "" && r.tries == 0 || tries > len(b.Rules.Dunning) {
		if r.open == "" && r.tries == 0 {
			s.keepPlace(r, r.period, at)
		}
		b.tryAgain(r, period, tries, at)
		return
	}
	owed := append(strings.Fields(r.owed), strconv.Itoa(period))
	slices.SortFunc(owed, func(a, b string) int {
		if strings.HasPrefix(a, "+") != strings.HasPrefix(b, "+") { // the place stands behind them
			return strings.Compare(b, a)
		}
		first, _ := strconv.Atoi(a)
		second, _ := strconv.Atoi(b)
		return first - second
	})
	r.owed = strings.Join(owed, " ")
}

// firstPeriod is the one that the first payment pays for.
func (s *BookedSubscription) firstPeriod() int {
	if s.TrialEnd.IsZero() {
		return 0
	}
	return -1
}

// after is the period whose turn it is once the one at hand was collected.
func (s *BookedSubscription) after(r *replayed, at time.Time) int {
	if _, place, kept := strings.Cut(r.owed, "+"); kept {
		if period, _ := strconv.Atoi(place); period > r.period {
			return period
		}
	}
	next := r.period + 1
	for r.tries > 1 && !s.Frequency.PeriodStart(s.Anchor, next).Start().After(at) {
		next++
	}
	return next
}

// keepPlace: a period that waited already is not left out when something else is tried again first.
func (s *BookedSubscription) keepPlace(r *replayed, period int, at time.Time) {
	if !strings.Contains(r.owed, "+") && s.Frequency != "" && !s.Frequency.PeriodStart(s.Anchor, period).Start().After(at) {
		r.owed = strings.TrimSpace(r.owed + " +" + strconv.Itoa(period))
	}
}

// settledAt is when we learned what became of a transaction: a change of mind is
// told, and so is what was collected at once.
func (b *Books) settledAt(x *BookedTransaction) time.Time {
	if at, later := b.toldLater(x); later {
		return at
	}
	if x.ProcessedAt.IsZero() {
		return x.UpdatedAt // it was never sent, so that nothing has changed it since
	}
	return x.ProcessedAt
}

// toldLater is when it was told what became of a payment that was taken in as
// pending.
func (b *Books) toldLater(x *BookedTransaction) (at time.Time, told bool) {
	for _, end := range []payment.TransactionStatus{payment.TransactionApproved, payment.TransactionDeclined} {
		if at, told = b.ToldAt[changed(x, payment.TransactionPending, end)]; told {
			return at, true
		}
	}
	return at, false
}

func changed(x *BookedTransaction, from, to payment.TransactionStatus) string {
	return fmt.Sprintf("%s:%s:%s>%s", payment.EventTransactionStatusChanged, x.ID, from, to)
}

// hard tells a refusal after which nothing is tried again. That a gateway takes
// no further payment of a payer stands in its own memory only.
func (b *Books) hard(x *BookedTransaction) bool {
	return x.Decline.Hard() || b.final[x.Tenant+x.MerchantTransactionID]
}

// reasonCode names a refusal: the bank's code, else ours.
func (x *BookedTransaction) reasonCode() string {
	return cmp.Or(x.GatewayCode, string(x.Decline))
}

// lapses is when a mandate that is not used again may not be used any more: 36
// months later, counted by the day.
func lapses(used time.Time) time.Time {
	return payment.DateOf(used).AddMonths(36).AddDays(1).Start()
}
