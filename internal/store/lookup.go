package store

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/db"
	"sepad/internal/merchant"
	"sepad/internal/payment"
)

// This file holds every read that does not start from a tenant. Each of them
// either finds the tenant (a token, a key), or gives the work that is due
// anywhere, as pairs of tenant and id that the caller then reads by tenant. The
// one exception is the evidence of mandates (mandate.go).

var (
	sessionByToken = `
		SELECT ` + Sessions.List("s") + `, ` + Leads.List("l") + `, n.setup_version
		FROM tenants n
		JOIN sessions s ON s.tenant_id = n.id
		JOIN leads l ON l.tenant_id = s.tenant_id AND l.id = s.lead_id
		WHERE n.number = $1 AND s.token IN ($2, $3)`
	sessionByTokenColumns = len(Sessions.Columns) + len(Leads.Columns) + 1
)

// SessionByToken finds a session; the token carries the tenant's number, so
// that the look-up touches one tenant's rows. While tokens may lie open for older
// programs, it is looked for in both forms.
func (s *Store) SessionByToken(ctx context.Context, token string) (Found, error) {
	number, ok := payment.TokenTenant(token)
	if !ok {
		return Found{}, payment.ErrSessionNotFound
	}
	key := TokenKey(token)
	older := key
	if !s.tokensHidden.Load() {
		older = token
	}
	result, err := s.LookUp(ctx, sessionByToken, int64(number), key, older)
	found, err := db.One(result, err, func(r db.Rows) (Found, error) {
		f := Found{Session: payment.Session{Token: token}}
		into := Sessions.AppendFields(make([]any, 0, sessionByTokenColumns), &f.Session)
		err := r.Scan(append(Leads.AppendFields(into, &f.Lead), &f.SetupVersion)...)
		return f, err
	})
	if errors.Is(err, db.ErrNoRow) {
		return Found{}, payment.ErrSessionNotFound
	}
	return found, err
}

// CredentialByKeyHash finds an API key that has not been revoked. It is asked on
// every call that does or shows something in the key's name; others may trust a key for a
// moment (TrustedCredential), and one that rests on the key in the database as well
// may recall it (RecallCredential).
func (s *Store) CredentialByKeyHash(ctx context.Context, keyHash string) (c Credential, found bool, err error) {
	trust := clock.Within(clock.Own{}, KeyTrust) // counted from before the question
	result, err := s.LookUp(ctx, `
		SELECT k.id, k.tenant_id, n.number, n.setup_version, k.scopes FROM api_keys k JOIN tenants n ON n.id = k.tenant_id
		WHERE k.key_hash = $1 AND k.revoked_at IS NULL`, keyHash)
	c, err = db.One(result, err, func(r db.Rows) (Credential, error) {
		var v Credential
		var number int64
		err := r.Scan(&v.KeyID, &v.TenantID, &number, &v.SetupVersion, &v.Scopes)
		v.TenantNumber = uint32(number)
		return v, err
	})
	if err != nil && !errors.Is(err, db.ErrNoRow) {
		return Credential{}, false, err
	}
	found = err == nil
	s.noteCredential(keyHash, foundCredential{c, trust}, found)
	return c, found, nil
}

// AllowedOrigins reads whose pages may call for sessions of the tenant with a number,
// which their tokens carry. A number that nobody has admits all, and finds nothing.
func (s *Store) AllowedOrigins(ctx context.Context, number uint32) (merchant.Origins, error) {
	result, err := s.LookUp(ctx, `SELECT allowed_origins FROM tenants WHERE number = $1`, int64(number))
	origins, err := db.One(result, err, func(r db.Rows) (o merchant.Origins, err error) { return o, r.Scan(&o) })
	if errors.Is(err, db.ErrNoRow) {
		return "", nil
	}
	return origins, err
}

// Due names something of a tenant that is due, and since when.
type Due struct {
	TenantID uuid.UUID
	ID       uuid.UUID
	At       time.Time
	// Type is what a transaction that is due does.
	Type payment.TransactionType
}

func scanDue(r db.Rows) (d Due, err error) {
	return d, r.Scan(&d.TenantID, &d.ID, db.Instant{To: &d.At})
}

func scanDueTransaction(r db.Rows) (d Due, err error) {
	return d, r.Scan(&d.TenantID, &d.ID, db.Instant{To: &d.At}, &d.Type)
}

