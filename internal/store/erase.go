package store

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

// LockPerson takes a person's lead and sessions for this unit and finds all else:
// from here on no session of the person can be paid, and none can be made, before
// the unit ends. The lead may have been erased before. What files bring in comes before
// the unit, or knows of it.
//
// Of very many events it takes those of the survey, where everybody would wait for the only writer while they are looked for: they
// decide nothing, and what has come since is found when the person is erased again.
func (tx *Tx) LockPerson(p *Person) (*Person, error) {
	tx.holdMemory(p.TenantID)
	again := &Person{TenantID: p.TenantID, email: p.email, rows: map[string][]uuid.UUID{"transactions": slices.Clone(p.rows["transactions"])}}
	if p.LeadID != uuid.Nil {
		tx.Then(`UPDATE leads SET updated_at = updated_at WHERE tenant_id = $1 AND id = $2`, p.TenantID, p.LeadID)
		if tx.SkipLocked("sessions") != "" { // where there is one writer nobody else pays meanwhile
			tx.Then(`UPDATE sessions SET updated_at = updated_at WHERE tenant_id = $1 AND lead_id = $2 AND status IN ('PENDING', 'AWAITING_VERIFICATION')`,
				p.TenantID, p.LeadID)
		}
		var err error
		if again, err = personOf(p.TenantID, p.LeadID, tx.Query); err != nil {
			return nil, err
		}
	}
	if p.Count("events") > erasedAtOnce {
		again.rows["events"] = p.rows["events"]
	}
	return again, again.findAll(tx.Query)
}

// OpenSessions gives the person's sessions that have not ended and are not being verified, as they are.
func (tx *Tx) OpenSessions(p *Person) ([]payment.Session, error) {
	result, err := tx.Query(openSessions, p.TenantID, p.LeadID)
	return db.Collect(result, err, func(r db.Rows) (s payment.Session, err error) { return s, r.Scan(Sessions.Fields(&s)...) })
}

// openSessions is found by the lead. The status is a condition that no index serves: SQLite would go through all that the tenant
// has of it.
var openSessions = `SELECT ` + Sessions.List("") + ` FROM sessions WHERE tenant_id = $1 AND lead_id = $2 AND NOT status <> 'PENDING'`

// LiveSubscriptions gives those of the person's subscriptions that are billed.
func (tx *Tx) LiveSubscriptions(p *Person) ([]payment.Subscription, error) {
	return rowsOf(tx.Query, p, "subscriptions", `SELECT `+Subscriptions.List("")+` FROM subscriptions
		WHERE status <> 'CANCELLED' AND tenant_id = $1 AND id`, ScanSubscription)
}

