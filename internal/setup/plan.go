package setup

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/store"
)

// plan gathers what is to be written and told.
type plan struct {
	applier *Applier
	ctx     context.Context
	now     time.Time
	file    string // its name, "" for a call
	// locate says where a record's field was written.
	locate func(id uuid.UUID, field string) (line int, path string)

	tenants    []*tenantPlan // whom it is about
	changes    []Change
	writes     []func(*store.Tx) error
	mistakes   []merchant.Mistake
	chosenKeys []merchant.FileAPIKey // those that are to be added
}

// write does all of it in the caller's unit of work.
func (p *plan) write(tx *store.Tx) error {
	tx.Remember(p.applier.request, p.applier.made)
	for _, write := range p.writes {
		if err := write(tx); err != nil {
			return err
		}
	}
	return nil
}

// wrong notes a mistake in a field of a record.
func (p *plan) wrong(id uuid.UUID, field, format string, args ...any) {
	line, path := p.locate(id, field)
	p.mistakes = append(p.mistakes, merchant.Mistake{Line: line, Path: path, Sentence: fmt.Sprintf(format, args...)})
}

// add notes a change and tells whether it has to be written.
func (p *plan) add(change Change) bool {
	p.changes = append(p.changes, change)
	return change.Action != Unchanged
}

// tenantPlan is the part of one tenant: what is stored and what shall be.
type tenantPlan struct {
	*plan
	id      uuid.UUID
	stored  *merchant.Setup // empty for a new tenant
	wanted  *merchant.Setup
	isNew   bool
	version int64 // of the set-up that the plan rests on
	grows   bool  // tells that it takes more room than before
}

// firstVersion is that of a tenant which was just made.
const firstVersion = 1

// read gets what a tenant has today; what it shall have begins as a copy.
func (p *plan) read(id uuid.UUID) (*tenantPlan, error) {
	t := &tenantPlan{plan: p, id: id, stored: merchant.NewSetup(merchant.Tenant{}), version: firstVersion}
	version, err := p.applier.Store.SetupVersion(p.ctx, id)
	switch {
	case store.IsNotFound(err):
		t.isNew = true
	case err != nil:
		return nil, err
	default:
		t.version = version
		if t.stored, err = p.applier.Store.Setup(p.ctx, id, version); err != nil {
			return nil, err
		}
	}
	t.wanted = t.stored.Clone()
	p.tenants = append(p.tenants, t)
	return t, nil
}

// planAll plans the tenant, its keys and records. Whatever is written rests on
// the version that was read.
func (t *tenantPlan) planAll(keys []merchant.FileAPIKey, which records) error {
	before := len(t.writes)
	if err := t.planTenant(); err != nil {
		return err
	}
	if err := t.planKeys(keys); err != nil {
		return err
	}
	if err := t.planRecords(which); err != nil {
		return err
	}
	if len(t.writes) > before {
		t.claim(before)
	}
	if t.grows {
		t.writes = append(t.writes, func(tx *store.Tx) error { tx.RequireSetupRoom(t.id); return nil })
	}
	return nil
}

// claim makes sure, before what was planned from a place on is written, that
// the tenant still has the set-up which the plan rests on. A new tenant must be
// there first; its row is the first that is written.
func (t *tenantPlan) claim(from int) {
	if t.isNew {
		from++
	}
	t.writes = slices.Insert(t.writes, from, func(tx *store.Tx) error {
		tx.ClaimSetup(t.id, t.version)
		return nil
	})
}

// planTenant compares the tenant itself.
func (t *tenantPlan) planTenant() error {
	t.wanted.Tenant.ID, t.wanted.Tenant.Number = t.id, t.stored.Tenant.Number
	change := Change{Action: Unchanged, Kind: merchant.KindTenant, Name: t.wanted.Tenant.Name, ID: t.id}
	switch {
	case t.isNew:
		if err := t.checkOwner(merchant.KindTenant, t.id); err != nil {
			return err
		}
		t.wanted.Tenant.Number = newTenantNumber()
		change.Action = Created
	case t.wanted.Tenant != t.stored.Tenant:
		t.checkTenant()
		change.Action = Changed
	}
	if t.add(change) {
		t.wanted.Versions[t.id]++
		tenant, stored := t.wanted.Tenant, t.stored.Tenant
		t.writes = append(t.writes, func(tx *store.Tx) error {
			tx.PutTenant(tenant)
			tx.Audit(t.deed(change, merchant.TenantFields(stored), merchant.TenantFields(tenant)))
			return nil
		})
	}
	return nil
}

