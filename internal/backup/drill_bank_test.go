package backup_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/backup"
	"sepad/internal/banking"
	"sepad/internal/clock"
	"sepad/internal/iso20022/iso20022test"
	"sepad/internal/merchant"
	"sepad/internal/store/storetest"
)

const houseBank = "019d0000-0000-7000-8000-0000000000b1"

// bankDrill is a shop that collects through its bank, and all files that ever left.
type bankDrill struct {
	*apptest.Server
	folder string
}

// openBankDrill opens the shop with its account.
func openBankDrill(t *testing.T, env *storetest.Env) *bankDrill {
	t.Helper()
	d := &bankDrill{apptest.Open(t, env, apptest.Options{}), filepath.Join(t.TempDir(), "bank")}
	d.Apply(t, fmt.Sprintf(`tenants:
  - id: %s
    name: Bergladen
    creditor: {name: Bergladen GmbH, address: "Hangweg 1, 83471 Berchtesgaden, DE", identifier: DE98ZZZ09999999999}
    gateways:
      - {id: %s, name: House bank, adapter: bank, test_mode: true, descriptor: BERGLADEN, settings: {account_iban: DE89370400440532013000, folder: %s}}
`, apptest.Shop, houseBank, d.folder))
	return d
}

func (d *bankDrill) account(t *testing.T) *banking.Account {
	t.Helper()
	account, err := d.App.Banking.Find(t.Context(), "House bank")
	if err != nil {
		t.Fatal(err)
	}
	return account
}

func (d *bankDrill) pay(t *testing.T, more apptest.Body) {
	t.Helper()
	body := apptest.Direct().With(apptest.Body{"gateway_id": houseBank}).With(more)
	d.Pay(t, d.Create(t, body), apptest.Approved).Want(t, http.StatusOK, apptest.Fields{"transaction.status": "pending"})
}

func (d *bankDrill) sent(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(d.folder, "out", "*.xml"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// adopt hands in a file that left after the backup.
func (d *bankDrill) adopt(t *testing.T, account *banking.Account, name string) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	adopted, err := d.App.Banking.Adopt(t.Context(), account, filepath.Base(name), file)
	if err != nil || len(adopted) != 1 || adopted[0].Count == 0 {
		t.Fatalf("%+v, %v", adopted, err)
	}
}

var endToEnd = regexp.MustCompile(`<EndToEndId>([^<]+)</EndToEndId>`)

// wantOnce counts in how many files each payment is.
func wantOnce(t *testing.T, names []string) int {
	t.Helper()
	in := map[string]string{}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		iso20022test.Validate(t, "pain.008.001.08", content)
		for _, found := range endToEnd.FindAllSubmatch(content, -1) {
			id := string(found[1])
			if in[id] != "" {
				t.Errorf("%s is in %s and in %s", id, filepath.Base(in[id]), filepath.Base(name))
			}
			in[id] = name
		}
	}
	return len(in)
}

// TestNothingIsCollectedTwiceAfterARestore loses a database whose bank was sent files since the backup: some lie where
// they were put, one was fetched.
func TestNothingIsCollectedTwiceAfterARestore(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		d := openBankDrill(t, env)
		monthly := apptest.Body{"billing_type": "RECURRING", "billing_frequency": "MONTHLY"}
		d.pay(t, monthly)
		d.Advance(t, 5*24*time.Hour)
		d.pay(t, apptest.Body{}) // it waits for a file when the backup is made
		file := filepath.Join(t.TempDir(), "drill.backup")
		source := backup.Source{Store: env.Store, Address: env.URL, Vault: env.Vault, Environment: merchant.Sandbox, Now: clock.Real{}.Now()}
		if _, err := source.Write(t.Context(), file, func(int64) {}); err != nil {
			t.Fatal(err)
		}
		saved := len(d.sent(t))
		d.Advance(t, 5*24*time.Hour)
		d.pay(t, apptest.Body{}) // the restored database never hears of it
		d.Advance(t, 60*24*time.Hour)
		if made := len(d.sent(t)) - saved; made < 3 {
			t.Fatalf("only %d files left after the backup", made)
		}
		offset := storetest.Scalar[int64](t, env, `SELECT offset_us FROM service_clock`)
		d.Stop(t)
		fetched := d.sent(t)[saved] // by the bank; its portal still shows it
		portal := filepath.Join(t.TempDir(), "download.xml")
		if err := os.Rename(fetched, portal); err != nil {
			t.Fatal(err)
		}

		target := elsewhereTarget(t, env)
		if _, err := target.Restore(t.Context(), file); err != nil {
			t.Fatal(err)
		}
		restored := &storetest.Env{Engine: env.Engine, URL: target.Address, Vault: env.Vault, Now: env.Now}
		restored.Store = restored.Reopen(t)
		restored.Exec(t, `UPDATE service_clock SET offset_us = $1`, offset)
		before := len(d.sent(t))
		after := &bankDrill{apptest.Start(t, restored, apptest.Options{}), d.folder}
		after.Key = d.Key
		apptest.Eventually(t, "the gateways have been asked", func() bool {
			to, err := restored.Store.RestoredTo(t.Context())
			return err == nil && to.IsZero()
		})
		after.Advance(t, 10*24*time.Hour)
		if now := len(after.sent(t)); now != before {
			t.Errorf("%d files were written before anybody looked", now-before)
		}
		account := after.account(t)
		if _, err := after.App.Banking.Collect(t.Context(), account, after.Now(t), after.Now(t)); err == nil {
			t.Error("an account that waits can be written by hand")
		}
		for range 2 { // the second time it is known
			after.adopt(t, account, portal)
		}
		if restoredTo, err := after.App.Banking.Resume(t.Context(), account); err != nil || restoredTo.IsZero() {
			t.Fatalf("resumed from %s: %v", restoredTo, err)
		}
		after.Advance(t, 60*24*time.Hour)
		if now := len(after.sent(t)); now <= before {
			t.Error("after it was resumed nothing is written")
		}
		wantOnce(t, append(after.sent(t), portal))
		if unknown := restored.Count(t, "bank_adopted"); unknown != 1 {
			t.Errorf("%d payments of such files have no transaction, want the one that was lost", unknown)
		}
	})
}
