package privacy_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/backup"
	"sepad/internal/clock"
	"sepad/internal/config"
	"sepad/internal/merchant"
	"sepad/internal/privacy"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
	"sepad/internal/testenv"
)

// fixed is a clock that stands.
type fixed time.Time

func (f fixed) Now() time.Time { return time.Time(f) }

// TestARestoredBackupBringsNobodyBack restores a backup from before an erasure: the
// list that was written since has the person erased again, also one whose payment was
// pending then, who is not billed meanwhile.
func TestARestoredBackupBringsNobodyBack(t *testing.T) {
	t.Parallel()
	apptest.EachWith(t, apptest.Options{Change: func(s *config.Settings) { s.WebhookAllowPrivate = "true" }}, func(t *testing.T, server *apptest.Server) {
		s := &story{Server: server}
		monthly := s.Create(t, apptest.Body{"campaign_id": apptest.MonthlyCampaign, "lead": lead()})
		s.Pay(t, monthly, apptest.PendingApproved, apptest.Body{"iban_holder_name": holder}).Want(t, http.StatusOK, nil)
		s.take(t, "transactions", paymentHead+paymentLine)
		s.leadID = leadID(t, server, "SELECT CAST(id AS TEXT) FROM leads")
		file := filepath.Join(t.TempDir(), "early.backup")
		source := backup.Source{Store: s.Env.Store, Address: s.Env.URL, Vault: s.Env.Vault, Environment: merchant.Sandbox, Now: clock.Real{}.Now()}
		_, err := source.Write(t.Context(), file, func(int64) {})
		must(t, err)

		s.Advance(t, 3*24*time.Hour)
		s.erase(t).Want(t, http.StatusOK, nil)
		var list bytes.Buffer
		names, err := privacy.WriteErased(t.Context(), s.Env.Store, &list)
		must(t, err)
		if names != 3 { // the address, the payment and the imported one
			t.Errorf("%d names are remembered: %s", names, list.String())
		}
		now := s.Now(t)

		restored := &storetest.Env{Engine: s.Env.Engine, URL: "sqlite:" + filepath.Join(t.TempDir(), "restored.db"), Vault: s.Env.Vault, Now: now}
		if s.Env.Engine == "postgres" {
			restored.URL = testenv.PostgresURL(t)
		}
		target := backup.Target{Address: restored.URL, Vault: s.Env.Vault, Environment: merchant.Sandbox, Now: now, Finish: func(st *store.Store) error {
			again := &privacy.Privacy{Store: st, Clock: fixed(now), Logger: s.App.Privacy.Logger}
			_, err := again.ReadErased(t.Context(), &list)
			must(t, err)
			erased, waiting, err := again.EraseRemembered(t.Context())
			if erased != 1 || waiting != 1 {
				t.Errorf("%d were erased, %d wait", erased, waiting)
			}
			return err
		}}
		_, err = target.Restore(t.Context(), file)
		must(t, err)
		restored.Store = restored.Reopen(t)
		if live := storetest.Scalar[int](t, restored, `SELECT COUNT(*) FROM subscriptions WHERE status <> 'CANCELLED' AND due_at IS NOT NULL`); live != 0 {
			t.Error("who was erased is billed")
		}
		after := &story{Server: apptest.Start(t, restored, apptest.Options{}), leadID: s.leadID}
		after.Key = s.Key
		after.MoveClock(t, 3*24*time.Hour)
		apptest.Eventually(t, "the gateways have been asked", func() bool {
			to, err := restored.Store.RestoredTo(t.Context())
			return err == nil && to.IsZero()
		})
		after.Advance(t, 0) // the pending payment is settled
		if _, err := after.App.Privacy.RunDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, place := range after.found(t) {
			t.Error("a trace is back in", place)
		}
	})
}

// TestAListThatNobodyOpens is not taken in: the database would need its key from then on.
func TestAListThatNobodyOpens(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, pr := env.Shop(t), &privacy.Privacy{Store: env.Store, Clock: fixed(env.Now)}
		list := `{"tenant_id":"` + shop.ID.String() + `","keys":[{"id":"018f0000-0000-7000-8000-000000000001","key_sealed":"retired:~c2VhbGVk"}],"names":[]}`
		if _, err := pr.ReadErased(t.Context(), strings.NewReader(list)); err == nil {
			t.Error("its key cannot be opened, and it is taken")
		}
		if keys, _, err := env.Store.ErasedOf(t.Context(), shop.ID); err != nil || len(keys) != 0 {
			t.Errorf("%d keys were taken in, %v", len(keys), err)
		}
	})
}

// TestWhoCannotBeErasedHoldsUpNobody: the others are erased, the sweep says whom it could not erase, and tries again later.
func TestWhoCannotBeErasedHoldsUpNobody(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	shop := env.Shop(t)
	for range 3 {
		env.Session(t, shop)
	}
	env.Exec(t, `UPDATE leads SET erase_due_at = 0`)
	env.Exec(t, `CREATE TRIGGER broken BEFORE UPDATE OF first_name ON leads WHEN OLD.id <> (SELECT MAX(id) FROM leads)
		BEGIN SELECT RAISE(ABORT, 'the row is broken'); END`)
	sweep := &privacy.Privacy{Store: env.Store, Clock: fixed(env.Now), Logger: slog.New(slog.DiscardHandler)}
	if done, err := sweep.RunDue(t.Context()); done != 1 || err == nil || !strings.Contains(err.Error(), "the row is broken") || !strings.HasSuffix(err.Error(), "(and 1 more)") {
		t.Errorf("%d were erased: %v", done, err)
	}
	if done, err := sweep.RunDue(t.Context()); done != 0 || err != nil {
		t.Errorf("at once again %d were erased: %v", done, err)
	}
	env.Exec(t, `DROP TRIGGER broken`)
	sweep.Clock = fixed(env.Now.Add(time.Hour))
	if done, err := sweep.RunDue(t.Context()); done == 0 || err != nil {
		t.Errorf("an hour later %d were erased: %v", done, err)
	}
	if named := env.Count(t, "leads WHERE first_name <> ''"); named != 0 {
		t.Errorf("%d are still named", named)
	}
}

// TestAnErasureThatWasBrokenOffIsFinished: the sweep does it, and says so once.
func TestAnErasureThatWasBrokenOffIsFinished(t *testing.T) {
	t.Parallel()
	env := storetest.SQLite(t)
	env.Session(t, env.Shop(t))
	var told bytes.Buffer
	sweep := &privacy.Privacy{Store: env.Store, Clock: fixed(env.Now), Logger: slog.New(slog.NewTextHandler(&told, nil))}
	env.Exec(t, `UPDATE leads SET erase_due_at = 0, erased_at = 0`)
	for range 2 {
		if done, err := sweep.RunDue(t.Context()); done != 1 || err != nil {
			t.Fatalf("%d were erased: %v", done, err)
		}
		env.Exec(t, `UPDATE leads SET erase_due_at = 0`)
	}
	if said := strings.Count(told.String(), "an erasure that had been broken off was finished"); said != 1 {
		t.Errorf("it is said %d times: %s", said, told.String())
	}
}
