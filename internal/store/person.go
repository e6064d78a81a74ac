package store

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/sepa"
)

// Person is somebody of whom a tenant knows something: a lead with all that hangs
// on it, or a name that only processors' files have brought in.
type Person struct {
	sepa.Masked
	TenantID uuid.UUID
	// LeadID is the nil id for somebody whom files alone know.
	LeadID uuid.UUID
	// email is the address, "" once it is erased.
	email string
	// isUnfinished tells that an erasure was broken off: the address alone is left of the lead.
	isUnfinished bool
	// keepsAddress tells that the lead's is overwritten when all else was.
	keepsAddress bool
	// rows are the ids of the person's rows by table, as far as they were found.
	rows map[string][]uuid.UUID
	// known are the same ids, of tables in which rows are found in more ways than one.
	known map[string]map[uuid.UUID]bool
}

// HasRows tells whether anything at all is known of the person.
func (p *Person) HasRows() bool {
	for _, ids := range p.rows {
		if len(ids) > 0 {
			return true
		}
	}
	return false
}

// IsUnfinished tells whether an erasure of the person was broken off.
func (p *Person) IsUnfinished() bool { return p.isUnfinished }

// Count is how many rows of a table are the person's.
func (p *Person) Count(table string) int { return len(p.rows[table]) }

// reads runs a query, within a unit of work or outside.
type reads func(sql string, args ...any) (db.Rows, error)

func (s *Store) reads(ctx context.Context) reads {
	return func(sql string, args ...any) (db.Rows, error) { return s.Query(ctx, sql, args...) }
}

func scanID(r db.Rows) (id uuid.UUID, err error) { return id, r.Scan(&id) }

// Person reads who a lead is.
func (t Tenant) Person(ctx context.Context, leadID uuid.UUID) (*Person, error) {
	return personOf(t.ID, leadID, t.store.reads(ctx))
}

func personOf(tenantID, leadID uuid.UUID, query reads) (*Person, error) {
	p := &Person{TenantID: tenantID, LeadID: leadID, rows: map[string][]uuid.UUID{"leads": {leadID}}}
	result, err := query(`SELECT email, erased_at IS NOT NULL AND email <> '' FROM leads WHERE tenant_id = $1 AND id = $2`, tenantID, leadID)
	_, err = db.One(result, err, func(r db.Rows) (bool, error) { return true, r.Scan(&p.email, &p.isUnfinished) })
	if errors.Is(err, db.ErrNoRow) {
		return nil, ErrNoLead
	}
	return p, err
}

// Survey finds all that is known of a person, before any unit does.
func (t Tenant) Survey(ctx context.Context, p *Person) (*Person, error) {
	all := p
	if p.LeadID != uuid.Nil {
		var err error
		if all, err = t.Person(ctx, p.LeadID); err != nil {
			return nil, err
		}
	}
	err := all.findAll(func(sql string, args ...any) (db.Rows, error) { return t.store.Browse(ctx, t.ID, sql, args...) })
	if err == nil && !all.HasRows() {
		err = ErrNoLead
	}
	return all, err
}

// PersonByEmail finds somebody by address: a lead, one whose erasure was broken off, or
// whom files alone know.
func (t Tenant) PersonByEmail(ctx context.Context, email string) (*Person, error) {
	result, err := t.Query(ctx, `SELECT id FROM leads WHERE tenant_id = $1 AND email_key = $2`, payment.Lead{Email: email}.EmailKey())
	leadID, err := db.One(result, err, scanID)
	if errors.Is(err, db.ErrNoRow) {
		leadID, err = t.unfinished(ctx, email)
	}
	if err == nil {
		return t.Person(ctx, leadID)
	}
	if !errors.Is(err, db.ErrNoRow) {
		return nil, err
	}
	p := &Person{TenantID: t.ID, email: email, rows: map[string][]uuid.UUID{}}
	if err := p.findAll(t.store.reads(ctx)); err != nil {
		return nil, err
	}
	if !p.HasRows() {
		return nil, ErrNoLead
	}
	return p, nil
}