// SessionsDue gives sessions whose time has run out, oldest first. Those with
// an answer outstanding wait for it.
func (s *Store) SessionsDue(ctx context.Context, now time.Time, limit int) ([]Due, error) {
	result, err := s.Query(ctx, `
		SELECT tenant_id, id, expires_at FROM sessions
		WHERE status IN ('PENDING', 'AWAITING_VERIFICATION') AND expires_at <= $1 AND open_transaction_id IS NULL
		ORDER BY expires_at LIMIT $2`, db.Micros(now), limit)
	return db.Collect(result, err, scanDue)
}

// SettlementsDue gives pending transactions whose gateway is to be asked. Of those
// that are at a bank, silence tells (SilentDue).
func (s *Store) SettlementsDue(ctx context.Context, now time.Time, limit int) ([]Due, error) {
	result, err := s.Query(ctx, `
		SELECT t.tenant_id, t.id, t.settle_due_at, t.type FROM transactions t
		WHERE t.settle_due_at IS NOT NULL AND t.settle_due_at <= $1 AND NOT `+isAtBank+` ORDER BY t.settle_due_at LIMIT $2`, db.Micros(now), limit)
	return db.Collect(result, err, scanDueTransaction)
}

// LookupsDue gives open attempts whose gateway may be asked at an instant of the
// database's clock.
func (s *Store) LookupsDue(ctx context.Context, at time.Time, limit int) ([]Due, error) {
	result, err := s.Query(ctx, `
		SELECT tenant_id, id, next_lookup_at, type FROM transactions
		WHERE in_flight IS NOT NULL AND next_lookup_at <= $1 ORDER BY next_lookup_at LIMIT $2`, db.Micros(at), limit)
	return db.Collect(result, err, scanDueTransaction)
}

// OpenRebills gives the rebills of which the gateway did not say what became of
// them, and whose sender has given up, or has died and may not send any more.
func (s *Store) OpenRebills(ctx context.Context) ([]Due, error) {
	result, err := s.Query(ctx, `
		SELECT tenant_id, id, next_lookup_at, type FROM transactions
		WHERE in_flight IS NOT NULL AND type = 'sdd_rebill' AND (lookup_count > 0 OR next_lookup_at <= db_now()) ORDER BY next_lookup_at`)
	return db.Collect(result, err, scanDueTransaction)
}

// SweepsUnderWay tells whether a sweep waits for the answer of a gateway: about a rebill that
// it has sent, or about a payment that nobody verified in time. Where the silence is over the
// sender is taken for dead.
func (s *Store) SweepsUnderWay(ctx context.Context) (bool, error) {
	result, err := s.Query(ctx, `
		SELECT EXISTS (SELECT 1 FROM transactions WHERE in_flight IS NOT NULL AND next_lookup_at > db_now()
			AND lookup_count = 0 AND (type = 'sdd_rebill' OR in_flight = $1))`, string(payment.PhaseExpire))
	return db.One(result, err, func(r db.Rows) (found bool, err error) { return found, r.Scan(&found) })
}

// UnknownOutcomes counts attempts whose gateway did not say what became of them.
func (s *Store) UnknownOutcomes(ctx context.Context) (int, error) {
	result, err := s.Query(ctx, `
		SELECT COUNT(*) FROM transactions WHERE in_flight IS NOT NULL AND lookup_count > 0`)
	return db.One(result, err, func(r db.Rows) (n int, err error) { return n, r.Scan(&n) })
}

// SetupVersion is the present state of a tenant's set-up.
func (s *Store) SetupVersion(ctx context.Context, tenantID uuid.UUID) (int64, error) {
	if !reaches(ctx, tenantID) {
		return 0, errForeign
	}
	result, err := s.Query(ctx, `SELECT setup_version FROM tenants WHERE id = $1`, tenantID)
	return db.One(result, err, func(r db.Rows) (v int64, err error) { return v, r.Scan(&v) })
}

// AccountsAt gives the active accounts of all tenants at the gateways of an adapter,
// which their documents name.
func (s *Store) AccountsAt(ctx context.Context, adapter string) ([]BankDue, error) {
	result, err := s.Query(ctx, `SELECT tenant_id, id FROM setup_records WHERE kind = 'gateway' AND active AND document LIKE $1
		ORDER BY tenant_id, id`, `%"adapter":"`+adapter+`",%`)
	return db.Collect(result, err, scanBankDue)
}

