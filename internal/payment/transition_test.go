package payment

import (
	"slices"
	"strings"
	"testing"
)

// The four tables once more, state by state: a change in one must be meant.
const (
	wantSession = `
PENDING: submitted>PENDING approved>COMPLETED accepted>COMPLETED verification_needed>AWAITING_VERIFICATION refused>PENDING refused_for_good>FAILED cancelled>EXPIRED timed_out>EXPIRED
AWAITING_VERIFICATION: approved>COMPLETED accepted>COMPLETED refused>PENDING refused_for_good>FAILED timed_out>EXPIRED
COMPLETED:
FAILED:
EXPIRED:`
	wantOrder = `
PENDING_PAYMENT_SUBMISSION: approved>COMPLETED accepted>PENDING verification_needed>PENDING refused>FAILED refused_for_good>FAILED
PENDING: approved>COMPLETED accepted>PENDING refused>FAILED refused_for_good>FAILED timed_out>FAILED
FAILED: submitted>PENDING_PAYMENT_SUBMISSION charged_back>CHARGEDBACK
COMPLETED: fully_refunded>REFUNDED charged_back>CHARGEDBACK
REFUNDED: charged_back>CHARGEDBACK
CHARGEDBACK:`
	wantTransaction = `
pending: approved>approved accepted>pending verification_needed>pending refused>declined refused_for_good>declined timed_out>declined
approved: fully_refunded>refunded charged_back>charged_back
refunded: charged_back>charged_back
declined:
charged_back:`
	wantSubscription = `
ACTIVE: rebill_refused>PAST_DUE rebill_collected>ACTIVE refused_for_good>CANCELLED cancelled>CANCELLED charged_back>CANCELLED mandate_lapsed>CANCELLED
PAST_DUE: rebill_refused>PAST_DUE rebill_collected>ACTIVE refused_for_good>CANCELLED cancelled>CANCELLED charged_back>CANCELLED mandate_lapsed>CANCELLED
CANCELLED:`
)

func TestTransitions(t *testing.T) {
	t.Parallel()
	t.Run("session", func(t *testing.T) { t.Parallel(); checkTable(t, SessionRules, wantSession) })
	t.Run("order", func(t *testing.T) { t.Parallel(); checkTable(t, OrderRules, wantOrder) })
	t.Run("transaction", func(t *testing.T) { t.Parallel(); checkTable(t, TransactionRules, wantTransaction) })
	t.Run("subscription", func(t *testing.T) { t.Parallel(); checkTable(t, SubscriptionRules, wantSubscription) })
	t.Run("every trigger moves something", func(t *testing.T) {
		t.Parallel()
		all := wantSession + wantOrder + wantTransaction + wantSubscription
		for _, trigger := range Triggers {
			if !strings.Contains(all, " "+strings.ReplaceAll(string(trigger), " ", "_")+">") {
				t.Errorf("%q moves nothing", trigger)
			}
		}
	})
}

// checkTable tries every trigger in every state.
func checkTable[S ~string](t *testing.T, rules []Rule[S], want string) {
	t.Helper()
	allowed, states := parseTable[S](want)
	for _, rule := range rules {
		if !slices.Contains(states, rule.From) || !slices.Contains(states, rule.To) || !slices.Contains(Triggers, rule.Trigger) {
			t.Errorf("rule %+v speaks of something unknown", rule)
		}
	}
	if len(rules) != len(allowed) {
		t.Errorf("the table has %d rules, want %d: one is given twice or missing", len(rules), len(allowed))
	}
	for _, from := range states {
		for _, trigger := range Triggers {
			to, err := follow(rules, from, trigger)
			expected, ok := allowed[string(from)+":"+string(trigger)]
			switch {
			case ok && (err != nil || to != expected):
				t.Errorf("%s, %s: got %s, %v, want %s", from, trigger, to, err, expected)
			case !ok && err == nil:
				t.Errorf("%s, %s: must be refused, leads to %s", from, trigger, to)
			case !ok && to != from:
				t.Errorf("%s, %s: refused but moved to %s", from, trigger, to)
			}
		}
	}
}

func parseTable[S ~string](text string) (allowed map[string]S, states []S) {
	allowed = map[string]S{}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		from, moves, _ := strings.Cut(strings.TrimSpace(line), ":")
		states = append(states, S(from))
		for _, move := range strings.Fields(moves) {
			trigger, to, _ := strings.Cut(move, ">")
			allowed[from+":"+strings.ReplaceAll(trigger, "_", " ")] = S(to)
		}
	}
	return allowed, states
}
