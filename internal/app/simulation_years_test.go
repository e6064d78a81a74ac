package app_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"sepad/internal/billing"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
)

// How much is billed: little for every day, much when it is asked for.
const (
	simulationYearsVariable         = "SEPAD_SIM_YEARS"
	simulationSubscriptionsVariable = "SEPAD_SIM_SUBSCRIPTIONS"
	defaultSimulationYears          = 2
	defaultSubscriptions            = 40
)

// TestSimulationOfYears sells subscriptions of all kinds and lets years pass over
// them, in jumps of hours to months: banks refuse, answers are lost, come late and
// twice, servers die or are all away, two of them bill at once, money is given
// and taken back for every class of reason, gateways are away for days, records
// are broken, accounts are paused and resumed, and subscriptions are cancelled. Now and then, and at the end,
// every period must be billed once, refused for a recorded reason or left out by
// rule, and everything must add up.
func TestSimulationOfYears(t *testing.T) {
	t.Parallel()
	playSeeds(t, simulateYears)
}

// years is a simulation of billing.
type years struct {
	*simulation
	from, end time.Time
	// purchases are still to be made, in their order.
	purchases []purchase
	sold      int
	// customers counts those who bought or tried to; bought are those who did.
	customers int
	bought    map[int]bool
	jumps     int
	// outages and poisoned count what went wrong; spoilt is the subscription whose
	// account is broken now, "" for none, and sealed is what it was.
	outages, poisoned int
	spoilt            string
	sealed            string
	// rebills and subscriptions are those of the last audit.
	rebills       []*storetest.BookedTransaction
	subscriptions []*storetest.BookedSubscription
}

// begin is half a year before a leap day, so that some subscriptions begin on it.
var begin = time.Date(2027, time.August, 28, 9, 0, 0, 0, time.UTC)

// auditEvery is after how many jumps of the clock the books are read: all of
// them, which takes its time when there are many.
const auditEvery = 12

func simulateYears(t *testing.T, env *storetest.Env, seed uint64) {
	t.Helper()
	y := newYears(t, env, seed)
	for y.w.serviceNow().Before(y.end) {
		y.letTimePass()
		y.sell()
		y.workDay()
		if y.jumps++; y.jumps%auditEvery == 0 {
			y.audit()
		}
	}
	y.comeToRest()
	y.tell()
}

func newYears(t *testing.T, env *storetest.Env, seed uint64) *years {
	t.Helper()
	y := &years{simulation: newSimulation(t, env, seed), from: begin, bought: map[int]bool{}}
	y.w.ahead = begin.Sub(y.w.now)
	length := numberFrom(t, simulationYearsVariable, defaultSimulationYears)
	count := numberFrom(t, simulationSubscriptionsVariable, defaultSubscriptions)
	y.again += fmt.Sprintf(" YEARS=%d SUBSCRIPTIONS=%d", length, count)
	y.end = begin.AddDate(length, 0, 0)
	y.purchases = y.plan(count)
	y.gateway.faulty, y.gateway.fate = 8, y.fate
	y.rules.KeepSubscriptions = y.w.chance(30)
	if y.w.chance(40) {
		y.rules.Dunning = pick(y.w, []payment.Dunning{{3, 3, 3, 3, 3}, {10, 40}, {1}, {}})
	}
	for _, p := range y.processes {
		y.rule(p.app)
	}
	return y
}

func numberFrom(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	number, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return number
}

const day = 24 * time.Hour

// letTimePass moves the clock, but not past a purchase. Half of the time it is
// the world's clock, else the sandbox's alone.
func (y *years) letTimePass() {
	jump := pick(y.w, []time.Duration{
		6 * time.Hour, 6 * time.Hour, day, day, day, day, day, 3 * day, 3 * day, 3 * day, 8 * day, 8 * day, 32 * day,
	})
	if y.w.chance(2) {
		jump = 100 * day
	}
	if len(y.purchases) > 0 {
		jump = max(0, min(jump, y.purchases[0].at.Sub(y.w.serviceNow())))
	}
	y.w.note("%s pass", jump)
	if y.w.chance(50) {
		y.w.now = y.w.now.Add(jump)
	} else {
		y.w.ahead += jump
	}
}

// workDay is what the servers do between two jumps, and what happens meanwhile.
func (y *years) workDay() {
	if y.w.chance(10) {
		y.w.note("everything is down")
		return
	}
	// A story with a rush in it is not quite the same again; every other one is, on SQLite.
	if y.w.seed%2 == 1 && y.w.chance(20) {
		y.rush()
	}
	for _, p := range y.processes {
		if y.w.chance(80) {
			y.bill(p)
			y.runDue(p)
		}
	}
	for range 1 + y.sold/100 {
		y.meddle()
	}
	y.untilAllRest()
	y.w.now = y.w.now.Add(pick(y.w, []time.Duration{10 * time.Second, 2 * time.Minute, 2 * time.Hour}))
	y.lookUp(pick(y.w, y.processes))
	y.untilAllRest()
}

// untilAllRest lets everything under way go on to its end, while time passes and
// servers die.
func (y *years) untilAllRest() {
	y.t.Helper()
	for len(y.w.actors) > 0 {
		switch n := y.w.random.IntN(1000); {
		case n < 30:
			y.w.now = y.w.now.Add(pick(y.w, []time.Duration{10 * time.Millisecond, time.Second, 6 * time.Second}))
		case n < 31:
			y.crash(y.w.random.IntN(len(y.processes)))
		default:
			y.w.move()
		}
	}
}

