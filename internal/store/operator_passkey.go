package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// Passkey is a second factor that a device or a key ring keeps for an operator.
type Passkey struct {
	ID         uuid.UUID
	OperatorID uuid.UUID
	Name       string
	// CredentialID is how the device calls it, Credential what is known of it: its public
	// key and how often it has signed. Neither lets anybody in.
	CredentialID string
	Credential   string
	CreatedAt    time.Time
	LastUsedAt   time.Time
}

var passkeys = db.Table[Passkey]{Name: "operator_passkeys", Columns: []db.Column[Passkey]{
	db.Field("id", func(p *Passkey) *uuid.UUID { return &p.ID }),
	db.Field("operator_id", func(p *Passkey) *uuid.UUID { return &p.OperatorID }),
	db.Field("name", func(p *Passkey) *string { return &p.Name }),
	db.Field("credential_id", func(p *Passkey) *string { return &p.CredentialID }),
	db.Field("credential", func(p *Passkey) *string { return &p.Credential }),
	db.Time("created_at", func(p *Passkey) *time.Time { return &p.CreatedAt }),
	db.Time("last_used_at", func(p *Passkey) *time.Time { return &p.LastUsedAt }),
}}

var (
	// ErrNoPasskey is the answer for a passkey that its owner does not have.
	ErrNoPasskey = &payment.Error{Kind: payment.NotFound, Detail: "Passkey not found"}
	// ErrLastPasskey keeps somebody from being left without a second factor.
	ErrLastPasskey = &payment.Error{Kind: payment.Conflict, Detail: "This is your only second factor. Add another passkey first."}
	// ErrPasskeyUsed is the answer to a passkey that signed somewhere else at the same time.
	ErrPasskeyUsed = &payment.Error{Kind: payment.Conflict, Detail: "The passkey was used at the same time. Try again."}
	// ErrNoChallenge is the answer to an answer that nobody has asked for, or not any more.
	ErrNoChallenge = &payment.Error{Kind: payment.Conflict, Detail: "The passkey was asked too long ago. Try again."}
)

// IsPasskeyTaken tells that a passkey could not be added because it is known already.
func IsPasskeyTaken(err error) bool { return db.IsKey(err, "operator_passkeys_credential_id_key") }

// Passkeys lists an operator's passkeys, the oldest first.
func (s *Store) Passkeys(ctx context.Context, operatorID uuid.UUID) ([]Passkey, error) {
	result, err := s.Query(ctx, `SELECT `+passkeys.List("")+` FROM operator_passkeys WHERE operator_id = $1 ORDER BY id`, operatorID)
	return db.Collect(result, err, func(r db.Rows) (p Passkey, err error) { return p, r.Scan(passkeys.Fields(&p)...) })
}

// AddPasskey writes a passkey.
func (tx *Tx) AddPasskey(p Passkey) {
	tx.Then(passkeys.Insert(), passkeys.Values(&p)...)
}

// UsePasskey keeps what a use has changed about a passkey: of two uses of what was read,
// one holds.
func (tx *Tx) UsePasskey(was Passkey, credential string) {
	tx.Require(ErrPasskeyUsed, `UPDATE operator_passkeys SET credential = $3, last_used_at = $4 WHERE id = $1 AND credential = $2`,
		was.ID, was.Credential, credential, db.Micros(tx.At))
}

// RemovePasskey takes one of an operator's passkeys away, unless nothing would be left to sign in with. Of two at once
// the second waits for the first, and sees what it has left.
func (tx *Tx) RemovePasskey(o Operator, id uuid.UUID) {
	tx.HoldOperator(o)
	tx.Require(ErrNoPasskey, `DELETE FROM operator_passkeys WHERE operator_id = $1 AND id = $2`, o.ID, id)
	tx.Require(ErrLastPasskey, `UPDATE operators SET updated_at = updated_at WHERE id = $1
		AND (totp_sealed <> '' OR provider_subject <> '' OR EXISTS (SELECT 1 FROM operator_passkeys WHERE operator_id = $1))`, o.ID)
}

// AskPasskey keeps what a passkey is asked in a browser's session.
func (tx *Tx) AskPasskey(sessionHash, challenge string) {
	tx.Then(`UPDATE operator_sessions SET challenge = $2 WHERE session_hash = $1`, sessionHash, challenge)
}

// AnswerPasskey ends what was asked: of two answers, one is heard.
func (tx *Tx) AnswerPasskey(session OperatorSession) {
	tx.Require(ErrNoChallenge, `UPDATE operator_sessions SET challenge = '' WHERE session_hash = $1 AND challenge = $2 AND challenge <> ''`,
		session.Hash, session.Challenge)
}
