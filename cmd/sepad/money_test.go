package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sepad/internal/gateway/sandbox"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
)

// withShop prepares a folder with a database and a tenant with one gateway.
func withShop(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	mustSepad(t, folder, "migrate")
	file := `
tenants:
  - id: 018f0000-0000-7000-8000-00000000aa01
    name: Shop
    gateways:
      - {id: 018f0000-0000-7000-8000-00000000aa02, name: Main account, adapter: sandbox}
`
	write(t, folder, "shop.yaml", file)
	mustSepad(t, folder, "apply", "-f", "shop.yaml")
	return folder
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const processorHeader = "merchant_transaction_id;status;amount;currency;date_processed\n"

func TestImportAndReconcile(t *testing.T) {
	t.Parallel()
	folder := withShop(t)
	write(t, folder, "march.csv", processorHeader+
		"P-1;approved;12,50;EUR;31.03.2026\nP-2;pending;7,00;EUR;31.03.2026\nP-3;approved;nothing;EUR;31.03.2026\n")
	t.Run("a dry run changes nothing", func(t *testing.T) {
		want(t, mustLeaveOver(t, folder, "import", "transactions", "-g", "Main account", "--dry-run", "march.csv"),
			"2 new, 0 updated, 0 unchanged, 1 rejected", "nothing was changed")
	})
	t.Run("a file is taken in, and its rejected lines are written", func(t *testing.T) {
		ran := sepad(t, folder, "import", "transactions", "-g", "018f0000-0000-7000-8000-00000000aa02", "--rejected", "rejected.csv", "march.csv")
		want(t, ran.stdout+ran.stderr, "2 new, 0 updated, 0 unchanged, 1 rejected", "line 4: amount must be")
		rejected, err := os.ReadFile(filepath.Join(folder, "rejected.csv"))
		if err != nil {
			t.Fatal(err)
		}
		want(t, string(rejected), "line,reason,text\n4,")
	})
	t.Run("a report is a table, and settles when asked to", func(t *testing.T) {
		write(t, folder, "april.csv", processorHeader+"P-2;approved;7,00;EUR;31.03.2026\nP-9;approved;1,00;EUR;31.03.2026\n")
		args := []string{"reconcile", "-g", "Main account", "--file", "april.csv"}
		want(t, mustLeaveOver(t, folder, args...), "Transactions of Main account, 2026-03-31 to 2026-03-31", "missing here", "P-9", "P-1",
			"We have 11.50 EUR more than the file has.", "To be looked at: 3 records.")
		want(t, mustLeaveOver(t, folder, append(args, "--format", "csv")...), "differing,2,P-2,,,,,,status,pending,approved,,false")
		want(t, mustLeaveOver(t, folder, append(args, "--format", "json")...), `"difference": "-11.50"`)
		want(t, mustLeaveOver(t, folder, append(args, "--apply")...), "Settled by the file: 1 record. To be looked at: 2 records.")
		want(t, mustLeaveOver(t, folder, args...), "matched", "To be looked at: 2 records.")
	})
	t.Run("chargebacks find their payment", func(t *testing.T) {
		write(t, folder, "returns.csv", "merchant_transaction_id,amount,currency,report_date,reason_code\nP-1,12.50,EUR,2026-04-02,MD06\n")
		want(t, mustSepad(t, folder, "import", "chargebacks", "-g", "Main account", "returns.csv"), "1 new")
		want(t, mustSepad(t, folder, "import", "chargebacks", "-g", "Main account", "returns.csv"), "1 unchanged")
	})
}

func TestRefundCommandRefuses(t *testing.T) {
	t.Parallel()
	folder := withShop(t)
	for name, args := range map[string][]string{
		"there is no transaction":  {"refund", "TXN-20260331-AAAAAAAA"},
		"Transaction not found":    {"refund", "018f0000-0000-7000-8000-00000000aaff"},
		"--amount 1,00":            {"refund", "TXN-20260331-AAAAAAAA", "--amount", "1,00"},
		"no gateway has the id or": {"import", "transactions", "-g", "None", "x.csv"},
		"no such file":             {"import", "transactions", "-g", "Main account", "x.csv"},
	} {
		if ran := sepad(t, folder, args...); ran.code != 1 || !strings.Contains(ran.stderr, name) {
			t.Errorf("%v ended with %d: %s", args, ran.code, ran.stderr)
		}
	}
}

// TestRefundCommandAsksTheGateway: what it says is what the command says.
func TestRefundCommandAsksTheGateway(t *testing.T) {
	t.Parallel()
	folder := withShop(t)
	write(t, folder, "paid.csv", processorHeader+"P-1;approved;12,50;EUR;31.03.2026\n")
	mustSepad(t, folder, "import", "transactions", "-g", "Main account", "paid.csv")
	// The sandbox has never collected this payment, and refuses to give it back.
	ran := sepad(t, folder, "refund", "P-1", "--amount", "2.50")
	if ran.code != 1 || !strings.Contains(ran.stderr, "the gateway refused the refund") {
		t.Errorf("ended with %d: %s%s", ran.code, ran.stdout, ran.stderr)
	}
}

func TestRefundCommand(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := startDev(t, folder, nil, "--data", folder)
	id := s.sell("refunded-by-hand", sandbox.Approved)
	refund := func(args ...string) result {
		return sepad(t, folder, append([]string{"refund", id, "--data", folder}, args...)...)
	}
	t.Run("gives a part back beside the server", func(t *testing.T) {
		ran := refund("--amount", "1.50")
		mustSucceed(t, ran)
		want(t, ran.stdout, "1.50 EUR refunded: ", "(approved)")
	})
	t.Run("gives back all that is left, by the reference too", func(t *testing.T) {
		sale := storetest.ReadBooks(t, "sqlite:"+folder+"/sepad.db").Transactions[id]
		ran := sepad(t, folder, "refund", sale.MerchantTransactionID, "--data", folder)
		mustSucceed(t, ran)
		want(t, ran.stdout, payment.Minor(sale.AmountMinor-1_50).String()+" EUR refunded: ", "(approved)")
	})
	t.Run("gives nothing back twice", func(t *testing.T) {
		expectOneLine(t, refund(), 1, "refunded")
	})
	books := storetest.ReadBooks(t, "sqlite:"+folder+"/sepad.db")
	if sale := books.Transactions[id]; sale.Status != payment.TransactionRefunded || sale.RefundedMinor != sale.AmountMinor || len(books.Refunds) != 2 {
		t.Errorf("%d refunds left the sale as %+v", len(books.Refunds), sale)
	}
}

// mustLeaveOver calls a command that does its work, and leaves something to a person.
func mustLeaveOver(t *testing.T, folder string, args ...string) string {
	t.Helper()
	ran := sepad(t, folder, args...)
	if ran.code != exitLeftOver {
		t.Fatalf("sepad %v: exit %d\n%s", args, ran.code, ran.stderr)
	}
	return ran.stdout
}

func want(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in\n%s", part, text)
		}
	}
}