// CollectionsEnded gives rebills that were announced and are in no bank's hands, and
// whose subscriptions are not billed any more. After a restore a bank may have what seems to be in no file.
func (s *Store) CollectionsEnded(ctx context.Context, limit int) ([]Due, error) {
	const open = ` AND t.id = u.open_transaction_id AND t.type = 'sdd_rebill' AND t.status = 'pending' AND t.due_date IS NOT NULL AND ` + waits +
		` AND ` + isProven + ` AND ` + notAdopted
	// Those that ended are found from their subscriptions, which an index has, those
	// that are paused among what waits for files.
	result, err := s.Query(ctx, `
		SELECT t.tenant_id, t.id, t.settle_due_at, t.type FROM subscriptions u JOIN transactions t ON t.tenant_id = u.tenant_id
		WHERE u.open_transaction_id IS NOT NULL AND u.status NOT IN ('ACTIVE', 'PAST_DUE')`+open+`
		UNION
		SELECT t.tenant_id, t.id, t.settle_due_at, t.type FROM transactions t JOIN subscriptions u ON u.tenant_id = t.tenant_id AND u.id = t.subscription_id
		WHERE u.paused_at IS NOT NULL`+open+`
		ORDER BY 2 LIMIT $1`, limit)
	return db.Collect(result, err, scanDueTransaction)
}

// RebillPauses reads the pauses of all gateway accounts.
func (s *Store) RebillPauses(ctx context.Context) ([]payment.RebillPause, error) {
	result, err := s.Query(ctx, `SELECT `+pauseColumns+` FROM rebill_pauses ORDER BY since, gateway_id`)
	all, err := db.Collect(result, err, scanPause)
	return reached(ctx, all, err, func(p payment.RebillPause) uuid.UUID { return p.TenantID })
}

// NextDue is when, after an instant, the next session runs out, pending payment is
// to be settled, or subscription is to be billed or tried again, and false when
// nothing will.
func (s *Store) NextDue(ctx context.Context, after time.Time) (at time.Time, found bool, err error) {
	past := int64(math.MinInt64) // an instant that was not given is NULL, after which nothing comes
	if !after.IsZero() {
		past = after.UnixMicro()
	}
	result, err := s.Query(ctx, `
		SELECT MIN(due) FROM (
			SELECT MIN(expires_at) AS due FROM sessions
			WHERE status IN ('PENDING', 'AWAITING_VERIFICATION') AND open_transaction_id IS NULL AND expires_at > $1
			UNION ALL
			SELECT MIN(settle_due_at) FROM transactions WHERE settle_due_at IS NOT NULL AND settle_due_at > $1
			UNION ALL
			SELECT MIN(due_at) FROM subscriptions WHERE due_at IS NOT NULL AND due_at > $1
			UNION ALL
			SELECT MIN(paused_until) FROM rebill_pauses WHERE paused_until > $1) AS next`, past)
	at, err = db.One(result, err, func(r db.Rows) (at time.Time, err error) { return at, r.Scan(db.Instant{To: &at}) })
	return at, !at.IsZero(), err
}

// EndpointsDue gives the endpoints for which something is in line or may be tried
// again within a time, by the database's clock, and which are not given a rest.
func (s *Store) EndpointsDue(ctx context.Context, within time.Duration) ([]Endpoint, error) {
	result, err := s.Query(ctx, `
		SELECT p.tenant_id, p.id FROM setup_records p
		WHERE p.kind = 'webhook_profile'
			AND NOT EXISTS (SELECT 1 FROM webhook_endpoints w
				WHERE w.tenant_id = p.tenant_id AND w.webhook_profile_id = p.id AND w.paused_until > db_now() + $1)
			AND (EXISTS (SELECT 1 FROM events_in_line l WHERE l.tenant_id = p.tenant_id AND l.webhook_profile_id = p.id)
			OR EXISTS (SELECT 1 FROM events e
				WHERE e.tenant_id = p.tenant_id AND e.webhook_profile_id = p.id
					AND e.delivery_status = 'pending' AND e.next_attempt_at IS NULL)
			OR EXISTS (SELECT 1 FROM events e
				WHERE e.tenant_id = p.tenant_id AND e.webhook_profile_id = p.id AND e.next_attempt_at <= db_now() + $1))`, within.Microseconds())
	return db.Collect(result, err, func(r db.Rows) (e Endpoint, err error) { return e, r.Scan(&e.TenantID, &e.ProfileID) })
}

