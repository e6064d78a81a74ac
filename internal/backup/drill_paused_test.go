package backup_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/backup"
	"sepad/internal/clock"
	"sepad/internal/merchant"
	"sepad/internal/store/storetest"
)

// save makes a backup of a shop, and gives what restores it: the shop as it was then, in which it is as late as it is now.
func (d *bankDrill) save(t *testing.T, env *storetest.Env) (restore func() (*bankDrill, *storetest.Env)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "drill.backup")
	source := backup.Source{Store: env.Store, Address: env.URL, Vault: env.Vault, Environment: merchant.Sandbox, Now: clock.Real{}.Now()}
	if _, err := source.Write(t.Context(), file, func(int64) {}); err != nil {
		t.Fatal(err)
	}
	return func() (*bankDrill, *storetest.Env) {
		offset := storetest.Scalar[int64](t, env, `SELECT offset_us FROM service_clock`)
		d.Stop(t)
		target := elsewhereTarget(t, env)
		if _, err := target.Restore(t.Context(), file); err != nil {
			t.Fatal(err)
		}
		restored := &storetest.Env{Engine: env.Engine, URL: target.Address, Vault: env.Vault, Now: env.Now}
		restored.Store = restored.Reopen(t)
		restored.Exec(t, `UPDATE service_clock SET offset_us = $1`, offset)
		after := &bankDrill{apptest.Start(t, restored, apptest.Options{}), d.folder}
		after.Key = d.Key
		apptest.Eventually(t, "the gateways have been asked", func() bool {
			to, err := restored.Store.RestoredTo(t.Context())
			return err == nil && to.IsZero()
		})
		return after, restored
	}
}

// steer pauses or resumes the only subscription, and has what follows from it done.
func (d *bankDrill) steer(t *testing.T, env *storetest.Env, how string) {
	t.Helper()
	id := storetest.Scalar[string](t, env, `SELECT CAST(id AS TEXT) FROM subscriptions`)
	d.Do(t, apptest.Request{Path: "/admin/v1/subscriptions/" + id + "/" + how + "/", Key: apptest.AdminToken, Body: "{}"}).Want(t, http.StatusOK, nil)
	if _, err := d.App.Banking.RunDue(t.Context(), d.Now(t)); err != nil {
		t.Fatal(err)
	}
}

// beforeRebill goes to a moment at which the payer was told of the first rebill, and no file has it.
func (d *bankDrill) beforeRebill(t *testing.T, env *storetest.Env) {
	t.Helper()
	for range 30 {
		if storetest.Scalar[int](t, env, `SELECT COUNT(*) FROM transactions WHERE type = 'sdd_rebill'`) > 0 {
			return
		}
		d.Advance(t, 8*time.Hour)
	}
	t.Fatal("the period is not prepared")
}

// TestAPeriodThatWasPausedIsNotCollectedTwiceAfterARestore: a rebill that was announced was withdrawn by a pause, and the one
// that took its place has another name. The restored database knows nothing of either.
func TestAPeriodThatWasPausedIsNotCollectedTwiceAfterARestore(t *testing.T) {
	t.Parallel()
	for name, isEarly := range map[string]bool{"saved before the announcement": true, "saved after it": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
				d := openBankDrill(t, env)
				d.pay(t, apptest.Body{"billing_type": "RECURRING", "billing_frequency": "MONTHLY"})
				d.Advance(t, 24*24*time.Hour)
				restore := d.save(t, env)
				d.beforeRebill(t, env)
				if !isEarly {
					restore = d.save(t, env)
				}
				d.steer(t, env, "pause")
				d.steer(t, env, "resume")
				d.Advance(t, 10*24*time.Hour)
				if sent := wantOnce(t, d.sent(t)); sent != 2 {
					t.Fatalf("%d collections were sent, want two", sent)
				}
				after, restored := restore()
				after.goOn(t, restored, 2)
			})
		})
	}
}

// TestWhatTheBankHasIsNotWithdrawnAfterARestore: the bank has fetched a file with a rebill since the backup. Until it is taken
// in, the rebill seems to be in no file, and a pause would have it collected once more under another name.
func TestWhatTheBankHasIsNotWithdrawnAfterARestore(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		d := openBankDrill(t, env)
		d.MoveToQuietTuesday(t)
		d.pay(t, apptest.Body{"billing_type": "RECURRING", "billing_frequency": "MONTHLY"})
		d.Advance(t, 24*24*time.Hour)
		restore := d.save(t, env)
		known := len(d.sent(t))
		d.beforeRebill(t, env)
		for tries := 0; len(d.sent(t)) == known && tries < 9; tries++ {
			d.Advance(t, 8*time.Hour)
		}
		fetched := filepath.Join(t.TempDir(), "portal.xml")
		if err := os.Rename(d.sent(t)[known], fetched); err != nil {
			t.Fatal(err)
		}
		after, restored := restore()
		after.beforeRebill(t, restored)
		after.steer(t, restored, "pause")
		after.steer(t, restored, "resume")
		after.adopt(t, after.account(t), fetched)
		after.goOn(t, restored, 1)
	})
}

// TestARebillAtAnotherPriceFindsItsPlaceAfterARestore: the price was changed in the lost time, and the bank has the rebill at the
// new one.
func TestARebillAtAnotherPriceFindsItsPlaceAfterARestore(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		d := openBankDrill(t, env)
		d.pay(t, apptest.Body{"billing_type": "RECURRING", "billing_frequency": "MONTHLY"})
		d.Advance(t, 24*24*time.Hour)
		restore := d.save(t, env)
		id := storetest.Scalar[string](t, env, `SELECT CAST(id AS TEXT) FROM subscriptions`)
		d.Do(t, apptest.Request{Path: "/admin/v1/subscriptions/" + id + "/change/", Key: apptest.AdminToken, Body: apptest.Body{"amount": "59.00"}}).Want(t, http.StatusOK, nil)
		d.Advance(t, 10*24*time.Hour)
		after, restored := restore()
		after.goOn(t, restored, 2)
		if revenue := storetest.Scalar[int](t, restored, `SELECT revenue_minor FROM subscriptions`); revenue != 49_00+59_00 {
			t.Errorf("%d cents were collected, want what the bank has", revenue)
		}
	})
}

// goOn lets the account of a restored shop go on, which must not send the bank anything of a period that it had before.
func (d *bankDrill) goOn(t *testing.T, restored *storetest.Env, want int) {
	t.Helper()
	if _, err := d.App.Banking.Resume(t.Context(), d.account(t)); err != nil {
		t.Fatal(err)
	}
	d.Advance(t, 10*24*time.Hour)
	if sent := wantOnce(t, d.sent(t)); sent != want {
		t.Errorf("%d collections were sent, want %d", sent, want)
	}
	if unknown := restored.Count(t, "bank_adopted"); unknown != 0 {
		t.Errorf("%d payments of the lost files have no transaction", unknown)
	}
	if open := storetest.Scalar[int](t, restored, `SELECT COUNT(*) FROM transactions WHERE status <> 'approved'`); open != 0 {
		t.Errorf("%d payments are not collected", open)
	}
}
