package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// MailStatus is how far a mail has come.
type MailStatus string

const (
	MailPending MailStatus = "pending"
	MailSent    MailStatus = "sent"
	// MailFailed: it is not tried again, unless somebody says so.
	MailFailed MailStatus = "failed"
	// MailDropped: what it was to tell no longer holds.
	MailDropped MailStatus = "dropped"
)

// MailStatuses lists every status.
var MailStatuses = []MailStatus{MailPending, MailSent, MailFailed, MailDropped}

// Mail is a message to a payer, and its place in line. It holds nothing of the
// person: what it says is read from the payment when it is sent.
type Mail struct {
	ID       uuid.UUID
	TenantID uuid.UUID
	// Key cannot be there twice.
	Key           string
	Kind          MailKind
	TransactionID uuid.UUID
	payment.Plan
	Status MailStatus
	// AttemptCount counts all tries, FailureCount those since it was put into line,
	// UnknownCount those of them of which nobody knows whether the mail was taken.
	AttemptCount, FailureCount, UnknownCount int
	// NextAttemptAt is when it is tried, by the database's clock.
	NextAttemptAt time.Time
	// Result is what the last try came to, "" when nothing is wrong.
	Result    string
	CreatedAt time.Time
	SentAt    time.Time
	// InLineFor is how long it has been in line when it is claimed.
	InLineFor time.Duration
}

// MailKind is what a mail is about.
type MailKind string

const (
	MailAnnounced MailKind = "collection_announced"
	// MailMoved: a collection comes on another day than was announced.
	MailMoved MailKind = "collection_moved"
)

// Mails are their rows, but for who is sending one.
var Mails = db.Table[Mail]{Name: "mails", Columns: []db.Column[Mail]{
	db.Field("tenant_id", func(m *Mail) *uuid.UUID { return &m.TenantID }),
	db.Field("id", func(m *Mail) *uuid.UUID { return &m.ID }),
	db.Field("mail_key", func(m *Mail) *string { return &m.Key }),
	db.Field("kind", func(m *Mail) *MailKind { return &m.Kind }),
	db.Field("transaction_id", func(m *Mail) *uuid.UUID { return &m.TransactionID }),
	db.Custom("due_date", func(m *Mail) any { return dateInto{&m.DueDate} }, func(m *Mail) any { return date(m.DueDate) }),
	db.Field("creditor_name", func(m *Mail) *string { return &m.CreditorName }),
	db.Field("creditor_identifier", func(m *Mail) *string { return &m.CreditorIdentifier }),
	db.Field("status", func(m *Mail) *MailStatus { return &m.Status }),
	db.Field("attempt_count", func(m *Mail) *int { return &m.AttemptCount }),
	db.Field("failure_count", func(m *Mail) *int { return &m.FailureCount }),
	db.Field("unknown_count", func(m *Mail) *int { return &m.UnknownCount }),
	db.Time("next_attempt_at", func(m *Mail) *time.Time { return &m.NextAttemptAt }),
	db.Field("result", func(m *Mail) *string { return &m.Result }),
	db.Time("created_at", func(m *Mail) *time.Time { return &m.CreatedAt }),
	db.Time("sent_at", func(m *Mail) *time.Time { return &m.SentAt }),
}}

// ErrNoMail is the answer for a mail that nobody has.
var ErrNoMail = &payment.Error{Kind: payment.NotFound, Detail: "Mail not found"}

// ScanMail reads a row of Mails.
func ScanMail(r db.Rows) (m Mail, err error) { return m, r.Scan(Mails.Fields(&m)...) }

// AddMail puts a mail into line, in the unit of what it tells of. One that is only
// for changes is left out where the purchase was collected with the same amount
// before.
func (tx *Tx) AddMail(m Mail, t payment.Transaction, onlyIfChanged bool) {
	tx.Then(`
		INSERT INTO mails (tenant_id, id, mail_key, kind, transaction_id, due_date, creditor_name, creditor_identifier, status, attempt_count,
			failure_count, unknown_count, next_attempt_at, queued_at, result, leased_until, created_at)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8, 'pending', 0, 0, 0, db_now(), db_now(), '', 0, $9
		WHERE NOT CAST($10 AS boolean) OR COALESCE((SELECT p.amount_minor FROM transactions p
			WHERE p.tenant_id = $1 AND p.order_id = $11 AND p.type IN ('sdd_sale', 'sdd_rebill') AND p.id < $5 ORDER BY p.id DESC LIMIT 1), -1) <> $12`,
		m.TenantID, m.ID, m.Key, string(m.Kind), m.TransactionID, date(m.DueDate), m.CreditorName, m.CreditorIdentifier, db.Micros(tx.At),
		onlyIfChanged, orNil(t.OrderID), t.AmountMinor)
}

// ClaimMails takes mails that are due, for one sender and a time, longest due first.
// Of one that an earlier sender has taken and never told the result of, nobody knows
// whether it was sent.
func (s *Store) ClaimMails(ctx context.Context, now time.Time, lease time.Duration, limit int) (claimed []Mail, err error) {
	err = s.Write(ctx, now, func(tx *Tx) error {
		result, err := tx.Query(`
			UPDATE mails SET leased_until = db_now() + $1, attempt_count = attempt_count + 1,
				unknown_count = unknown_count + CASE WHEN leased_until > 0 THEN 1 ELSE 0 END
			WHERE (tenant_id, id) IN (SELECT m.tenant_id, m.id FROM mails m
				WHERE m.status = 'pending' AND m.next_attempt_at <= db_now() AND m.leased_until <= db_now() AND `+unlessRestored+`
				ORDER BY m.next_attempt_at LIMIT $2`+tx.SkipLocked("m")+`)
			RETURNING `+Mails.List("")+`, db_now() - queued_at`, lease.Microseconds(), limit)
		claimed, err = db.Collect(result, err, func(r db.Rows) (m Mail, err error) {
			var waited int64
			err = r.Scan(append(Mails.Fields(&m), &waited)...)
			m.InLineFor = time.Duration(waited) * time.Microsecond
			return m, err
		})
		return err
	})
	return claimed, err
}

