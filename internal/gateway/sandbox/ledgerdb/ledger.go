// Package ledgerdb keeps the sandbox gateway's ledger in a database.
package ledgerdb

import (
	"context"
	"errors"
	"strings"
	"time"

	"sepad/internal/db"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/vault"
)

// Ledger is the sandbox gateway's memory. It lies in the same database for
// convenience, but belongs to the gateway: no foreign key leads here, and nothing
// of ours is decided by reading it except through the gateway's answers.
type Ledger struct {
	db    *db.DB
	vault *vault.Vault
}

// New gives the ledger that lies in a database. The way back to the payment page has
// the session's token in it, which no copy of the database may show: the vault seals
// it.
func New(database *db.DB, keys *vault.Vault) Ledger { return Ledger{database, keys} }

func bindReturn(key sandbox.Key) vault.Binding {
	return vault.Purpose(key.TenantID, "sandbox_return").In(key.AccountID.String() + " " + key.MerchantTransactionID)
}

// sealReturn hides an address, unless older programs may read it.
func (l Ledger) sealReturn(e sandbox.Entry) (string, error) {
	if e.ReturnURL == "" || !l.vault.BindsRows() {
		return e.ReturnURL, nil
	}
	return l.vault.Seal([]byte(e.ReturnURL), bindReturn(e.Key))
}

// openReturn gives an address. One whose key is gone is none: the payer then comes
// back by other ways.
func (l Ledger) openReturn(e *sandbox.Entry) {
	if e.ReturnURL == "" || strings.Contains(e.ReturnURL, "://") { // which no sealed text has
		return
	}
	opened, _ := l.vault.Open(e.ReturnURL, bindReturn(e.Key))
	e.ReturnURL = string(opened)
}

// errUnmet says that a payment is not in the state that a change rests on.
var errUnmet = errors.New("ledgerdb: changed in the meantime")

const ledgerColumns = `tenant_id, account_id, merchant_transaction_id, reference, verification_reference, outcome, state,
	type, amount_minor, currency, mandate_reference, merchant_name, return_url, received_at, decided_at, settles_at,
	chargeback_at, notify_at`

func (l Ledger) scanEntry(r db.Rows) (e sandbox.Entry, err error) {
	err = r.Scan(&e.TenantID, &e.AccountID, &e.MerchantTransactionID, &e.Reference, &e.VerificationReference,
		&e.Outcome, &e.State, &e.Type, &e.AmountMinor, &e.Currency, &e.MandateReference, &e.MerchantName, &e.ReturnURL,
		db.Instant{To: &e.ReceivedAt}, db.Instant{To: &e.DecidedAt}, db.Instant{To: &e.SettlesAt}, db.Instant{To: &e.ChargebackAt}, db.Instant{To: &e.NotifyAt})
	l.openReturn(&e)
	return e, err
}

// Insert records a payment unless its key is taken.
func (l Ledger) Insert(ctx context.Context, e sandbox.Entry) (sandbox.Entry, bool, error) {
	back, err := l.sealReturn(e)
	if err != nil {
		return sandbox.Entry{}, false, err
	}
	err = l.db.Write(ctx, e.ReceivedAt, func(tx *db.Tx) error {
		tx.Relax()
		tx.Require(errUnmet, `
			INSERT INTO sandbox_payments (`+ledgerColumns+`)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
			ON CONFLICT (tenant_id, account_id, merchant_transaction_id) DO NOTHING`,
			e.TenantID, e.AccountID, e.MerchantTransactionID, e.Reference, e.VerificationReference, string(e.Outcome),
			string(e.State), string(e.Type), e.AmountMinor, e.Currency, e.MandateReference, e.MerchantName, back,
			db.Micros(e.ReceivedAt), db.Micros(e.DecidedAt), db.Micros(e.SettlesAt), db.Micros(e.ChargebackAt), db.Micros(e.NotifyAt))
		return nil
	})
	if err == nil {
		return e, true, nil
	}
	if !errors.Is(err, errUnmet) {
		return sandbox.Entry{}, false, err
	}
	stored, _, err := l.Find(ctx, e.Key)
	return stored, false, err
}

// Find gives a payment, and false when it never arrived.
func (l Ledger) Find(ctx context.Context, key sandbox.Key) (sandbox.Entry, bool, error) {
	result, err := l.db.Query(ctx, `SELECT `+ledgerColumns+` FROM sandbox_payments
		WHERE tenant_id = $1 AND account_id = $2 AND merchant_transaction_id = $3`,
		key.TenantID, key.AccountID, key.MerchantTransactionID)
	return l.foundEntry(result, err)
}

// FindByVerification gives the payment of a bank page.
func (l Ledger) FindByVerification(ctx context.Context, reference string) (sandbox.Entry, bool, error) {
	result, err := l.db.Query(ctx, `SELECT `+ledgerColumns+` FROM sandbox_payments
		WHERE verification_reference = $1 AND verification_reference <> ''`, reference)
	return l.foundEntry(result, err)
}

func (l Ledger) foundEntry(result db.Rows, err error) (sandbox.Entry, bool, error) {
	entry, err := db.One(result, err, l.scanEntry)
	if errors.Is(err, db.ErrNoRow) {
		return sandbox.Entry{}, false, nil
	}
	return entry, err == nil, err
}

// Decide changes a state, if it is still the one that the decision came from.
func (l Ledger) Decide(ctx context.Context, key sandbox.Key, from, to sandbox.State, at time.Time) (bool, error) {
	err := l.db.Write(ctx, at, func(tx *db.Tx) error {
		tx.Relax()
		tx.Require(errUnmet, `
			UPDATE sandbox_payments SET state = $5, decided_at = $6
			WHERE tenant_id = $1 AND account_id = $2 AND merchant_transaction_id = $3 AND state = $4`,
			key.TenantID, key.AccountID, key.MerchantTransactionID, string(from), string(to), db.Micros(at))
		return nil
	})
	if errors.Is(err, errUnmet) {
		return false, nil
	}
	return err == nil, err
}

// Entries gives every payment of the ledger, for tests that hold it against our
// own records.
func (l Ledger) Entries(ctx context.Context) ([]sandbox.Entry, error) {
	result, err := l.db.Query(ctx, `SELECT `+ledgerColumns+` FROM sandbox_payments ORDER BY received_at`)
	return db.Collect(result, err, l.scanEntry)
}
