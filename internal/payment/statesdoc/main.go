// Command statesdoc writes docs/states.md from the state tables of the domain,
// so that the pictures cannot tell anything else than the code does.
//
//	go generate ./internal/payment
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"sepad/internal/payment"
)

// file is seen from internal/payment, where go generate runs.
const file = "../../docs/states.md"

func main() {
	if err := os.WriteFile(file, []byte(render()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "statesdoc:", err)
		os.Exit(1)
	}
}

const intro = `# States

Generated from ` + "`internal/payment/transition.go`" + ` by ` + "`go generate ./internal/payment`" + `; do not edit.

Four things have a state. One answer of a gateway can move all of them, and they
move together or not at all. A change that is not drawn here does not exist: it
is refused. The words on the arrows are the triggers of the code.
`

// story is what stands above a picture.
type story struct {
	title, text string
	start       string
	starts      string
}

func render() string {
	var b strings.Builder
	b.WriteString(intro)
	section(&b, story{
		"Session", `A session is one customer's way through one purchase. While a payment is at the
gateway the session stays as it is and is marked as in flight: nobody can pay or
cancel then, and its time does not run out. Once its time is over, a pending
session without a payment in flight counts as EXPIRED for every reader at that
moment; one that awaits verification waits until the gateway has been asked
whether it collected.`, string(payment.SessionPending), "created",
	}, payment.SessionRules)
	section(&b, story{
		"Order", `The order is made with the first attempt and kept by later ones.`,
		string(payment.OrderSubmitting), "first attempt",
	}, payment.OrderRules)
	section(&b, story{
		"Transaction", `Each attempt, rebill and refund is a transaction of its own. A refused one stays
refused: the next attempt is another transaction.`, string(payment.TransactionPending), "recorded",
	}, payment.TransactionRules)
	section(&b, story{
		"Subscription", `A recurring purchase starts its subscription with the first payment that is
approved or taken in. A trial is ACTIVE too.`, string(payment.SubscriptionActive), "first payment",
	}, payment.SubscriptionRules)
	return b.String()
}

// section draws one table and lists it.
func section[S ~string](b *strings.Builder, s story, rules []payment.Rule[S]) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", s.title, s.text)
	b.WriteString("```mermaid\nstateDiagram-v2\n")
	fmt.Fprintf(b, "    [*] --> %s: %s\n", s.start, s.starts)
	for _, arrow := range arrows(rules) {
		fmt.Fprintf(b, "    %s --> %s: %s\n", arrow.from, arrow.to, strings.Join(arrow.triggers, " / "))
	}
	for _, state := range finalStates(rules) {
		fmt.Fprintf(b, "    %s --> [*]\n", state)
	}
	b.WriteString("```\n\n| from | trigger | to | note |\n|---|---|---|---|\n")
	for _, rule := range rules {
		fmt.Fprintf(b, "| `%s` | %s | `%s` | %s |\n", rule.From, rule.Trigger, rule.To, rule.Note)
	}
}

// arrow is one line of a picture: all triggers that lead from here to there.
type arrow struct {
	from, to string
	triggers []string
}

func arrows[S ~string](rules []payment.Rule[S]) []arrow {
	var all []arrow
	for _, rule := range rules {
		from, to := string(rule.From), string(rule.To)
		i := slices.IndexFunc(all, func(a arrow) bool { return a.from == from && a.to == to })
		if i < 0 {
			i, all = len(all), append(all, arrow{from: from, to: to})
		}
		all[i].triggers = append(all[i].triggers, string(rule.Trigger))
	}
	return all
}

// finalStates are those that nothing leads out of.
func finalStates[S ~string](rules []payment.Rule[S]) []S {
	var ends []S
	for _, rule := range rules {
		leaves := slices.ContainsFunc(rules, func(r payment.Rule[S]) bool { return r.From == rule.To })
		if !leaves && !slices.Contains(ends, rule.To) {
			ends = append(ends, rule.To)
		}
	}
	return ends
}