// newTenantNumber is random, so that tokens do not tell how many tenants there
// are. One that is taken shows when it is written, and another one is drawn.
func newTenantNumber() uint32 {
	for {
		var raw [4]byte
		rand.Read(raw[:])
		if number := binary.BigEndian.Uint32(raw[:]); number != 0 {
			return number
		}
	}
}

// records are the ids of those that a plan is about, in the order in which they
// are told.
type records struct{ gateways, profiles, pages, offers, campaigns []uuid.UUID }

// everyRecord lists all that a set-up holds.
func everyRecord(s *merchant.Setup) records {
	return records{
		inOrder(s.Gateways), inOrder(s.WebhookProfiles), inOrder(s.HostedPages), inOrder(s.Offers), inOrder(s.Campaigns),
	}
}

func inOrder[T any](all map[uuid.UUID]T) []uuid.UUID {
	return slices.SortedFunc(maps.Keys(all), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
}

// adopt puts what the file says of a tenant in the place of what is stored, and
// lists the records that it mentions.
func (t *tenantPlan) adopt(file merchant.FileTenant) records {
	t.wanted.Tenant = file.Tenant
	return records{
		adoptKind(Gateways, t.wanted, file.Gateways), adoptKind(WebhookProfiles, t.wanted, file.WebhookProfiles),
		adoptKind(HostedPages, t.wanted, file.HostedPages), adoptKind(Offers, t.wanted, file.Offers),
		adoptKind(Campaigns, t.wanted, file.Campaigns),
	}
}

func adoptKind[T any](of Kind[T], into *merchant.Setup, entries []merchant.Entry[T]) (ids []uuid.UUID) {
	for _, entry := range entries {
		id, _ := of.identify(entry.Record)
		of.all(into)[id] = entry.Record
		ids = append(ids, id)
	}
	return ids
}

// planRecords compares every record, in the order of a resource file.
func (t *tenantPlan) planRecords(which records) error {
	if err := planKind(t, Gateways, which.gateways); err != nil {
		return err
	}
	if err := planKind(t, WebhookProfiles, which.profiles); err != nil {
		return err
	}
	if err := planKind(t, HostedPages, which.pages); err != nil {
		return err
	}
	if err := planKind(t, Offers, which.offers); err != nil {
		return err
	}
	return planKind(t, Campaigns, which.campaigns)
}

// switching a record off must not be refused for want of room, and makes it a letter longer.
const switching = 8

// sizeOf is about the room that a record takes.
func sizeOf(fields merchant.Fields) int {
	text, _ := json.Marshal(fields) // what cannot be written is refused where it is
	return len(text)
}

func planKind[T any](t *tenantPlan, of Kind[T], ids []uuid.UUID) error {
	all := of.all(t.wanted)
	for _, id := range ids {
		stored, exists := of.all(t.stored)[id]
		record, change := of.complete(all[id], stored, !exists, t.now)
		_, name := of.identify(record)
		change.Action, change.Kind, change.Name, change.ID = Changed, of.kind, name, id
		switch {
		case !exists:
			change.Action = Created
			if err := t.checkOwner(of.kind, id); err != nil {
				return err
			}
		case reflect.DeepEqual(record, stored):
			change.Action = Unchanged
		}
		all[id] = record
		if t.add(change) {
			of.check(t, record)
			t.wanted.Versions[id]++
			t.grows = t.grows || !exists || sizeOf(of.fields(record)) > sizeOf(of.fields(stored))+switching
			t.writes = append(t.writes, func(tx *store.Tx) error {
				tx.Audit(t.deed(change, of.fields(stored), of.fields(record)))
				return of.put(t.applier.Store, tx, t.id, record)
			})
		}
	}
	return nil
}
