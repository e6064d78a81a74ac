package store

import (
	"context"
	"errors"
	"time"

	"sepad/internal/gateway/sandbox"
)

// SandboxLedger is the sandbox gateway's memory. It lies in the same database
// for convenience, but belongs to the gateway: no foreign key leads here, and
// nothing of ours is decided by reading it except through the gateway's answers.
type SandboxLedger struct{ store *Store }

// SandboxLedger gives the ledger of this database.
func (s *Store) SandboxLedger() SandboxLedger { return SandboxLedger{s} }

const ledgerColumns = `tenant_id, account_id, merchant_transaction_id, reference, verification_reference, outcome, state,
	type, amount_minor, currency, mandate_reference, merchant_name, return_url, received_at, decided_at, settles_at,
	chargeback_at, notify_at`

func scanEntry(r rows) (sandbox.Entry, error) {
	var e sandbox.Entry
	return e, r.Scan(&e.TenantID, &e.AccountID, &e.MerchantTransactionID, &e.Reference, &e.VerificationReference,
		&e.Outcome, &e.State, &e.Type, &e.AmountMinor, &e.Currency, &e.MandateReference, &e.MerchantName, &e.ReturnURL,
		instant{&e.ReceivedAt}, instant{&e.DecidedAt}, instant{&e.SettlesAt}, instant{&e.ChargebackAt}, instant{&e.NotifyAt})
}

// Insert records a payment unless its key is taken.
func (l SandboxLedger) Insert(ctx context.Context, e sandbox.Entry) (sandbox.Entry, bool, error) {
	err := l.store.Write(ctx, e.ReceivedAt, func(tx *Tx) error {
		tx.Relax()
		tx.require(ErrStale, `
			INSERT INTO sandbox_payments (`+ledgerColumns+`)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
			ON CONFLICT (tenant_id, account_id, merchant_transaction_id) DO NOTHING`,
			e.TenantID, e.AccountID, e.MerchantTransactionID, e.Reference, e.VerificationReference, string(e.Outcome),
			string(e.State), string(e.Type), e.AmountMinor, e.Currency, e.MandateReference, e.MerchantName, e.ReturnURL,
			micros(e.ReceivedAt), micros(e.DecidedAt), micros(e.SettlesAt), micros(e.ChargebackAt), micros(e.NotifyAt))
		return nil
	})
	if err == nil {
		return e, true, nil
	}
	if !errors.Is(err, ErrStale) {
		return sandbox.Entry{}, false, err
	}
	stored, _, err := l.Find(ctx, e.Key)
	return stored, false, err
}

// Find gives a payment, and false when it never arrived.
func (l SandboxLedger) Find(ctx context.Context, key sandbox.Key) (sandbox.Entry, bool, error) {
	result, err := l.store.engine.query(ctx, `SELECT `+ledgerColumns+` FROM sandbox_payments
		WHERE tenant_id = $1 AND account_id = $2 AND merchant_transaction_id = $3`,
		key.TenantID, key.AccountID, key.MerchantTransactionID)
	return foundEntry(result, err)
}

// FindByVerification gives the payment of a bank page.
func (l SandboxLedger) FindByVerification(ctx context.Context, reference string) (sandbox.Entry, bool, error) {
	result, err := l.store.engine.query(ctx, `SELECT `+ledgerColumns+` FROM sandbox_payments
		WHERE verification_reference = $1 AND verification_reference <> ''`, reference)
	return foundEntry(result, err)
}

func foundEntry(result rows, err error) (sandbox.Entry, bool, error) {
	entry, err := one(result, err, scanEntry)
	if IsNotFound(err) {
		return sandbox.Entry{}, false, nil
	}
	return entry, err == nil, err
}

// Decide changes a state, if it is still the one that the decision came from.
func (l SandboxLedger) Decide(ctx context.Context, key sandbox.Key, from, to sandbox.State, at time.Time) (bool, error) {
	err := l.store.Write(ctx, at, func(tx *Tx) error {
		tx.Relax()
		tx.require(ErrStale, `
			UPDATE sandbox_payments SET state = $5, decided_at = $6
			WHERE tenant_id = $1 AND account_id = $2 AND merchant_transaction_id = $3 AND state = $4`,
			key.TenantID, key.AccountID, key.MerchantTransactionID, string(from), string(to), micros(at))
		return nil
	})
	if errors.Is(err, ErrStale) {
		return false, nil
	}
	return err == nil, err
}

// Entries gives every payment of the ledger, for tests that hold it against our
// own records.
func (l SandboxLedger) Entries(ctx context.Context) ([]sandbox.Entry, error) {
	result, err := l.store.engine.query(ctx, `SELECT `+ledgerColumns+` FROM sandbox_payments ORDER BY received_at`)
	return collect(result, err, scanEntry)
}
