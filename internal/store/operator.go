package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/sepa"
)

// Role is what an operator may do. Each has all that the one before has.
type Role string

const (
	// Viewer looks.
	Viewer Role = "viewer"
	// Support resends and cancels.
	Support Role = "support"
	// Finance refunds, records chargebacks, and exchanges files.
	Finance Role = "finance"
	// Administrator sets up, people included.
	Administrator Role = "admin"
)

// Roles are all of them, the least first.
var Roles = []Role{Viewer, Support, Finance, Administrator}

// Includes tells whether a role may do what another one may.
func (r Role) Includes(other Role) bool {
	mine, others := slices.Index(Roles, r), slices.Index(Roles, other)
	return others >= 0 && mine >= others
}

// OperatorStatus is how far an operator has come.
type OperatorStatus string

const (
	// OperatorInvited has a link and no password yet.
	OperatorInvited OperatorStatus = "invited"
	OperatorActive  OperatorStatus = "active"
)

// TenantSet is whom an operator works for: some tenants, or all.
type TenantSet struct {
	All bool
	IDs []uuid.UUID
}

// allTenants is how it is kept that an operator is bound to none.
const allTenants = "*"

func (t TenantSet) text() string {
	if t.All {
		return allTenants
	}
	ids := make([]string, len(t.IDs))
	for i, id := range t.IDs {
		ids[i] = id.String()
	}
	return strings.Join(ids, " ")
}

// Scan reads a stored set.
func (t *TenantSet) Scan(value any) error {
	text, _ := value.(string)
	if *t = (TenantSet{All: text == allTenants}); t.All {
		return nil
	}
	for word := range strings.FieldsSeq(text) {
		id, err := uuid.Parse(word)
		if err != nil {
			return err
		}
		t.IDs = append(t.IDs, id)
	}
	return nil
}

// Operator is a person who works with the installation.
type Operator struct {
	sepa.Masked
	ID      uuid.UUID
	Email   string
	Role    Role
	Tenants TenantSet
	Status  OperatorStatus
	// PasswordHash is "" before one is set.
	PasswordHash string
	SealedTOTP   string
	// TOTPStep is the last step of time whose code was used: none is taken twice.
	TOTPStep int64
	// ProviderSubject is how the OpenID provider calls who comes by it, "" for who has a
	// password; ProviderSeenAt is when it last vouched for them.
	ProviderSubject string
	ProviderSeenAt  time.Time
	CreatedAt       time.Time
	UpdatedAt       time.Time
}

// EmailKey is the form in which addresses are compared.
func (o Operator) EmailKey() string { return payment.Lead{Email: o.Email}.EmailKey() }

var operators = db.Table[Operator]{Name: "operators", Columns: []db.Column[Operator]{
	db.Field("id", func(o *Operator) *uuid.UUID { return &o.ID }),
	db.Field("email", func(o *Operator) *string { return &o.Email }),
	db.Field("role", func(o *Operator) *Role { return &o.Role }).Changing(),
	db.Custom("tenants", func(o *Operator) any { return &o.Tenants }, func(o *Operator) any { return o.Tenants.text() }).Changing(),
	db.Field("status", func(o *Operator) *OperatorStatus { return &o.Status }).Changing(),
	db.Field("password_hash", func(o *Operator) *string { return &o.PasswordHash }).Changing(),
	db.Field("totp_sealed", func(o *Operator) *string { return &o.SealedTOTP }).Changing(),
	db.Field("totp_step", func(o *Operator) *int64 { return &o.TOTPStep }).Changing(),
	db.Field("provider_subject", func(o *Operator) *string { return &o.ProviderSubject }).Changing(),
	db.Time("provider_seen_at", func(o *Operator) *time.Time { return &o.ProviderSeenAt }).Changing(),
	db.Time("created_at", func(o *Operator) *time.Time { return &o.CreatedAt }),
	db.Time("updated_at", func(o *Operator) *time.Time { return &o.UpdatedAt }).Changing(),
}}

func scanOperator(r db.Rows) (o Operator, err error) { return o, r.Scan(operators.Fields(&o)...) }

// ErrNoOperator is the answer for an operator that is not there.
var ErrNoOperator = &payment.Error{Kind: payment.NotFound, Detail: "Operator not found"}

// ErrOperatorChanged is the answer to a change that another one came before.
var ErrOperatorChanged = &payment.Error{Kind: payment.Conflict, Detail: "The operator was changed at the same time. Try again."}