// rowsOf reads those of a person's rows that a query wants, which ends before the
// list of their ids.
func rowsOf[T any](ask reads, p *Person, table, query string, scan func(db.Rows) (T, error)) (all []T, err error) {
	for batch := range db.InLists(asArgs(p.rows[table])) {
		result, err := ask(query+` IN `+db.Placeholders(2, 1, len(batch)), append([]any{p.TenantID}, batch...)...)
		some, err := db.Collect(result, err, scan)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// Erase overwrites whatever names the person in every table, and keeps amounts,
// dates and references. Payload takes a person out of an event's text. While money
// is open the unit changes nothing and Write gives a conflict that says which.
//
// Of a person with very many rows it overwrites the lead and what one unit has room
// for. From there on nothing of the person can be paid, and the rest is for units of
// their own (Store.EraseRest).
//
// What a unit writes that had read the person before is found when the person is
// erased again, which is at the instant again.
func (tx *Tx) Erase(p *Person, again time.Time, payload func(string) (string, error)) error {
	if err := tx.overwrite(p.pieces()[0], again, payload); err != nil {
		return err
	}
	return tx.requireClosed(p)
}

// overwrite does so with the rows that p has.
func (tx *Tx) overwrite(p *Person, again time.Time, payload func(string) (string, error)) error {
	for _, table := range PersonalTables {
		if !table.namesPersons() {
			continue
		}
		if table.Name == "events" {
			if err := tx.rewriteEvents(p, payload); err != nil {
				return err
			}
			continue
		}
		tx.clear(p, table, again)
	}
	return nil
}

// clear overwrites the columns of a table that name somebody.
func (tx *Tx) clear(p *Person, t PersonalTable, again time.Time) {
	var sets []string
	args := []any{p.TenantID}
	for _, column := range t.Cleared.Names() {
		if t.Name == "leads" && column == "email" && p.keepsAddress {
			continue
		}
		sets = append(sets, column+" = ''")
	}
	for _, column := range t.Removed.Names() {
		sets = append(sets, column+" = NULL")
	}
	if t.Name == "leads" {
		args = append(args, db.Micros(tx.At), db.Micros(again))
		sets = append(sets, `email_key = 'erased:' || CAST(id AS TEXT), erased_at = COALESCE(erased_at, $2), erase_due_at = $3`)
	}
	if len(sets) == 0 {
		return
	}
	if t.has("updated_at") { // so that whoever keeps a copy of the records hears of it
		args = append(args, db.Micros(tx.At))
		sets = append(sets, "updated_at = "+db.Place(len(args)))
	}
	column, values := p.selection(t)
	if t.Name == "transactions" { // a refund that has begun meanwhile needs the account
		column = `NOT ` + moneyOpen + ` AND ` + column
	}
	for batch := range db.InBatches(values) {
		tx.Then(`UPDATE `+t.Name+` SET `+strings.Join(sets, ", ")+` WHERE tenant_id = $1 AND `+column+` IN `+
			db.Placeholders(len(args)+1, 1, len(batch)), slices.Concat(args, batch)...)
	}
}

// rewriteEvents takes the person out of events, also of those that are still to be
// delivered.
func (tx *Tx) rewriteEvents(p *Person, payload func(string) (string, error)) error {
	type event struct {
		id   uuid.UUID
		text string
	}
	all, err := rowsOf(tx.Query, p, "events", `SELECT id, payload FROM events WHERE tenant_id = $1 AND id`,
		func(r db.Rows) (e event, err error) { return e, r.Scan(&e.id, &e.text) })
	if err != nil {
		return err
	}
	for _, e := range all {
		without, err := payload(e.text)
		if err != nil {
			return fmt.Errorf("event %s: %w", e.id, err)
		}
		if without != e.text {
			tx.Then(`UPDATE events SET payload = $3 WHERE tenant_id = $1 AND id = $2`, p.TenantID, e.id, without)
		}
	}
	return nil
}

// requireClosed refuses to erase a person with whom money is open. It looks anew,
// because what the unit has not locked may have begun since it looked first; what
// has begun later waits for rows that the unit has written.
func (tx *Tx) requireClosed(p *Person) error {
	known := p.Count("transactions")
	for _, table := range PersonalTables {
		if table.Name == "transactions" {
			if err := p.find(table, tx.Query); err != nil {
				return err
			}
		}
	}
	open, err := openOf(tx.Query, p)
	switch {
	case err != nil:
		return err
	case len(open) > 0:
		return open[0].refusal()
	case p.Count("transactions") != known:
		return ErrStale
	}
	return nil
}

// moneyOpen is the condition that a payment's money is open.
const moneyOpen = `(status = 'pending' OR in_flight IS NOT NULL OR refunding_minor > 0)`

func openOf(query reads, p *Person) ([]openMoney, error) {
	return rowsOf(query, p, "transactions", `
		SELECT merchant_transaction_id, type, in_flight IS NOT NULL, status = 'pending', verification_reference <> '' FROM transactions
		WHERE `+moneyOpen+` AND tenant_id = $1 AND id`,
		func(r db.Rows) (m openMoney, err error) {
			return m, r.Scan(&m.reference, &m.kind, &m.isUnknown, &m.isPending, &m.isVerified)
		})
}

// openMoney is a payment for whose sake a person cannot be erased yet.
type openMoney struct {
	reference                        string
	kind                             payment.TransactionType
	isUnknown, isPending, isVerified bool
}

func (m openMoney) refusal() error {
	switch {
	case m.kind == payment.Refund:
		return payment.Conflicting("The refund " + m.reference + " is under way: the person can be erased once its outcome is known.")
	case m.isUnknown:
		return payment.Conflicting("What became of the payment " + m.reference + " is not known yet: the person can be erased once its gateway has said so.")
	case m.isPending && m.isVerified:
		return payment.Conflicting("The payment " + m.reference + " awaits its verification or its money: the person can be erased once its outcome is known.")
	case m.isPending:
		return payment.Conflicting("The payment " + m.reference + " is pending: the person can be erased once its money has come or was refused.")
	default:
		return payment.Conflicting("A part of the payment " + m.reference + " is being refunded: the person can be erased once that is done.")
	}
}

// AskToErase has a lead erased as soon as nothing stands in the way.
func (tx *Tx) AskToErase(p *Person) {
	tx.Then(`UPDATE leads SET erase_due_at = $3 WHERE tenant_id = $1 AND id = $2`, p.TenantID, p.LeadID, db.Micros(tx.At))
}

// PostponeErasure has a lead looked at again later, NULL for never.
func (tx *Tx) PostponeErasure(tenantID, leadID uuid.UUID, at time.Time) {
	tx.Then(`UPDATE leads SET erase_due_at = $3 WHERE tenant_id = $1 AND id = $2`, tenantID, leadID, db.Micros(at))
}

// BankFilesOf counts the files for banks, as they were exchanged, that name the
// person: these are kept.
func (tx *Tx) BankFilesOf(p *Person) (int, error) {
	files, err := rowsOf(tx.Query, p, "transactions", `SELECT file_id FROM bank_file_entries WHERE tenant_id = $1 AND transaction_id`, scanID)
	slices.SortFunc(files, func(a, b uuid.UUID) int { return strings.Compare(a.String(), b.String()) })
	return len(slices.Compact(files)), err
}
