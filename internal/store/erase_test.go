package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// knownPerson is somebody who has bought, with everything that tells of it.
type knownPerson struct {
	lead  payment.Lead
	paid  payment.Change
	event uuid.UUID
}

// knows has a shop know somebody from every table that can name a person.
func knows(t *testing.T, env *storetest.Env, shop storetest.Shop, name string) knownPerson {
	t.Helper()
	named := func(d *storetest.Draft) {
		d.Lead.FirstName, d.Lead.LastName, d.Lead.Address, d.Lead.City = name, name, name, name
		d.Lead.Email, d.Lead.PostalCode, d.Lead.Phone, d.CustomerIP = name+"@shop.example", name, name, name
		d.Terms = storetest.Monthly
	}
	claimed := env.Attempt(t, env.Session(t, shop, named))
	evidence := acceptanceOf(env, claimed.Transaction)
	evidence.Text, evidence.TextHash, evidence.ClientIP, evidence.UserAgent = name, name, name, name
	env.Write(t, func(tx *store.Tx) error { tx.RecordAcceptance(claimed.Transaction, evidence); return nil })
	paid := env.Settle(t, claimed, approved)
	env.Exec(t, `UPDATE transactions SET email = $1, bank_name = $1, iban_masked = $1, holder_name = $1 WHERE id = $2`, name, paid.Transaction.ID.String())
	event := paid.Events[0].ID
	env.Exec(t, `UPDATE events SET payload = $1 WHERE id = $2`, name, event.String())
	env.InsertChargebacks(t, []payment.Chargeback{{
		ID: payment.NewID(), TenantID: shop.ID, GatewayID: shop.Gateway.ID, TransactionID: &paid.Transaction.ID, MerchantTransactionID: paid.Transaction.MerchantTransactionID,
		AmountMinor: 1, Currency: "EUR", ReportedAt: env.Now, Source: payment.ChargebackImported, Email: name, ReportInfo: name, CreatedAt: env.Now, UpdatedAt: env.Now,
	}})
	statement := store.BankStatement{ID: payment.NewID(), TenantID: shop.ID, GatewayID: shop.Gateway.ID, Name: "a", ContentHash: paid.Transaction.ID.String()}
	mail := mailOf(paid.Transaction, name)
	mail.Result, mail.Status = name, store.MailFailed
	env.Write(t, func(tx *store.Tx) error {
		tx.AddMail(mail, paid.Transaction, false)
		tx.RecordMail(mail, 0)
		tx.PutBankStatement(statement)
		tx.AddBankLines(statement, []store.BankLine{{Position: 1, Result: store.LineReturned, TransactionID: &paid.Transaction.ID, SealedText: name, Note: name}})
		tx.RecordDeliveries(store.Endpoint{TenantID: shop.ID, ProfileID: shop.Profile.ID}, []store.DeliveryResult{{
			Attempt: store.Attempt{EventID: event, Number: 1, At: env.Now, Answer: name, Error: name}, Status: store.DeliveryFailed,
		}})
		return nil
	})
	return knownPerson{env.Find(t, paid.Session.Token).Lead, paid, event}
}

// erase erases somebody as the unit of work that an erasure is.
func erase(t *testing.T, env *storetest.Env, tenantID, leadID uuid.UUID, payload func(string) (string, error)) error {
	t.Helper()
	return env.TryWrite(t, func(tx *store.Tx) error {
		who, err := env.Store.Tenant(tenantID).Person(t.Context(), leadID)
		if err != nil {
			return err
		}
		if who, err = tx.LockPerson(who); err != nil {
			return err
		}
		return tx.Erase(who, env.Now.Add(time.Hour), payload)
	})
}

func nobody(string) (string, error) { return "somebody", nil }

