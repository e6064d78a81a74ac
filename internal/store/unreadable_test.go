package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// spoil makes columns hold what nobody can read: NULL, in spite of the schema.
func spoil(t *testing.T, env *storetest.Env, columns map[string]string) {
	t.Helper()
	for table, names := range columns {
		if env.Engine == "sqlite" { // it changes no column that is there, but copies hold whatever comes
			env.Exec(t, `ALTER TABLE `+table+` RENAME TO hidden_`+table)
			env.Exec(t, `CREATE TABLE `+table+` AS SELECT * FROM hidden_`+table)
		}
		for name := range strings.FieldsSeq(names) {
			if env.Engine == "postgres" {
				env.Exec(t, `ALTER TABLE `+table+` ALTER COLUMN `+name+` DROP NOT NULL`)
			}
			env.Exec(t, `UPDATE `+table+` SET `+name+` = NULL`)
		}
	}
}

// readsNoneOfIt are the reads that do not come by what is spoilt.
var readsNoneOfIt = []string{
	"AdoptedRefunds", "BankBlocks", "BankMatches", "BankResumedFrom", "ChargedBack", "CountAdopted", "ErasedAt", "FeedStart", "HasAssigned", "HasUnnumbered", "HeldCollections", "KnowsKeyHash", "LastBilledPeriod", "LostDebitDays", "LostDebits", "LostOfBlock", "LostOfFile", "LostRefunds", "NextBillingAfter", "NextRetry", "PaymentsBesideLostRefunds", "Presented", "RebillPauses", "RebillsBesideAdopted", "Redated", "SealedIBAN", "StrandedRefunds",
}

// TestARowThatCannotBeReadIsToldOf: whoever took it for one with nothing in it would collect nothing, or from nobody.
func TestARowThatCannotBeReadIsToldOf(t *testing.T) {
	t.Parallel()
	storetest.Each(t, testUnreadableRows)
}

func testUnreadableRows(t *testing.T, env *storetest.Env) {
	shop := env.Shop(t)
	reads := tenantReads(t, env, shop)
	spoil(t, env, map[string]string{
		"api_keys": "name", "bank_file_entries": "iban_masked", "bank_file_parts": "content_sealed", "bank_files": "name", "bank_lines": "kind",
		"bank_statement_parts": "content_sealed", "bank_statements": "name", "chargebacks": "report_type", "events": "payload", "import_rejections": "reason",
		"imports": "kind", "leads": "email", "mails": "creditor_name", "mandate_acceptances": "language", "orders": "order_number",
		"sessions": "customer_ip", "subscriptions": "currency", "tenants": "name", "transactions": "bank_name holder_name email",
	})
	scope := env.Store.Tenant(shop.ID)
	for name, read := range reads {
		if got := read(t.Context(), scope); (got != 0) != slices.Contains(readsNoneOfIt, name) {
			t.Errorf("%s finds what it cannot read, or is no exception any more", name)
		}
	}
}

// TestWhoCannotBeReadIsNotLetIn: a way in that is spoilt opens nothing, and says so.
func TestWhoCannotBeReadIsNotLetIn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, testUnreadableOperator)
}