// RecordMail writes what a try has come to, if the mail is still in line. A wait is
// how long it is left alone; it counts for one that is tried again alone.
func (tx *Tx) RecordMail(m Mail, wait time.Duration) {
	var sentAt any
	if m.Status == MailSent {
		sentAt = db.Micros(tx.At)
	}
	tx.Then(`
		UPDATE mails SET status = $3, failure_count = $4, unknown_count = $5, result = $6, leased_until = 0,
			next_attempt_at = db_now() + $7, sent_at = COALESCE(sent_at, $8)
		WHERE tenant_id = $1 AND id = $2 AND status = 'pending'`,
		m.TenantID, m.ID, string(m.Status), m.FailureCount, m.UnknownCount, m.Result, wait.Microseconds(), sentAt)
}

// ReturnMail gives a mail back that was claimed and not begun.
func (tx *Tx) ReturnMail(m Mail) {
	tx.Then(`UPDATE mails SET leased_until = 0, attempt_count = $3 WHERE tenant_id = $1 AND id = $2 AND status = 'pending' AND attempt_count = $4`,
		m.TenantID, m.ID, m.AttemptCount-1, m.AttemptCount)
}

// ResendMail puts a mail into line once more, whatever became of it. For one that is
// being sent the unit ends with ErrStale.
func (tx *Tx) ResendMail(tenantID, id uuid.UUID) {
	tx.Require(ErrStale, `
		UPDATE mails SET status = 'pending', failure_count = 0, unknown_count = 0, next_attempt_at = db_now(), queued_at = db_now(), leased_until = 0
		WHERE tenant_id = $1 AND id = $2 AND leased_until <= db_now()`, tenantID, id)
}

// Mail reads a mail.
func (t Tenant) Mail(ctx context.Context, id uuid.UUID) (Mail, error) {
	result, err := t.Query(ctx, `SELECT `+Mails.List("")+` FROM mails WHERE tenant_id = $1 AND id = $2`, id)
	found, err := db.One(result, err, ScanMail)
	if errors.Is(err, db.ErrNoRow) {
		err = ErrNoMail
	}
	return found, err
}

// MailOwner finds whose a mail is.
func (s *Store) MailOwner(ctx context.Context, id uuid.UUID) (tenantID uuid.UUID, err error) {
	return s.owner(ctx, "mails", id, ErrNoMail)
}

// MailCounts is how many mails there are that are in line or have failed, and since
// when the longest has been in line.
type MailCounts struct {
	Pending, Failed int
	OldestFor       time.Duration
}

// CountMails counts the mails of all tenants.
func (s *Store) CountMails(ctx context.Context) (MailCounts, error) {
	result, err := s.Query(ctx, `
		SELECT (SELECT COUNT(*) FROM mails WHERE status = 'pending'), (SELECT COUNT(*) FROM mails WHERE status = 'failed'),
			(SELECT db_now() - MIN(queued_at) FROM mails WHERE status = 'pending')`)
	return db.One(result, err, func(r db.Rows) (c MailCounts, err error) {
		var oldest sql.NullInt64
		err = r.Scan(&c.Pending, &c.Failed, &oldest)
		c.OldestFor = max(0, time.Duration(oldest.Int64)*time.Microsecond)
		return c, err
	})
}

// Letter is what a mail's text is made of.
type Letter struct {
	Transaction payment.Transaction
	// Language is what the payer has read the mandate in, "" when it was not read here.
	Language string
	Country  string
	// HostedPageID, OfferID and Options are those of the purchase.
	HostedPageID, OfferID *uuid.UUID
	Options               payment.SessionOptions
}

// Letter reads what a mail is about.
func (t Tenant) Letter(ctx context.Context, m Mail) (l Letter, err error) {
	if l.Transaction, err = t.Transaction(ctx, m.TransactionID); err != nil {
		return l, err
	}
	result, err := t.Query(ctx, `
		SELECT COALESCE(l.country, ''), s.hosted_page_id, s.offer_id, s.options, COALESCE((SELECT a.language FROM mandate_acceptances a
			WHERE a.tenant_id = t.tenant_id AND a.transaction_id = s.last_transaction_id), '')
		FROM transactions t
		LEFT JOIN leads l ON l.tenant_id = t.tenant_id AND l.id = t.lead_id
		LEFT JOIN orders o ON o.tenant_id = t.tenant_id AND o.id = t.order_id
		LEFT JOIN sessions s ON s.tenant_id = t.tenant_id AND s.id = o.session_id
		WHERE t.tenant_id = $1 AND t.id = $2`, m.TransactionID)
	return db.One(result, err, func(r db.Rows) (Letter, error) {
		err := r.Scan(&l.Country, &l.HostedPageID, &l.OfferID, optionsInto{&l.Options}, &l.Language)
		return l, err
	})
}
