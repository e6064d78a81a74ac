package setup

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/store"
)

// plan gathers what is to be written and told.
type plan struct {
	applier *Applier
	ctx     context.Context
	now     time.Time
	file    string

	changes    []Change
	writes     []func(*store.Tx) error
	mistakes   []merchant.Mistake
	chosenKeys []merchant.FileAPIKey // those that are to be added
}

// write does all of it in the caller's unit of work.
func (p *plan) write(tx *store.Tx) error {
	for _, write := range p.writes {
		if err := write(tx); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) wrong(line int, path, format string, args ...any) {
	p.mistakes = append(p.mistakes, merchant.Mistake{Line: line, Path: path, Sentence: fmt.Sprintf(format, args...)})
}

// tenantPlan is the part of one tenant: what the file says and what is stored.
type tenantPlan struct {
	*plan
	id      uuid.UUID
	path    string
	stored  *merchant.Setup // empty for a new tenant
	isNew   bool
	version int64 // of the set-up that the plan rests on
}

// tenant plans one tenant and all that it sets up.
func (p *plan) tenant(path string, wanted merchant.FileTenant) error {
	t := &tenantPlan{plan: p, id: wanted.Tenant.ID, path: path}
	if err := t.read(); err != nil {
		return err
	}
	before := len(p.writes)
	if err := t.planAll(wanted); err != nil {
		return err
	}
	if len(p.writes) > before {
		t.claim(before)
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

func (t *tenantPlan) planAll(wanted merchant.FileTenant) error {
	if err := t.planTenant(wanted); err != nil {
		return err
	}
	if err := t.planKeys(wanted.APIKeys); err != nil {
		return err
	}
	t.checkReferences(wanted.Unresolved)
	t.checkGateways(wanted.Gateways)
	t.checkDefault(wanted.WebhookProfiles)
	return t.planRecords(wanted)
}

// read gets what the tenant has today.
func (t *tenantPlan) read() error {
	st := t.applier.Store
	version, err := st.SetupVersion(t.ctx, t.id)
	if store.IsNotFound(err) {
		t.isNew, t.stored, t.version = true, &merchant.Setup{}, firstVersion
		return nil
	}
	if err != nil {
		return err
	}
	t.version = version
	t.stored, err = st.Setup(t.ctx, t.id, version)
	return err
}

// firstVersion is that of a tenant which was just made.
const firstVersion = 1

// planTenant compares the tenant itself.
func (t *tenantPlan) planTenant(wanted merchant.FileTenant) error {
	tenant := wanted.Tenant
	change := Change{Action: Unchanged, Kind: merchant.KindTenant, Name: tenant.Name, ID: tenant.ID}
	tenant.Number = t.stored.Tenant.Number
	switch {
	case t.isNew:
		if err := t.checkOwner(wanted.Line, t.path+".id", merchant.KindTenant, tenant.ID); err != nil {
			return err
		}
		tenant.Number = newTenantNumber()
		change.Action = Created
	case tenant != t.stored.Tenant:
		change.Action = Changed
	}
	if t.add(change) {
		t.writes = append(t.writes, func(tx *store.Tx) error { tx.PutTenant(tenant); return nil })
	}
	return nil
}

// add notes a change and tells whether it has to be written.
func (p *plan) add(change Change) bool {
	p.changes = append(p.changes, change)
	return change.Action != Unchanged
}

// checkReferences looks for the ids that the file names and does not hold.
func (t *tenantPlan) checkReferences(references []merchant.Reference) {
	for _, reference := range references {
		if !t.has(reference.Kind, reference.ID) {
			t.mistakes = append(t.mistakes, reference.Missing())
		}
	}
}

// has tells whether the tenant has a record of a kind, active or not.
func (t *tenantPlan) has(kind merchant.RecordKind, id uuid.UUID) (found bool) {
	switch kind {
	case merchant.KindGateway:
		_, found = t.stored.Gateways[id]
	case merchant.KindWebhookProfile:
		_, found = t.stored.WebhookProfiles[id]
	case merchant.KindHostedPage:
		_, found = t.stored.HostedPages[id]
	case merchant.KindOffer:
		_, found = t.stored.Offers[id]
	case merchant.KindCampaign:
		_, found = t.stored.Campaigns[id]
	}
	return found
}

// checkGateways asks each adapter whether it can work with its settings: better
// now than at the first payment.
func (t *tenantPlan) checkGateways(accounts []merchant.Entry[merchant.GatewayAccount]) {
	for _, entry := range accounts {
		account := entry.Record
		kind, known := t.applier.Kinds[account.Adapter]
		if !known {
			t.wrong(entry.Line, entry.Path+".adapter", "There is no adapter of this name.")
			continue
		}
		_, err := kind.New(gateway.Account{
			ID: account.ID, TenantID: t.id, Name: account.Name, Descriptor: account.Descriptor,
			TestMode: account.TestMode, Settings: account.Settings,
		})
		if err != nil {
			t.wrong(entry.Line, entry.Path+".settings", "The adapter %s cannot work with them: %s", account.Adapter, err)
		}
	}
}

// checkDefault allows one default webhook profile, those included that the file
// does not mention.
func (t *tenantPlan) checkDefault(entries []merchant.Entry[merchant.WebhookProfile]) {
	mentioned := map[uuid.UUID]bool{}
	var chosen *merchant.Entry[merchant.WebhookProfile]
	for _, entry := range entries {
		mentioned[entry.Record.ID] = true
		if entry.Record.Default && entry.Record.Active {
			chosen = &entry
		}
	}
	if chosen == nil {
		return
	}
	for _, stored := range t.stored.WebhookProfiles {
		if stored.Default && stored.Active && !mentioned[stored.ID] {
			t.wrong(chosen.Line, chosen.Path+".default",
				"Webhook profile %s is the default already: list it too, with default: false.", stored.ID)
		}
	}
}