// audit also remembers what there is, in an order that follows from the seed:
// later ids are greater.
func (y *years) audit() {
	y.t.Helper()
	y.simulation.audit()
	y.rebills, y.subscriptions = inOrder(y.earlier.Rebills), inOrder(y.earlier.Subscriptions)
}

func inOrder[T any](of map[string]T) (all []T) {
	for _, id := range slices.Sorted(maps.Keys(of)) {
		all = append(all, of[id])
	}
	return all
}

func (y *years) bill(p *process) {
	y.work(p, "billing", func(ctx context.Context) error {
		_, err := p.app.Billing.RunDue(ctx, y.w.serviceNow())
		return err
	})
}

// rush has every server bill twice at once, in as many lanes as they usually do.
// Nobody is made to stop, so that the machine decides who overtakes whom. One of
// them may lose its database meanwhile.
func (y *years) rush() {
	y.t.Helper()
	y.w.note("a rush")
	now := y.w.serviceNow()
	failed := make([]error, 2*len(y.processes))
	victim := -1
	if y.w.chance(25) {
		victim = y.w.random.IntN(len(y.processes))
	}
	var crowd sync.WaitGroup
	for i := range failed {
		p := y.processes[i/2]
		crowd.Go(func() {
			_, failed[i] = (&billing.Billing{Checkout: p.app.Checkout}).RunDue(y.t.Context(), now)
		})
	}
	if victim >= 0 {
		y.stop(victim)
	}
	crowd.Wait()
	for i, err := range failed {
		if err != nil && i/2 != victim {
			y.fail("billing in a rush failed: %v", err)
		}
	}
	if victim >= 0 {
		y.crashes++
		y.processes[victim] = y.start()
	}
}

// patience is in how many rounds all that was missed is made up for. A
// subscription that could not be read may be behind by all weeks of the story.
// Where an account answers no rebill, each of them has to be asked about before
// the next is made, and by the machine's whim that is another round.
func (y *years) patience() int {
	const week = 7 * day
	return 2*int(y.w.serviceNow().Sub(y.from)/week) + 20
}

// nothingLeft tells that nothing is due and nothing is unknown.
func (y *years) nothingLeft() bool {
	y.t.Helper()
	next, found, err := y.processes[0].app.Checkout.NextDue(y.t.Context(), time.Time{})
	unknown, unknownErr := y.env.Store.UnknownOutcomes(y.t.Context())
	if err := errors.Join(err, unknownErr); err != nil {
		y.fail("looking for what is left: %v", err)
	}
	return unknown == 0 && (!found || next.After(y.w.serviceNow()))
}

// comeToRest lets the network recover, all outcomes be learned and all that is
// due be done: then nothing is behind.
func (y *years) comeToRest() {
	y.t.Helper()
	y.gateway.faulty, y.gateway.fate, y.gateway.backAt = 0, nil, time.Time{}
	y.mend()
	// From here on it stays the same day, so that nothing new falls due.
	now := y.w.serviceNow()
	y.w.ahead += payment.DateOf(now).AddDays(1).Start().Sub(now)
	y.w.now = y.w.now.Add(2 * time.Hour) // questions are asked hourly at least
	for range y.patience() {
		for i := range y.processes {
			y.crash(i) // which also forgets gateways that did not answer, in the world's time
		}
		y.resume(y.processes[0])
		y.w.settle()
		for _, p := range y.processes {
			y.lookUp(p)
			y.runDue(p)
			y.bill(p)
		}
		y.w.settle()
		if y.nothingLeft() {
			break
		}
		y.w.now = y.w.now.Add(2 * time.Minute)
	}
	y.audit()
	for _, finding := range y.earlier.Behind(y.w.serviceNow()) {
		y.fail("%s", finding)
	}
	if open := append(y.earlier.OpenRebills(), y.earlier.OpenAttempts()...); len(open) > 0 {
		y.fail("%d outcomes stay unknown: %v", len(open), open)
	}
	if len(y.earlier.Rebills) < y.sold {
		y.fail("%d rebills of %d subscriptions: that shows nothing", len(y.earlier.Rebills), y.sold)
	}
}

// tell says what the story was made of.
func (y *years) tell() {
	statuses := map[payment.SubscriptionStatus]int{}
	for _, s := range y.earlier.Subscriptions {
		statuses[s.Status]++
	}
	outcomes := map[payment.TransactionStatus]int{}
	for _, x := range y.earlier.Rebills {
		outcomes[x.Status]++
	}
	y.t.Logf("seed %d: %d crashes, %d jumps to %s, subscriptions %v (%d by hand), rebills %v, %d refunds, %d chargebacks, %d outages, %d poisoned",
		y.w.seed, y.crashes, y.jumps, y.w.serviceNow().Format(time.DateOnly), statuses, len(y.rules.CancelledByHand),
		outcomes, len(y.earlier.Refunds), len(y.earlier.Chargebacks), y.outages, y.poisoned)
}

// tolerate passes over refusals: what somebody tries may be impossible by now.
func tolerate(err error) error {
	if refused := (*payment.Error)(nil); errors.As(err, &refused) {
		return nil
	}
	return err
}