func testUnreadableOperator(t *testing.T, env *storetest.Env) {
	o := operatorOf(t, env, "one@shop.example")
	admit(t, env, o, "one")
	asks := map[string]func() error{
		"Ticket":         func() error { _, err := env.Store.Ticket(t.Context(), "ticket one", env.Now); return err },
		"SignedIn":       func() error { _, _, err := env.Store.SignedIn(t.Context(), "session one"); return err },
		"TokenBearer":    func() error { _, _, _, err := env.Store.TokenBearer(t.Context(), "token one", env.Now); return err },
		"OperatorTokens": func() error { _, err := env.Store.OperatorTokens(t.Context(), o.ID); return err },
		"Passkeys":       func() error { _, err := env.Store.Passkeys(t.Context(), o.ID); return err },
		"Operator":       func() error { _, err := env.Store.Operator(t.Context(), o.ID); return err },
		"Operators":      func() error { _, err := env.Store.Operators(t.Context()); return err },
	}
	for name, ask := range asks {
		if err := ask(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	spoil(t, env, map[string]string{
		"operators": "role", "operator_sessions": "address", "operator_tokens": "name", "operator_passkeys": "name", "operator_tickets": "kind",
	})
	for name, ask := range asks {
		if err := ask(); err == nil {
			t.Errorf("%s reads what cannot be read", name)
		}
	}
}

// TestWhatIsDueAndCannotBeReadIsToldOf, as are the clock, a set-up's state and who is paused: whoever took them for nothing would
// do nothing, or it at another time.
func TestWhatIsDueAndCannotBeReadIsToldOf(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		env.Attempt(t, env.Session(t, shop))
		who := knows(t, env, shop, "unreadable")
		env.Write(t, func(tx *store.Tx) error {
			tx.PauseRebills(payment.RebillPause{TenantID: shop.ID, GatewayID: shop.Gateway.ID, Reason: payment.PausedByCreditorCode, Since: env.Now})
			return nil
		})
		asks := map[string]func() error{
			"LookupsDue":   func() error { _, err := env.Store.LookupsDue(t.Context(), env.Now.AddDate(1, 0, 0), 10); return err },
			"RebillPauses": func() error { _, err := env.Store.RebillPauses(t.Context()); return err },
			"SetupVersion": func() error { _, err := env.Store.SetupVersion(t.Context(), shop.ID); return err },
			"ClockOffset":  func() error { _, err := env.Store.ClockOffset(t.Context()); return err },
			"Environment":  func() error { return env.Store.CheckEnvironment(t.Context(), merchant.Sandbox) },
			"Erase": func() error {
				return erase(t, env, shop.ID, who.lead.ID, func(payload string) (string, error) { return payload, nil })
			},
		}
		for name, ask := range asks {
			if err := ask(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		spoil(t, env, map[string]string{
			"transactions": "type", "rebill_pauses": "reason", "tenants": "setup_version", "service_clock": "offset_us", "events": "payload", "deployment": "environment",
		})
		for name, ask := range asks {
			if err := ask(); err == nil {
				t.Errorf("%s reads what cannot be read", name)
			}
		}
	})
}

// TestWhatIsLookedUpAndCannotBeReadIsToldOf: whose a record is, what was made under a key, whose pages may ask, what is billed, and
// where the trail of what was done ends.
func TestWhatIsLookedUpAndCannotBeReadIsToldOf(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		env.Settled(t, shop, storetest.WithTerms(storetest.Monthly))
		key := store.RequestKey{Scope: shop.ID, Key: "key", RequestHash: "hash", At: env.Now}
		env.Write(t, func(tx *store.Tx) error {
			tx.Remember(key, payment.NewID())
			tx.Audit(store.Deed{Action: "gateway.change", ObjectType: "gateway", ObjectID: shop.Gateway.ID.String(), TenantID: shop.ID})
			return nil
		})
		if _, err := env.Store.ChainAudit(t.Context()); err != nil {
			t.Fatal(err)
		}
		asks := map[string]func() error{
			"AllowedOrigins": func() error { _, err := env.Store.AllowedOrigins(t.Context(), shop.Number); return err },
			"RecordOwner":    func() error { _, _, _, err := env.Store.RecordOwner(t.Context(), shop.Gateway.ID); return err },
			"Remembered":     func() error { _, err := env.Store.Remembered(t.Context(), key); return err },
			"SubscriptionsDue": func() error {
				_, err := env.Store.SubscriptionsDue(t.Context(), env.Now.AddDate(1, 0, 0), 10)
				return err
			},
			"VerifyAudit": func() error { _, _, err := env.Store.VerifyAudit(t.Context()); return err },
		}
		for name, ask := range asks {
			if err := ask(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		spoil(t, env, map[string]string{
			"tenants": "allowed_origins", "setup_records": "kind", "idempotency_keys": "request_hash", "subscriptions": "currency", "audit_chain": "head",
		})
		for name, ask := range asks {
			if err := ask(); err == nil {
				t.Errorf("%s reads what cannot be read", name)
			}
		}
	})
}

// TestAnEndpointOfNobodyIsNotGiven: what its work would begin with is not there.
func TestAnEndpointOfNobodyIsNotGiven(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		e := store.Endpoint{TenantID: uuid.New(), ProfileID: uuid.New()}
		if _, ok, err := env.Store.LeaseEndpoint(t.Context(), e, uuid.New(), env.Now, time.Minute); ok || err == nil {
			t.Errorf("given: %v, %v", ok, err)
		}
	})
}

// TestBytesThatCannotBeReadAreNotTheEndOfAFile: a file would be sent without them.
func TestBytesThatCannotBeReadAreNotTheEndOfAFile(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		file := fileWith(t, env, store.BankFileClosed, awaitingFile(t, env, shop))
		env.Write(t, func(tx *store.Tx) error { tx.AddBankPart(file, 1, "sealed"); return nil })
		spoil(t, env, map[string]string{"bank_file_parts": "content_sealed"})
		if sealed, err := env.Store.Tenant(shop.ID).BankPart(t.Context(), file, 1); err == nil {
			t.Errorf("the part is %q", sealed)
		}
	})
}