// unfinished finds a lead whose erasure was broken off: its address is the last that goes.
func (t Tenant) unfinished(ctx context.Context, email string) (uuid.UUID, error) {
	result, err := t.Query(ctx, `
		SELECT id FROM leads WHERE tenant_id = $1 AND erase_due_at IS NOT NULL AND erased_at IS NOT NULL AND email <> '' AND lower(email) IN ($2, $3)
		ORDER BY erase_due_at LIMIT 1`, payment.Lead{Email: email}.EmailKey(), plainLower(email))
	return db.One(result, err, scanID)
}

// PersonOfPayment is whoever a payment without a lead names.
func PersonOfPayment(tenantID, transactionID uuid.UUID) *Person {
	return &Person{TenantID: tenantID, rows: map[string][]uuid.UUID{"transactions": {transactionID}}}
}

// findAll finds the ids of all rows that are the person's.
func (p *Person) findAll(query reads) error {
	for _, table := range PersonalTables {
		if err := p.find(table, query); err != nil {
			return err
		}
	}
	return nil
}

// find finds those of one table, when those of the tables before it are known.
func (p *Person) find(t PersonalTable, query reads) error {
	if !t.ByID || t.Name == "events" && p.Count(t.Name) > 0 { // or they were found before
		return nil
	}
	for _, link := range t.Rows {
		if link.Column == "id" {
			continue // they are known, or found below
		}
		if err := p.findBy(t.Name, link.Column, asArgs(p.rows[link.Of]), query); err != nil {
			return err
		}
	}
	switch t.Name {
	case "transactions":
		return p.findByEmail(`SELECT id FROM transactions WHERE tenant_id = $1 AND lead_id IS NULL AND email <> '' AND lower(email) IN ($2, $3)`, t.Name, query)
	case "chargebacks":
		return p.findByEmail(`SELECT id FROM chargebacks WHERE tenant_id = $1 AND transaction_id IS NULL AND lower(email) IN ($2, $3)`, t.Name, query)
	case "events":
		return p.findBy(t.Name, aboutEvent, p.subjects(), query)
	default:
		return nil
	}
}

// findBy adds the rows of a table in whose column one of the values stands.
func (p *Person) findBy(table, column string, values []any, query reads) error {
	for batch := range db.InLists(values) {
		result, err := query(`SELECT id FROM `+table+` WHERE tenant_id = $1 AND `+column+` IN `+db.Placeholders(2, 1, len(batch)),
			append([]any{p.TenantID}, batch...)...)
		if err := p.add(table, result, err); err != nil {
			return err
		}
	}
	return nil
}

// findByEmail adds what files brought in under the person's address. Databases
// change the case of plain letters alone, so that both forms are asked for.
func (p *Person) findByEmail(text, table string, query reads) error {
	if p.email == "" {
		return nil
	}
	result, err := query(text, p.TenantID, payment.Lead{Email: p.email}.EmailKey(), plainLower(p.email))
	return p.add(table, result, err)
}

func plainLower(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

func (p *Person) add(table string, result db.Rows, err error) error {
	found, err := db.Collect(result, err, scanID)
	known := p.knownIn(table)
	for _, id := range found {
		if !known[id] {
			known[id] = true
			p.rows[table] = append(p.rows[table], id)
		}
	}
	return err
}

func (p *Person) knownIn(table string) map[uuid.UUID]bool {
	if p.known[table] == nil {
		if p.known == nil {
			p.known = map[string]map[uuid.UUID]bool{}
		}
		p.known[table] = map[uuid.UUID]bool{}
		for _, id := range p.rows[table] {
			p.known[table][id] = true
		}
	}
	return p.known[table]
}

// aboutEvent is what an event is about: events have no column that says so, but it
// stands in their key behind the kind, and an index knows it.
const aboutEvent = `substr(event_key, length(kind) + 2, 36)`

// subjects are the ids of all that events about the person can be about.
func (p *Person) subjects() (ids []any) {
	for _, about := range []string{"leads", "sessions", "orders", "transactions", "subscriptions", "chargebacks"} {
		for _, id := range p.rows[about] {
			ids = append(ids, id.String())
		}
	}
	return ids
}

func asArgs(ids []uuid.UUID) []any {
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	return args
}

// selection are the rows of a table that are the person's: a column, and what
// stands in it.
func (p *Person) selection(t PersonalTable) (column string, values []any) {
	if t.ByID {
		return "id", asArgs(p.rows[t.Name])
	}
	return t.Rows[0].Column, asArgs(p.rows[t.Rows[0].Of])
}
