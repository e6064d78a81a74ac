package main

import (
	"os"
	"strings"
	"testing"

	"sepad/internal/payment"
)

func TestDocumentIsFresh(t *testing.T) {
	t.Parallel()
	stored, err := os.ReadFile("../../../docs/states.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(stored) != render() {
		t.Error("docs/states.md does not show the tables of today; run: go generate ./internal/payment")
	}
}

func TestEveryRuleIsShown(t *testing.T) {
	t.Parallel()
	text := render()
	rows := len(payment.SessionRules) + len(payment.OrderRules) + len(payment.TransactionRules) + len(payment.SubscriptionRules)
	if got := strings.Count(text, "\n| `"); got != rows {
		t.Errorf("%d rules are listed, want %d", got, rows)
	}
	for _, rule := range payment.SessionRules {
		if !strings.Contains(text, string(rule.From)+" --> "+string(rule.To)+": ") {
			t.Errorf("no arrow from %s to %s", rule.From, rule.To)
		}
	}
	for _, end := range []string{"COMPLETED", "FAILED", "EXPIRED", "CHARGEDBACK", "declined", "charged_back", "CANCELLED"} {
		if !strings.Contains(text, "    "+end+" --> [*]\n") {
			t.Errorf("%s is not drawn as an end", end)
		}
	}
}