// EndpointOf finds where an event goes; ids of events are unique across tenants,
// and each tenant's rows are asked by their own key.
func (s *Store) EndpointOf(ctx context.Context, eventID uuid.UUID) (Endpoint, error) {
	result, err := s.Query(ctx, `
		SELECT e.tenant_id, e.webhook_profile_id FROM tenants n
		JOIN events e ON e.tenant_id = n.id AND e.id = $1
		WHERE e.webhook_profile_id IS NOT NULL`, eventID)
	found, err := db.One(result, err, func(r db.Rows) (e Endpoint, err error) { return e, r.Scan(&e.TenantID, &e.ProfileID) })
	if errors.Is(err, db.ErrNoRow) || err == nil && !reaches(ctx, found.TenantID) {
		return Endpoint{}, ErrNoDelivery
	}
	return found, err
}

// TransactionOwner finds whose a transaction is; an operator's call names nothing
// but its id, and each tenant's rows are asked by their own key.
func (s *Store) TransactionOwner(ctx context.Context, id uuid.UUID) (tenantID uuid.UUID, err error) {
	return s.owner(ctx, "transactions", id, ErrNoTransaction)
}

// SessionOwner finds whose a session is.
func (s *Store) SessionOwner(ctx context.Context, id uuid.UUID) (tenantID uuid.UUID, err error) {
	return s.owner(ctx, "sessions", id, payment.ErrSessionNotFound)
}

// LeadOwner finds whose a lead is.
func (s *Store) LeadOwner(ctx context.Context, id uuid.UUID) (tenantID uuid.UUID, err error) {
	return s.owner(ctx, "leads", id, ErrNoLead)
}

// MandateOwners finds whose payments have a mandate's reference; two tenants may have
// given out the same.
func (s *Store) MandateOwners(ctx context.Context, reference string) ([]uuid.UUID, error) {
	if !payment.IsReference(reference) {
		return nil, nil
	}
	result, err := s.Query(ctx, `
		SELECT n.id FROM tenants n WHERE EXISTS (SELECT 1 FROM transactions x
			WHERE x.tenant_id = n.id AND x.mandate_reference = $1 AND x.mandate_reference <> '') ORDER BY n.id`, reference)
	all, err := db.Collect(result, err, scanID)
	return reached(ctx, all, err, func(id uuid.UUID) uuid.UUID { return id })
}

// ChargebackOwner finds whose a chargeback is.
func (s *Store) ChargebackOwner(ctx context.Context, id uuid.UUID) (tenantID uuid.UUID, err error) {
	return s.owner(ctx, "chargebacks", id, ErrNoChargeback)
}

// SubscriptionOwner finds whose a subscription is.
func (s *Store) SubscriptionOwner(ctx context.Context, id uuid.UUID) (tenantID uuid.UUID, err error) {
	return s.owner(ctx, "subscriptions", id, ErrNoSubscription)
}

// EventOwner finds whose an event is.
func (s *Store) EventOwner(ctx context.Context, id uuid.UUID) (tenantID uuid.UUID, err error) {
	return s.owner(ctx, "events", id, ErrNoEvent)
}

// ImportOwner finds whose an import is.
func (s *Store) ImportOwner(ctx context.Context, id uuid.UUID) (tenantID uuid.UUID, err error) {
	return s.owner(ctx, "imports", id, ErrNoImport)
}

// BankFileOwner finds whose a file for a bank is.
func (s *Store) BankFileOwner(ctx context.Context, id uuid.UUID) (tenantID uuid.UUID, err error) {
	return s.owner(ctx, "bank_files", id, ErrNoBankFile)
}

// BankStatementOwner finds whose a bank's answer is.
func (s *Store) BankStatementOwner(ctx context.Context, id uuid.UUID) (tenantID uuid.UUID, err error) {
	return s.owner(ctx, "bank_statements", id, ErrNoBankStatement)
}

// BankLineOwner finds whose a line of a bank's answer is.
func (s *Store) BankLineOwner(ctx context.Context, id uuid.UUID) (tenantID uuid.UUID, err error) {
	return s.owner(ctx, "bank_lines", id, ErrNoBankLine)
}

