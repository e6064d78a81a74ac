package store

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/sepa"
)

// TicketKind is what a link is for.
type TicketKind string

const (
	// TicketWelcome lets somebody set a password and a second factor.
	TicketWelcome TicketKind = "welcome"
	// TicketSignIn signs in at once; only a sandbox has such links.
	TicketSignIn TicketKind = "sign-in"
)

// Ticket is a link that opens once. It is kept by the hash of what it carries.
type Ticket struct {
	Hash       string
	OperatorID uuid.UUID
	Kind       TicketKind
	ExpiresAt  time.Time
}

// ErrNoTicket is the answer to a link that opens nothing, any more or ever.
var ErrNoTicket = &payment.Error{Kind: payment.Gone, Detail: "This link has been used, or its time is over."}

// AddTicket makes a link, in the place of any that the operator had.
func (tx *Tx) AddTicket(t Ticket) {
	tx.Then(`DELETE FROM operator_tickets WHERE operator_id = $1 OR expires_at <= $2`, t.OperatorID, db.Micros(tx.At))
	tx.Then(`INSERT INTO operator_tickets (ticket_hash, operator_id, kind, expires_at) VALUES ($1, $2, $3, $4)`,
		t.Hash, t.OperatorID, string(t.Kind), db.Micros(t.ExpiresAt))
}

// Ticket finds a link that is still good.
func (s *Store) Ticket(ctx context.Context, hash string, now time.Time) (Ticket, error) {
	result, err := s.Query(ctx, `
		SELECT ticket_hash, operator_id, kind, expires_at FROM operator_tickets WHERE ticket_hash = $1 AND expires_at > $2`, hash, db.Micros(now))
	found, err := db.One(result, err, func(r db.Rows) (t Ticket, err error) {
		return t, r.Scan(&t.Hash, &t.OperatorID, &t.Kind, db.Instant{To: &t.ExpiresAt})
	})
	if errors.Is(err, db.ErrNoRow) {
		err = ErrNoTicket
	}
	return found, err
}

// UseTicket ends a link. Of two who open it, one does.
func (tx *Tx) UseTicket(t Ticket) {
	tx.Require(ErrNoTicket, `DELETE FROM operator_tickets WHERE ticket_hash = $1`, t.Hash)
}

// EndTickets ends the links of an operator.
func (tx *Tx) EndTickets(operatorID uuid.UUID) {
	tx.Then(`DELETE FROM operator_tickets WHERE operator_id = $1`, operatorID)
}

// OperatorSession is a browser in which somebody is signed in. It is kept by the hash
// of what its cookie carries.
type OperatorSession struct {
	sepa.Masked
	Hash       string
	OperatorID uuid.UUID
	// IsWhole tells that the second factor was given too; before that nothing is open.
	IsWhole   bool
	Address   string
	CreatedAt time.Time
	SeenAt    time.Time
	// EndsAt is when it ends, however busy it is.
	EndsAt time.Time
	// Challenge is what a passkey is being asked, "" for nothing.
	Challenge string
}

var operatorSessions = db.Table[OperatorSession]{Name: "operator_sessions", Columns: []db.Column[OperatorSession]{
	db.Field("session_hash", func(s *OperatorSession) *string { return &s.Hash }),
	db.Field("operator_id", func(s *OperatorSession) *uuid.UUID { return &s.OperatorID }),
	db.Field("is_whole", func(s *OperatorSession) *bool { return &s.IsWhole }),
	db.Field("address", func(s *OperatorSession) *string { return &s.Address }),
	db.Time("created_at", func(s *OperatorSession) *time.Time { return &s.CreatedAt }),
	db.Time("seen_at", func(s *OperatorSession) *time.Time { return &s.SeenAt }),
	db.Time("ends_at", func(s *OperatorSession) *time.Time { return &s.EndsAt }),
	db.Field("challenge", func(s *OperatorSession) *string { return &s.Challenge }),
}}

// ErrNoSignIn is the answer for a session that is not there, or has ended.
var ErrNoSignIn = &payment.Error{Kind: payment.NotFound, Detail: "You are not signed in."}

// AddSignIn signs a browser in, and forgets sessions whose time is over.
func (tx *Tx) AddSignIn(s OperatorSession) {
	tx.Then(`DELETE FROM operator_sessions WHERE ends_at <= $1`, db.Micros(tx.At))
	tx.Then(operatorSessions.Insert(), operatorSessions.Values(&s)...)
}

