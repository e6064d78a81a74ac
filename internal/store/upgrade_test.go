package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
	"sepad/internal/vault"
)

// beginUpgrade makes the database one that programs of the version before still use.
func beginUpgrade(t *testing.T, env *storetest.Env) (key string) {
	t.Helper()
	key = vault.GenerateKey()
	env.Exec(t, `UPDATE schema_compatibility SET oldest_version = 6`)
	env.Exec(t, `UPDATE deployment SET tokens_hidden = FALSE`)
	env.Store = process(t, env, key)
	return key
}

// process opens the database as a server does, with keys of its own.
func process(t *testing.T, env *storetest.Env, keys ...string) *store.Store {
	t.Helper()
	v, err := vault.New(strings.Join(keys, ","))
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.Context(), env.URL, store.Options{Vault: v})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	if err := st.Adopt(t.Context(), merchant.Sandbox, env.Now); err != nil {
		t.Fatal(err)
	}
	env.Vault = v
	return st
}

// completed is the event that has a session's token in it.
func completed(t *testing.T, env *storetest.Env, s payment.Session) store.EventRow {
	t.Helper()
	event := payment.Event{ID: payment.NewID(), Key: "done " + s.ID.String(), Kind: payment.EventSessionCompleted}
	row, err := env.Store.NewEvent(s.TenantID, store.EventRow{
		Event: event, WebhookProfileID: s.WebhookProfileID, Payload: `{"email":"a\"session_token\":\"b","session_token":"` + s.Token + `","status":"COMPLETED"}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	env.Write(t, func(tx *store.Tx) error {
		tx.AddEvents(s.TenantID, []store.EventRow{row})
		return nil
	})
	return row
}

func TestAnUpgradeIsFinished(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		key := beginUpgrade(t, env)
		shop := env.Shop(t)
		sold := env.Settled(t, shop, storetest.WithTerms(storetest.Monthly))
		open := env.Session(t, shop)
		completed(t, env, open.Session)
		if kept := storetest.Scalar[string](t, env, `SELECT token FROM sessions WHERE status = 'PENDING'`); kept != open.Session.Token {
			t.Errorf("older programs look for the token, and find %q", kept)
		}
		for _, column := range []string{"iban_sealed FROM transactions", "iban_sealed FROM subscriptions", "secrets FROM setup_records WHERE secrets <> ''"} {
			if sealed := storetest.Scalar[string](t, env, `SELECT `+column+` LIMIT 1`); strings.Contains(sealed, ":~") {
				t.Errorf("older programs cannot open %s", column)
			}
		}
		running, other := env.Store, process(t, env, key)
		if !running.UpgradeIsOpen() {
			t.Error("the upgrade is finished already")
		}
		done, err := other.FinishUpgrade(t.Context(), env.Now, func(int, int) {})
		if err != nil || done < 6 || other.UpgradeIsOpen() {
			t.Errorf("%d rows were sealed anew: %v", done, err)
		}
		if again, err := other.FinishUpgrade(t.Context(), env.Now, func(int, int) {}); err != nil || again != 0 {
			t.Errorf("once more, %d rows were sealed anew: %v", again, err)
		}
		loot := env.Stolen(t)
		for _, token := range []string{open.Session.Token, sold.Session.Token} {
			if strings.Contains(env.Dump(t), token) {
				t.Error("a token lies open in a row")
			}
		}
		if env.Engine == "postgres" && strings.Contains(loot, open.Session.Token) {
			t.Error("a token lies open")
		}
		if err := other.Rewrite(t.Context()); err != nil {
			t.Error(err)
		}
		if strings.Contains(env.Stolen(t), open.Session.Token) {
			t.Error("a token lies open in what is left of rows")
		}
		for name, st := range map[string]*store.Store{"that runs": running, "that finished": other, "that starts": process(t, env, key)} {
			t.Run("the session is known to a process "+name, func(t *testing.T) { wantKnown(t, st, open.Session) })
		}
		billed, err := running.Tenant(shop.ID).DueSubscription(t.Context(), sold.Subscription.ID)
		if err != nil {
			t.Fatal(err)
		}
		iban, err := env.Vault.Open(billed.SealedIBAN, store.BindIBAN(shop.ID, sold.Subscription.MandateReference))
		if err != nil || string(iban) != storetest.IBAN || !strings.Contains(billed.SealedIBAN, ":~") {
			t.Errorf("the account of the subscription: %v", err)
		}

		// A process that runs hears of it with the next version of a set-up.
		version, err := running.SetupVersion(t.Context(), shop.ID)
		if err == nil {
			_, err = running.Setup(t.Context(), shop.ID, version)
		}
		if err != nil {
			t.Fatal(err)
		}
		env.Store = running
		later := env.Session(t, shop)
		if strings.Contains(env.Dump(t), later.Session.Token) {
			t.Error("a process that runs goes on writing tokens")
		}
	})
}

// TestACreateUnderWayWhileAnUpgradeIsFinished comes from a process that has not heard of it, and leaves its token open.
func TestACreateUnderWayWhileAnUpgradeIsFinished(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		other := process(t, env, beginUpgrade(t, env))
		passed := env.Shop(t) // tenants are gone through by their ids, which tell their age
		env.Session(t, env.Shop(t))
		var late store.Found
		_, err := other.FinishUpgrade(t.Context(), env.Now, func(int, int) {
			if late.Session.Token == "" && storetest.Scalar[int](t, env, `SELECT COUNT(*) FROM sessions WHERE token_sealed = ''`) == 0 {
				late = env.Session(t, passed)
			}
		})
		if err != nil || late.Session.Token == "" || strings.Contains(env.Dump(t), late.Session.Token) {
			t.Errorf("a token lies open, or nobody came: %v", err)
		}
	})
}

// TestAnEventWhoseTokenIsSpoiltIsNotTakenForSound: a receiver is not sent what lacks its token, nor nothing at all, and who
// reads the feed is told that it is not whole.
func TestAnEventWhoseTokenIsSpoiltIsNotTakenForSound(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		session := env.Session(t, env.Shop(t)).Session
		event := completed(t, env, session)
		wantReadable := func(want bool) {
			t.Helper()
			tenant := env.Store.Tenant(session.TenantID)
			due, err := tenant.DeliveriesDue(t.Context(), *session.WebhookProfileID, uuid.Nil, 10)
			if err != nil || len(due) != 1 || (due[0].Unreadable == nil) != want || strings.Contains(due[0].Payload, session.Token) != want {
				t.Errorf("%+v would be sent: %v", due, err)
			}
			told, err := tenant.Event(t.Context(), event.ID)
			if err != nil || (told.Unreadable == nil) != want || !strings.Contains(told.Payload, `"status":"COMPLETED"`) ||
				strings.Contains(told.Payload, session.Token) != want {
				t.Errorf("%s is told, unreadable: %v: %v", told.Payload, told.Unreadable, err)
			}
		}
		wantReadable(true)
		env.Exec(t, `UPDATE events SET token_sealed = 'spoilt'`)
		wantReadable(false)
	})
}

// wantKnown expects that a process finds a session by its token, and tells the token.
func wantKnown(t *testing.T, st *store.Store, session payment.Session) {
	t.Helper()
	found, err := st.SessionByToken(t.Context(), session.Token)
	if err != nil || found.Session.ID != session.ID {
		t.Errorf("it is not found: %v", err)
	}
	tenant := st.Tenant(session.TenantID)
	if read, err := tenant.Session(t.Context(), session.ID); err != nil || read.Token != session.Token {
		t.Errorf("its token cannot be read: %v", err)
	}
	due, err := tenant.DeliveriesDue(t.Context(), *session.WebhookProfileID, [16]byte{}, 10)
	if last := due[len(due)-1]; err != nil || !strings.Contains(last.Payload, `"session_token":"`+session.Token+`"`) ||
		strings.Contains(last.Mask(last.Payload), session.Token) {
		t.Errorf("%s would be sent: %v", last.Payload, errors.Join(err, last.Unreadable))
	}
}

func TestSwappedTextsOpenNowhere(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		first, second := vault.GenerateKey(), vault.GenerateKey()
		env.Store = process(t, env, first)
		shop := env.Shop(t)
		var subs []*payment.Subscription
		var sessions []payment.Session
		for range 3 {
			subs = append(subs, env.Settled(t, shop, storetest.WithTerms(storetest.Monthly)).Subscription)
			sessions = append(sessions, env.Session(t, shop).Session)
		}
		swap := func(table, column string, a, b any) {
			t.Helper()
			was := storetest.Scalar[string](t, env, `SELECT `+column+` FROM `+table+` WHERE id = $1`, a)
			env.Exec(t, `UPDATE `+table+` SET `+column+` = (SELECT `+column+` FROM `+table+` x WHERE x.id = $2) WHERE id = $1`, a, b)
			env.Exec(t, `UPDATE `+table+` SET `+column+` = $2 WHERE id = $1`, b, was)
		}
		swap("subscriptions", "iban_sealed", subs[0].ID.String(), subs[1].ID.String())
		swap("sessions", "token_sealed", sessions[0].ID.String(), sessions[1].ID.String())

		after := process(t, env, second, first)
		_, err := after.Reseal(t.Context(), env.Now, func(int, int) {})
		if !errors.Is(err, vault.ErrCannotOpen) || !strings.Contains(err.Error(), "4 rows could not be opened") {
			t.Errorf("sealing anew: %v", err)
		}
		for i := range subs {
			due, err := after.Tenant(shop.ID).DueSubscription(t.Context(), subs[i].ID)
			if err != nil {
				t.Fatal(err)
			}
			_, err = env.Vault.Open(due.SealedIBAN, store.BindIBAN(shop.ID, subs[i].MandateReference))
			if isSwapped := i < 2; isSwapped != errors.Is(err, vault.ErrCannotOpen) {
				t.Errorf("the account of subscription %d: %v", i, err)
			}
			want := sessions[i].Token
			if isSwapped := i < 2; isSwapped {
				want = "" // the session is read without it
			}
			if read, err := after.Tenant(shop.ID).Session(t.Context(), sessions[i].ID); err != nil || read.Token != want {
				t.Errorf("the token of session %d is read as %q: %v", i, payment.ShortToken(read.Token), err)
			}
			if _, err := after.SessionByToken(t.Context(), sessions[i].Token); err != nil {
				t.Errorf("whoever has the token of session %d does not reach it: %v", i, err)
			}
		}
	})
}

// TestAFinishedUpgradeStaysFinished for processes that start later.
func TestAFinishedUpgradeStaysFinished(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		key := beginUpgrade(t, env)
		if !process(t, env, key).UpgradeIsOpen() {
			t.Error("it is finished before anybody has finished it")
		}
		if _, err := env.Store.FinishUpgrade(t.Context(), env.Now, func(int, int) {}); err != nil {
			t.Fatal(err)
		}
		if process(t, env, key).UpgradeIsOpen() {
			t.Error("a process that starts takes it for open")
		}
	})
}