func (s *Store) owner(ctx context.Context, table string, id uuid.UUID, none error) (uuid.UUID, error) {
	result, err := s.Query(ctx, `
		SELECT n.id FROM tenants n JOIN `+table+` x ON x.tenant_id = n.id AND x.id = $1`, id)
	found, err := db.One(result, err, func(r db.Rows) (id uuid.UUID, err error) { return id, r.Scan(&id) })
	if errors.Is(err, db.ErrNoRow) || err == nil && !reaches(ctx, found) {
		return uuid.Nil, none
	}
	return found, err
}

// Arrears is what waits longer than it should, or for a person.
type Arrears struct {
	// OverdueRebills is how many subscriptions should have been billed, at most mostArrears;
	// OverdueFor is for how long the first of them.
	OverdueRebills int
	OverdueFor     time.Duration
	// OldestEventFor is for how long the oldest event that goes out is not delivered.
	OldestEventFor time.Duration
	// UnmatchedLines is how many lines of banks' answers belong to nothing, at most mostArrears.
	UnmatchedLines int
}

const (
	// mostArrears is how many are counted: beyond it the exact figure helps nobody, and
	// counting has to stay cheap.
	mostArrears = 10_000
	// rebillGrace is how long a rebill may be due before it is overdue: runs come by every
	// minute, and what falls due on one day takes its time.
	rebillGrace = time.Hour
)

// ReadArrears looks at the beginning of the indexes of what waits. Billing goes by the
// service's clock, deliveries by the world's.
func (s *Store) ReadArrears(ctx context.Context, service, world time.Time) (a Arrears, err error) {
	result, err := s.Query(ctx, `
		SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM subscriptions WHERE due_at IS NOT NULL AND due_at < $1 LIMIT $2) overdue),
			(SELECT COALESCE(MIN(due_at), 0) FROM subscriptions WHERE due_at IS NOT NULL AND due_at < $1),
			(SELECT COUNT(*) FROM (SELECT 1 FROM bank_lines WHERE result IN ('unmatched', 'contradicts') LIMIT $2) unmatched)`,
		db.Micros(service.Add(-rebillGrace)), mostArrears)
	var dueAt int64
	_, err = db.One(result, err, func(r db.Rows) (struct{}, error) {
		return struct{}{}, r.Scan(&a.OverdueRebills, &dueAt, &a.UnmatchedLines)
	})
	if err != nil {
		return a, err
	}
	if dueAt > 0 {
		a.OverdueFor = service.Sub(time.UnixMicro(dueAt))
	}
	a.OldestEventFor, err = s.oldestEvent(ctx, world)
	return a, err
}

// oldestEvent is for how long the oldest event that is in line or waits for another try is
// not delivered. Its id tells when it was made.
func (s *Store) oldestEvent(ctx context.Context, now time.Time) (oldest time.Duration, err error) {
	for _, query := range []string{
		`SELECT event_id FROM events_in_line ORDER BY event_id LIMIT 1`,
		`SELECT id FROM events WHERE delivery_status = 'pending' AND next_attempt_at IS NULL AND webhook_profile_id IS NOT NULL ORDER BY id LIMIT 1`,
		`SELECT id FROM events WHERE next_attempt_at IS NOT NULL ORDER BY id LIMIT 1`,
	} {
		result, err := s.Query(ctx, query)
		id, err := db.One(result, err, func(r db.Rows) (id uuid.UUID, err error) { return id, r.Scan(&id) })
		if errors.Is(err, db.ErrNoRow) {
			continue
		}
		if err != nil {
			return 0, err
		}
		seconds, nanos := id.Time().UnixTime()
		oldest = max(oldest, now.Sub(time.Unix(seconds, nanos)))
	}
	return oldest, nil
}

// DeliveryBacklog counts the events that are in line and those that wait for
// another try.
func (s *Store) DeliveryBacklog(ctx context.Context) (map[string]int, error) {
	type backlog struct{ inLine, waiting int }
	result, err := s.Query(ctx, `
		SELECT (SELECT COUNT(*) FROM events_in_line) + (SELECT COUNT(*) FROM events
				WHERE delivery_status = 'pending' AND next_attempt_at IS NULL AND webhook_profile_id IS NOT NULL),
			(SELECT COUNT(*) FROM events WHERE next_attempt_at IS NOT NULL)`)
	b, err := db.One(result, err, func(r db.Rows) (b backlog, err error) { return b, r.Scan(&b.inLine, &b.waiting) })
	return map[string]int{"in_line": b.inLine, "waiting": b.waiting}, err
}
