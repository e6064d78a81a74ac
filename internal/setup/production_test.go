package setup_test

import (
	"errors"
	"strings"
	"testing"

	"sepad/internal/merchant"
	"sepad/internal/store/storetest"
)

// A creditor as the shop has it, and as production wants it.
const (
	part  = "creditor: {name: Bookshop GmbH, identifier: DE98ZZZ09999999999}"
	whole = "creditor: {name: Bookshop GmbH, address: \"Gasse 1, Bern\", identifier: DE98ZZZ09999999999}"
)

func TestApplyInProductionNeedsACreditor(t *testing.T) {
	t.Parallel()
	production := func(t *testing.T) *bench {
		b := newBench(storetest.SQLite(t))
		b.applier.Environment = merchant.Production
		real := b.applier.Kinds["picky"]
		real.Real = true
		b.applier.Kinds["picky"] = real
		return b
	}
	t.Run("for a hosted page and for a gateway that moves money", func(t *testing.T) {
		t.Parallel()
		b := production(t)
		_, err := b.try(t, b.text())
		wrong, ok := errors.AsType[*merchant.FileError](err)
		if !ok || len(wrong.Mistakes) != 2 || !strings.Contains(err.Error(), "gateways[0].adapter: In production") ||
			!strings.Contains(err.Error(), "hosted_pages[0].name: In production") {
			t.Errorf("gave %v", err)
		}
		b.apply(t, b.text(part, whole))
	})
	t.Run("and keeps it as long as there is one", func(t *testing.T) {
		t.Parallel()
		b := production(t)
		b.apply(t, b.text(part, whole))
		short, _, _ := strings.Cut(b.text(), "    gateways:")
		if _, err := b.try(t, short); err == nil || !strings.Contains(err.Error(), "tenants[0].creditor: In production") {
			t.Errorf("gave %v", err)
		}
	})
}

func TestProductionTakesNoGatewayThatMovesNoMoney(t *testing.T) {
	t.Parallel()
	for _, example := range []struct {
		name    string
		allowed bool
		mode    string
		want    string
	}{
		{"in test mode neither", false, "true", "gateways[0].adapter: The adapter picky moves no money: production takes it only with SEPAD_ALLOW_TEST_GATEWAYS=true."},
		{"unless it is allowed, and then only in test mode", true, "false", "gateways[0].test_mode: The adapter picky moves no money: in production it needs test_mode: true."},
		{"it does where that is allowed and said", true, "true", ""},
	} {
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(storetest.SQLite(t))
			b.applier.Environment, b.applier.AllowTestGateways = merchant.Production, example.allowed
			_, err := b.try(t, b.text(part, whole, "adapter: picky", "adapter: picky\n        test_mode: "+example.mode))
			if example.want == "" && err != nil || example.want != "" && (err == nil || !strings.HasSuffix(err.Error(), example.want)) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestAnAccountKeepsItsAdapter: payments that were tried where no money moves were given back
// for real once their account was made the bank's.
func TestAnAccountKeepsItsAdapter(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := newBench(env)
		b.apply(t, b.text())
		for _, active := range []string{"true", "false"} {
			_, err := b.try(t, b.text("adapter: picky", "adapter: sandbox\n        active: "+active))
			if err == nil || !strings.Contains(err.Error(), "gateways[0].adapter: This account is at picky and stays there") {
				t.Errorf("active: %s: got %v", active, err)
			}
		}
	})
}

// TestABankHasNoTestMode: payers were told that no money moves, and their accounts debited.
func TestABankHasNoTestMode(t *testing.T) {
	t.Parallel()
	b := newBench(storetest.SQLite(t))
	b.applier.Environment = merchant.Production
	text := strings.ReplaceAll(b.atBanks(at("folder: /srv/"+b.prefix)), "    gateways:", "    "+whole+"\n    gateways:")
	if _, err := b.try(t, text); err == nil || !strings.Contains(err.Error(), "gateways[0].test_mode: The adapter bank has no test system") {
		t.Errorf("got %v", err)
	}
	b.apply(t, strings.ReplaceAll(text, "test_mode: true, ", ""))
}
