package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// foreignWrites are units about rows of a shop that name another tenant.
func foreignWrites(t *testing.T, env *storetest.Env, shop storetest.Shop, foreign uuid.UUID) map[string]func(*store.Tx) {
	t.Helper()
	of, held := awaitingFile(t, env, shop, storetest.WithTerms(storetest.Monthly)), awaitingFile(t, env, shop)
	back := env.Settled(t, shop)
	mail := mailOf(of, "one")
	file := fileWith(t, env, store.BankFileClosed, awaitingFile(t, env, shop))
	statement := store.BankStatement{ID: payment.NewID(), TenantID: shop.ID, GatewayID: shop.Gateway.ID, Name: "a", ContentHash: "a", State: store.BankStatementReading}
	env.Write(t, func(tx *store.Tx) error {
		tx.AddMail(mail, of, false)
		tx.HoldCollection(shop.ID, held.ID)
		tx.PutBankStatement(statement)
		tx.AddBankLines(statement, []store.BankLine{{Position: 1, Source: "camt.053", Kind: "returned", Result: store.LineUnmatched}})
		return nil
	})
	line := uuid.MustParse(storetest.Scalar[string](t, env, `SELECT CAST(id AS TEXT) FROM bank_lines`))
	owner, ids := payment.NewID(), inLine(t, env, shop, 2)
	if _, ok, err := env.Store.LeaseEndpoint(t.Context(), endpointOf(shop), owner, env.Now, time.Hour); err != nil || !ok {
		t.Fatal(err)
	}
	env.Exec(t, `UPDATE events SET next_attempt_at = 5 WHERE id = $1`, ids[1].String())
	key := store.RequestKey{Scope: shop.ID, Key: "key", RequestHash: "hash", At: env.Now}
	env.Write(t, func(tx *store.Tx) error { tx.Remember(key, payment.NewID()); return nil })
	theirs := store.Endpoint{TenantID: foreign, ProfileID: shop.Profile.ID}
	mail.TenantID, mail.Status = foreign, store.MailSent
	reported := back.Transaction
	reported.TenantID = foreign
	lead, sub := env.Find(t, back.Session.Token).Lead, *env.Debit(t, of).Subscription
	open := payment.Transaction{TenantID: foreign, ID: of.ID, Status: of.Status}
	moved := lead
	moved.Address, moved.City = "elsewhere", "elsewhere"
	file.TenantID, statement.TenantID, statement.State, sub.TenantID, key.Scope = foreign, foreign, store.BankStatementFailed, foreign, foreign
	later := sub
	later.AmountMinor++
	return map[string]func(*store.Tx){
		"ReleaseCollection": func(tx *store.Tx) { tx.ReleaseCollection(foreign, held.ID) },
		"HoldCollection":    func(tx *store.Tx) { tx.HoldCollection(foreign, of.ID) },
		"ChangeBankFile":    func(tx *store.Tx) { tx.ChangeBankFile(file, file) },
		"AddBankPart":       func(tx *store.Tx) { tx.AddBankPart(file, 1, "sealed") },
		"DropBankFile":      func(tx *store.Tx) { tx.DropBankFile(file) },
		"EndBankStatement":  func(tx *store.Tx) { tx.EndBankStatement(statement) },
		"AssignBankLine": func(tx *store.Tx) {
			tx.AssignBankLine(store.LineUnmatched, store.BankLine{TenantID: foreign, ID: line, Result: store.LineAssigned})
		},
		"SaveEndpoint":    func(tx *store.Tx) { tx.SaveEndpoint(theirs, owner, store.EndpointState{FailureCount: 5}) },
		"ReleaseEndpoint": func(tx *store.Tx) { tx.ReleaseEndpoint(theirs, owner, new(bool)) },
		"RecordMail":      func(tx *store.Tx) { tx.RecordMail(mail, 0) },
		"ReturnMail":      func(tx *store.Tx) { tx.ReturnMail(mail) },
		"AskForReported":  func(tx *store.Tx) { tx.AskForReported(reported) },
		"RecognizeRefund": func(tx *store.Tx) { tx.RecognizeRefund(reported) },
		"MoveLead":        func(tx *store.Tx) { tx.MoveLead(foreign, lead, moved) },
		"HoldLead":        func(tx *store.Tx) { tx.HoldLead(foreign, lead.ID) },
		"Forget":          func(tx *store.Tx) { tx.Forget(key) },
		"PostponeLookup":  func(tx *store.Tx) { tx.PostponeLookup(open) },
		"ChangeSubscription": func(tx *store.Tx) {
			tx.ChangeSubscription(sub, later)
		},
	}
}

// TestNoUnitChangesAnotherTenantsRows: whatever names a row of one tenant and another as its owner changes nothing.
func TestNoUnitChangesAnotherTenantsRows(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, foreign := env.Shop(t), env.Shop(t)
		writes := foreignWrites(t, env, shop, foreign.ID)
		rows := func() (kept []string) {
			for line := range strings.Lines(env.Dump(t)) {
				if !strings.HasPrefix(line, "audit_entries") {
					kept = append(kept, line)
				}
			}
			return kept
		}
		before := strings.Join(rows(), "")
		if _, err := env.Store.LineUpRetries(t.Context(), env.Now, store.Endpoint{TenantID: foreign.ID, ProfileID: shop.Profile.ID}, time.Hour); err != nil || strings.Join(rows(), "") != before {
			t.Errorf("LineUpRetries has changed something (%v)", err)
		}
		for name, write := range writes {
			err := env.TryWrite(t, func(tx *store.Tx) error { write(tx); return nil })
			if after := strings.Join(rows(), ""); after != before {
				t.Errorf("%s has changed something (%v)", name, err)
				before = after
			}
		}
	})
}