// linesWith are the rows that name somebody.
func linesWith(dump, name string) (lines []string) {
	for line := range strings.Lines(dump) {
		if strings.Contains(line, name) {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestNothingNamesWhoWasErased, and everything that names others is as it was.
func TestNothingNamesWhoWasErased(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		gone, other := knows(t, env, shop, "Walburga"), knows(t, env, shop, "Kunigunde")
		before := env.Dump(t)
		if len(linesWith(before, "Walburga")) < 9 {
			t.Fatalf("only %d rows name somebody", len(linesWith(before, "Walburga")))
		}
		env.Now = env.Now.Add(time.Minute)
		if err := erase(t, env, shop.ID, gone.lead.ID, nobody); err != nil {
			t.Fatal(err)
		}
		after := env.Dump(t)
		for _, line := range linesWith(after, "Walburga") {
			if !strings.HasPrefix(line, "mails") { // a key of ours, which this test has named so
				t.Errorf("left is %s", line)
			}
		}
		if !slices.Equal(linesWith(after, "Kunigunde"), linesWith(before, "Kunigunde")) {
			t.Error("what names another has changed")
		}
		wantPayload(t, env, gone.event, "somebody")
		wantPayload(t, env, other.event, "Kunigunde")
		wantErased(t, env, shop, gone.lead.ID, env.Now)
		wantErased(t, env, shop, other.lead.ID, time.Time{})
		if now := env.Debit(t, gone.paid.Transaction).Transaction; now.AmountMinor != gone.paid.Transaction.AmountMinor || !now.UpdatedAt.Equal(env.Now) {
			t.Errorf("the payment is of %s and changed at %s", now.AmountMinor, now.UpdatedAt)
		}
		erasedAt := env.Now
		env.Now = env.Now.Add(time.Minute)
		if err := erase(t, env, shop.ID, gone.lead.ID, nobody); err != nil {
			t.Fatal(err)
		}
		wantErased(t, env, shop, gone.lead.ID, erasedAt)
		wantDue(t, env.Store.ErasuresDue, env.Now.Add(time.Hour), 10, store.Due{TenantID: shop.ID, ID: gone.lead.ID, At: env.Now.Add(time.Hour)})
	})
}

func wantPayload(t *testing.T, env *storetest.Env, event uuid.UUID, want string) {
	t.Helper()
	if got := storetest.Scalar[string](t, env, `SELECT payload FROM events WHERE id = $1`, event.String()); got != want {
		t.Errorf("an event says %q, want %q", got, want)
	}
}

func wantErased(t *testing.T, env *storetest.Env, shop storetest.Shop, leadID uuid.UUID, want time.Time) {
	t.Helper()
	if at, err := env.Store.Tenant(shop.ID).ErasedAt(t.Context(), leadID); err != nil || !at.Equal(want) {
		t.Errorf("erased at %s, want %s: %v", at, want, err)
	}
}

// TestNobodyIsErasedInPart: what cannot be read, or money that is open, leaves everything as it is.
func TestNobodyIsErasedInPart(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		unreadable := errors.New("unreadable")
		for name, c := range map[string]struct{ sql, says string }{
			"a payment nobody knows of":      {`status = 'pending', in_flight = 'submit', next_lookup_at = 1`, "is not known yet"},
			"a payment that is verified":     {`status = 'pending', verification_reference = 'VRF-1'`, "awaits its verification"},
			"a payment that is pending":      {`status = 'pending'`, "is pending"},
			"a payment in part given back":   {`refunding_minor = 1`, "is being refunded"},
			"a refund that is under way":     {`type = 'sdd_refund', status = 'pending'`, "The refund"},
			"an event that is not readable":  {`status = 'approved'`, "unreadable"},
			"nothing: a payment of somebody": {`status = 'approved'`, ""},
		} {
			of := knows(t, env, shop, "person"+strings.ReplaceAll(name, " ", "-"))
			env.Exec(t, `UPDATE transactions SET `+c.sql+` WHERE id = $1`, of.paid.Transaction.ID.String())
			payload := nobody
			if c.says == "unreadable" {
				payload = func(string) (string, error) { return "", unreadable }
			}
			before := env.Dump(t)
			err := erase(t, env, shop.ID, of.lead.ID, payload)
			if c.says == "" {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			if err == nil || !strings.Contains(err.Error(), c.says) || env.Dump(t) != before {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// TestWhatBeganMeanwhileIsErasedToo: a payment that the unit did not know of has it run again.
func TestWhatBeganMeanwhileIsErasedToo(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		gone := knows(t, env, shop, "Walburga")
		var locked *store.Person
		who, err := env.Store.Tenant(shop.ID).Person(t.Context(), gone.lead.ID)
		if err != nil {
			t.Fatal(err)
		}
		env.Write(t, func(tx *store.Tx) (err error) { locked, err = tx.LockPerson(who); return err })
		again := renamed(gone.paid.Transaction)
		again.ID, again.SessionID = payment.NewID(), nil
		env.Write(t, func(tx *store.Tx) error { tx.AddTransaction(again, nil); return nil })
		err = env.TryWrite(t, func(tx *store.Tx) error { return tx.Erase(locked, env.Now, nobody) })
		if !errors.Is(err, store.ErrStale) {
			t.Errorf("gave %v", err)
		}
	})
}

// TestAPersonIsFoundWithWhatIsOpen: sessions that can be paid, subscriptions that are billed, and files that banks have.
func TestAPersonIsFoundWithWhatIsOpen(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		mine, theirs := knows(t, env, shop, "Walburga"), knows(t, env, shop, "Kunigunde")
		open := env.Session(t, shop, storetest.WithEmail(mine.lead.Email)).Session
		env.Session(t, shop, storetest.WithEmail(theirs.lead.Email))
		env.Exec(t, `UPDATE transactions SET status = 'pending', settle_due_at = 1, gateway_reference = '' WHERE id = $1`, mine.paid.Transaction.ID.String())
		fileWith(t, env, store.BankFileSent, mine.paid.Transaction, awaitingFile(t, env, shop))
		fileWith(t, env, store.BankFileSent, awaitingFile(t, env, shop))
		look := func(leadID uuid.UUID) (sessions []payment.Session, live []payment.Subscription, files int) {
			t.Helper()
			env.Write(t, func(tx *store.Tx) error {
				who, err := env.Store.Tenant(shop.ID).Person(t.Context(), leadID)
				if err == nil {
					who, err = tx.LockPerson(who)
				}
				if err == nil {
					sessions, err = tx.OpenSessions(who)
				}
				if err == nil {
					live, err = tx.LiveSubscriptions(who)
				}
				if err == nil {
					files, err = tx.BankFilesOf(who)
				}
				return err
			})
			return sessions, live, files
		}
		sessions, live, files := look(mine.lead.ID)
		if len(sessions) != 1 || sessions[0].ID != open.ID || len(live) != 1 || live[0].ID != mine.paid.Subscription.ID || files != 1 {
			t.Errorf("%d sessions, %d subscriptions, %d files", len(sessions), len(live), files)
		}
		if err := cancelSubscription(t, env, stored(t, env, *theirs.paid.Subscription)); err != nil {
			t.Fatal(err)
		}
		if sessions, live, files := look(theirs.lead.ID); len(sessions) != 1 || len(live) != 0 || files != 0 {
			t.Errorf("of another %d sessions, %d subscriptions, %d files", len(sessions), len(live), files)
		}
	})
}

// TestWhoIsToBeErasedIsDue, and nobody beside, until it is put off.
func TestWhoIsToBeErasedIsDue(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, foreign := env.Shop(t), env.Shop(t)
		one, other := env.Session(t, shop).Lead.ID, env.Session(t, shop).Lead.ID
		ask := func(tenantID, leadID uuid.UUID) {
			who, err := env.Store.Tenant(shop.ID).Person(t.Context(), leadID)
			if err != nil {
				t.Fatal(err)
			}
			who.TenantID = tenantID
			env.Write(t, func(tx *store.Tx) error { tx.AskToErase(who); return nil })
		}
		ask(foreign.ID, one)
		wantDue(t, env.Store.ErasuresDue, env.Now, 10)
		ask(shop.ID, one)
		due := store.Due{TenantID: shop.ID, ID: one, At: env.Now}
		wantDue(t, env.Store.ErasuresDue, env.Now, 10, due)
		later := env.Now.Add(time.Hour)
		env.Write(t, func(tx *store.Tx) error {
			tx.PostponeErasure(foreign.ID, one, later)
			tx.PostponeErasure(shop.ID, other, time.Time{})
			return nil
		})
		wantDue(t, env.Store.ErasuresDue, env.Now, 10, due)
		env.Write(t, func(tx *store.Tx) error { tx.PostponeErasure(shop.ID, one, later); return nil })
		wantDue(t, env.Store.ErasuresDue, later.Add(-time.Microsecond), 10)
		due.At = later
		wantDue(t, env.Store.ErasuresDue, later, 10, due)
		env.Write(t, func(tx *store.Tx) error { tx.PostponeErasure(shop.ID, one, time.Time{}); return nil })
		wantDue(t, env.Store.ErasuresDue, later, 10)
	})
}