// IsEmailTaken tells that an operator could not be added because of the address.
func IsEmailTaken(err error) bool { return db.IsKey(err, "operators_email_key_key") }

// SealCeremony seals what the device of somebody with a link is asked, while their browser
// keeps it; OpenCeremony opens it.
func (s *Store) SealCeremony(t Ticket, asked []byte) (string, error) {
	return s.vault.Seal(asked, bindCeremony(t))
}

// OpenCeremony opens what a device was asked.
func (s *Store) OpenCeremony(t Ticket, sealed string) ([]byte, error) {
	return s.vault.Open(sealed, bindCeremony(t))
}

// SealTOTP seals the secret of an operator's second factor, OpenTOTP opens it.
func (s *Store) SealTOTP(operatorID uuid.UUID, secret []byte) (string, error) {
	return s.vault.Seal(secret, bindTOTP(operatorID))
}

// OpenTOTP opens the secret of an operator's second factor.
func (s *Store) OpenTOTP(o Operator) ([]byte, error) {
	return s.vault.Open(o.SealedTOTP, bindTOTP(o.ID))
}

// Operators lists everybody, in the order of their addresses.
func (s *Store) Operators(ctx context.Context) ([]Operator, error) {
	result, err := s.Query(ctx, `SELECT `+operators.List("")+` FROM operators ORDER BY email_key`)
	return db.Collect(result, err, scanOperator)
}

// Operator finds one by id.
func (s *Store) Operator(ctx context.Context, id uuid.UUID) (Operator, error) {
	return s.operatorBy(ctx, `id = $1`, id)
}

// OperatorByEmail finds one by the address, whatever its case.
func (s *Store) OperatorByEmail(ctx context.Context, email string) (Operator, error) {
	return s.operatorBy(ctx, `email_key = $1`, Operator{Email: email}.EmailKey())
}

// OperatorBySubject finds who a provider calls so.
func (s *Store) OperatorBySubject(ctx context.Context, subject string) (Operator, error) {
	return s.operatorBy(ctx, `provider_subject = $1 AND provider_subject <> ''`, subject)
}

func (s *Store) operatorBy(ctx context.Context, condition string, value any) (Operator, error) {
	result, err := s.Query(ctx, `SELECT `+operators.List("")+` FROM operators WHERE `+condition, value)
	found, err := db.One(result, err, scanOperator)
	if errors.Is(err, db.ErrNoRow) {
		err = ErrNoOperator
	}
	return found, err
}

// AddOperator writes a new one.
func (tx *Tx) AddOperator(o Operator) {
	tx.Then(`INSERT INTO operators (`+operators.List("")+`, email_key) VALUES (`+operators.Places(1)+`, `+db.Place(len(operators.Columns)+1)+`)`,
		append(operators.Values(&o), o.EmailKey())...)
}

// ChangeOperator writes an operator in the place of the one that was read.
func (tx *Tx) ChangeOperator(was, o Operator) {
	o.UpdatedAt = tx.At
	tx.Require(ErrOperatorChanged, `UPDATE operators SET `+operators.Set(3)+` WHERE id = $1 AND updated_at = $2`,
		operators.Changes(&o, o.ID, db.Micros(was.UpdatedAt))...)
}

// HoldOperator lets a unit go on only while an operator is as it was read, and has whoever
// changes it meanwhile wait: what lets somebody in is not written beside what takes all of
// that away.
func (tx *Tx) HoldOperator(o Operator) {
	tx.Require(ErrOperatorChanged, `UPDATE operators SET updated_at = updated_at WHERE id = $1 AND updated_at = $2`, o.ID, db.Micros(o.UpdatedAt))
}

// RemoveOperator takes somebody out, with everything that lets them in.
func (tx *Tx) RemoveOperator(id uuid.UUID) {
	tx.Require(ErrNoOperator, `DELETE FROM operators WHERE id = $1`, id)
	tx.EndAccess(id)
}

// EndAccess ends an operator's sessions, tokens, passkeys and links.
func (tx *Tx) EndAccess(id uuid.UUID) {
	tx.EndSignIns(id)
	tx.Then(`DELETE FROM operator_passkeys WHERE operator_id = $1`, id)
	tx.Then(`DELETE FROM operator_tokens WHERE operator_id = $1`, id)
	tx.EndTickets(id)
}
