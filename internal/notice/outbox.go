package notice

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/notice/letter"
	"sepad/internal/payment"
	"sepad/internal/store"
)

const (
	// batch bounds how many mails are claimed for one connection.
	batch = 50
	// lease is how long a sender has for a batch before others believe it dead: as long as a job
	// may take, and the mail that is under way then.
	lease = 15 * time.Minute
	// mostUnknown is how often a mail is sent of which nobody knows whether it was
	// taken.
	mostUnknown = 2
	// unknownWait is how long one is left alone before that.
	unknownWait = 10 * time.Minute
	// longestInLine is how long a mail may be in line before it is of no use.
	longestInLine = 3 * 24 * time.Hour
	// kept is how long mails that are not in line are kept.
	kept = 90 * 24 * time.Hour
)

// waits are those between the tries at one mail, a day and a half in all: later a
// payer would hear of a debit that was made.
var waits = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 12 * time.Hour}

// Outbox sends mails that are in line.
type Outbox struct {
	Store *store.Store
	// Server is nil where no mails are sent.
	Server *Server
	// Clock is the world's.
	Clock  clock.Clock
	Logger *slog.Logger
}

// Run sends what is due, until nothing is. It says how many mails were dealt with.
func (o *Outbox) Run(ctx context.Context) (done int, err error) {
	if o.Server == nil {
		return 0, nil
	}
	for ctx.Err() == nil {
		claimed, err := o.Store.ClaimMails(ctx, o.Clock.Now(), lease, batch)
		if err != nil || len(claimed) == 0 {
			return done, err
		}
		if err := o.sendAll(ctx, claimed); err != nil {
			return done, err
		}
		done += len(claimed)
	}
	return done, ctx.Err()
}

// sendAll sends mails over one connection. What was begun is recorded, also while the
// process is stopping or a server was slow for too long. What was not is given back:
// once its time is over, nobody would know whether it was sent.
func (o *Outbox) sendAll(ctx context.Context, mails []store.Mail) error {
	recording := context.WithoutCancel(ctx)
	line := connection{outbox: o}
	defer line.close()
	var failed error
	for i, m := range mails {
		if ctx.Err() != nil {
			return errors.Join(failed, o.giveBack(recording, mails[i:]))
		}
		failed = errors.Join(failed, o.send(recording, &line, m))
	}
	return failed
}

func (o *Outbox) giveBack(ctx context.Context, mails []store.Mail) error {
	return o.Store.Write(ctx, o.Clock.Now(), func(tx *store.Tx) error {
		for _, m := range mails {
			tx.ReturnMail(m)
		}
		return nil
	})
}

// send sends one mail and records what it came to.
func (o *Outbox) send(ctx context.Context, line *connection, m store.Mail) error {
	if m.UnknownCount >= mostUnknown {
		return o.record(ctx, m, verdict{refused, "Nobody knows whether it was sent."})
	}
	setup, of, err := read(ctx, o.Store, m)
	if err != nil {
		return err // it is claimed again when the lease is over
	}
	if reason := outdated(m, of); reason != "" {
		m.Status, m.Result = store.MailDropped, reason
		return o.write(ctx, m, 0)
	}
	notices := setup.Tenant.Notices
	if notices.Sender == "" {
		return o.record(ctx, m, verdict{refused, "The tenant names no sender."})
	}
	msg, err := message(letter.Write(setup, m, of), m.ID.String(), notices.Sender, notices.ReplyTo, of.Transaction.Email, o.Clock.Now())
	if err != nil {
		return o.record(ctx, m, verdict{refused, "The mail cannot be written."})
	}
	return o.record(ctx, m, line.send(ctx, msg))
}

// outdated says why a mail must not be sent any more, "" when it may.
func outdated(m store.Mail, of store.Letter) string {
	switch {
	case m.InLineFor > longestInLine:
		return "It was in line for too long."
	case of.Transaction.IsDeclined():
		return "The collection was withdrawn."
	case of.Transaction.DueDate != m.DueDate:
		return "The collection has another day."
	case of.Transaction.Email == "":
		return "The payer's address is not known any more."
	default:
		return ""
	}
}

// record says what follows from a verdict.
func (o *Outbox) record(ctx context.Context, m store.Mail, v verdict) error {
	wait := time.Duration(0)
	m.Result = v.words
	switch v.kind {
	case taken:
		m.Status = store.MailSent
	case refused:
		m.Status = store.MailFailed
	case unknown:
		if m.UnknownCount++; m.UnknownCount >= mostUnknown {
			m.Status = store.MailFailed
		}
		wait = unknownWait
	case refusedForNow:
		if m.FailureCount == len(waits) {
			m.Status = store.MailFailed
			break
		}
		wait = waits[m.FailureCount]
		m.FailureCount++
	}
	level := slog.LevelInfo
	if m.Status == store.MailFailed {
		level = slog.LevelError
	} else if m.Status == store.MailPending {
		level = slog.LevelWarn
	}
	o.Logger.Log(ctx, level, "a mail was tried", "mail_id", m.ID, "tenant_id", m.TenantID, "transaction_id", m.TransactionID, "kind", m.Kind,
		"status", m.Status, "attempt", m.AttemptCount, "result", m.Result)
	return o.write(ctx, m, wait)
}

func (o *Outbox) write(ctx context.Context, m store.Mail, wait time.Duration) error {
	return o.Store.Write(ctx, o.Clock.Now(), func(tx *store.Tx) error {
		tx.RecordMail(m, wait)
		return nil
	})
}

// Resend puts a mail into line once more.
func Resend(ctx context.Context, st *store.Store, id uuid.UUID, now time.Time) (store.Mail, error) {
	owner, err := st.MailOwner(ctx, id)
	if err != nil {
		return store.Mail{}, err
	}
	was, err := st.Tenant(owner).Mail(ctx, id)
	if err != nil {
		return store.Mail{}, err
	}
	err = st.Write(ctx, now, func(tx *store.Tx) error {
		tx.ResendMail(owner, id)
		tx.Audit(store.Deed{
			Action: "mail.resend", ObjectType: "mail", ObjectID: id.String(), TenantID: owner,
			Before: map[string]any{"status": was.Status}, After: map[string]any{"status": store.MailPending},
		})
		return nil
	})
	if errors.Is(err, store.ErrStale) {
		return store.Mail{}, &payment.Error{Kind: payment.Conflict, Detail: "The mail is being sent."}
	}
	if err != nil {
		return store.Mail{}, err
	}
	return st.Tenant(owner).Mail(ctx, id)
}

// Tidy removes mails that nobody needs any more.
func Tidy(ctx context.Context, st *store.Store, now time.Time) error {
	return st.ForgetMails(ctx, now, now.Add(-kept))
}