// SignedIn finds a session and whose it is.
func (s *Store) SignedIn(ctx context.Context, hash string) (session OperatorSession, o Operator, err error) {
	result, err := s.Query(ctx, `
		SELECT `+operatorSessions.List("s")+`, `+operators.List("o")+`
		FROM operator_sessions s JOIN operators o ON o.id = s.operator_id WHERE s.session_hash = $1`, hash)
	_, err = db.One(result, err, func(r db.Rows) (struct{}, error) {
		return struct{}{}, r.Scan(append(operatorSessions.Fields(&session), operators.Fields(&o)...)...)
	})
	if errors.Is(err, db.ErrNoRow) {
		err = ErrNoSignIn
	}
	return session, o, err
}

// SeeSignIn notes that a session is in use.
func (tx *Tx) SeeSignIn(hash string) {
	tx.Then(`UPDATE operator_sessions SET seen_at = $2 WHERE session_hash = $1`, hash, db.Micros(tx.At))
}

// EndSignIn signs a browser out.
func (tx *Tx) EndSignIn(hash string) {
	tx.Then(`DELETE FROM operator_sessions WHERE session_hash = $1`, hash)
}

// EndSignIns signs an operator out everywhere.
func (tx *Tx) EndSignIns(operatorID uuid.UUID) {
	tx.Then(`DELETE FROM operator_sessions WHERE operator_id = $1`, operatorID)
}

// OperatorToken lets a program act for an operator. It is kept by its hash.
type OperatorToken struct {
	ID         uuid.UUID
	OperatorID uuid.UUID
	Name       string
	Hash       string
	CreatedAt  time.Time
	ExpiresAt  time.Time
	LastUsedAt time.Time
}

var operatorTokens = db.Table[OperatorToken]{Name: "operator_tokens", Columns: []db.Column[OperatorToken]{
	db.Field("id", func(t *OperatorToken) *uuid.UUID { return &t.ID }),
	db.Field("operator_id", func(t *OperatorToken) *uuid.UUID { return &t.OperatorID }),
	db.Field("name", func(t *OperatorToken) *string { return &t.Name }),
	db.Field("token_hash", func(t *OperatorToken) *string { return &t.Hash }),
	db.Time("created_at", func(t *OperatorToken) *time.Time { return &t.CreatedAt }),
	db.Time("expires_at", func(t *OperatorToken) *time.Time { return &t.ExpiresAt }),
	db.Time("last_used_at", func(t *OperatorToken) *time.Time { return &t.LastUsedAt }),
}}

// ErrNoToken is the answer for a token that its owner does not have.
var ErrNoToken = &payment.Error{Kind: payment.NotFound, Detail: "Token not found"}

// AddToken writes a token.
func (tx *Tx) AddToken(t OperatorToken) {
	tx.Then(operatorTokens.Insert(), operatorTokens.Values(&t)...)
}

// RevokeToken ends one of an operator's tokens.
func (tx *Tx) RevokeToken(operatorID, id uuid.UUID) {
	tx.Require(ErrNoToken, `DELETE FROM operator_tokens WHERE operator_id = $1 AND id = $2`, operatorID, id)
}

// UseToken notes that a token is in use.
func (tx *Tx) UseToken(id uuid.UUID) {
	tx.Then(`UPDATE operator_tokens SET last_used_at = $2 WHERE id = $1`, id, db.Micros(tx.At))
}

// OperatorTokens lists an operator's tokens, the newest first.
func (s *Store) OperatorTokens(ctx context.Context, operatorID uuid.UUID) ([]OperatorToken, error) {
	result, err := s.Query(ctx, `SELECT `+operatorTokens.List("")+` FROM operator_tokens WHERE operator_id = $1 ORDER BY id DESC`, operatorID)
	return db.Collect(result, err, func(r db.Rows) (t OperatorToken, err error) { return t, r.Scan(operatorTokens.Fields(&t)...) })
}

// TokenBearer finds a token that is good, and whose it is.
func (s *Store) TokenBearer(ctx context.Context, hash string, now time.Time) (t OperatorToken, o Operator, found bool, err error) {
	result, err := s.Query(ctx, `
		SELECT `+operatorTokens.List("t")+`, `+operators.List("o")+`
		FROM operator_tokens t JOIN operators o ON o.id = t.operator_id WHERE t.token_hash = $1 AND t.expires_at > $2`, hash, db.Micros(now))
	_, err = db.One(result, err, func(r db.Rows) (struct{}, error) {
		return struct{}{}, r.Scan(append(operatorTokens.Fields(&t), operators.Fields(&o)...)...)
	})
	if errors.Is(err, db.ErrNoRow) {
		return t, o, false, nil
	}
	return t, o, err == nil, err
}