// TestWhatFilesBringInKnowsWhoWasErased: a unit that rests on what was read before somebody was erased is refused, and
// another tenant's erasures are none of its business.
func TestWhatFilesBringInKnowsWhoWasErased(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, foreign := env.Shop(t), env.Shop(t)
		rest := func(m *store.Memory) error {
			return env.TryWrite(t, func(tx *store.Tx) error { return tx.RestOnMemory(m) })
		}
		read := func() *store.Memory {
			m, err := env.Store.Memory(t.Context(), shop.ID)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		memory := read()
		remember(t, env, foreign, env.Session(t, foreign).Lead.ID)
		if err := rest(memory); err != nil {
			t.Errorf("where another tenant's payer was erased: %v", err)
		}
		one := env.Session(t, shop).Lead.ID
		remember(t, env, shop, one)
		if err := rest(memory); !errors.Is(err, store.ErrMemoryOld) {
			t.Errorf("where somebody was erased meanwhile: %v", err)
		}
		memory = read()
		if err := rest(memory); err != nil {
			t.Errorf("where that is known: %v", err)
		}
		env.Now = env.Now.Add(time.Second)
		remember(t, env, shop, one)
		if err := rest(memory); !errors.Is(err, store.ErrMemoryOld) {
			t.Errorf("where somebody was erased again: %v", err)
		}
	})
}
