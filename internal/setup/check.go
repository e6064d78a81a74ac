package setup

import (
	"reflect"
	"slices"
	"strings"

	"github.com/google/uuid"

	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/store"
)

// checkGateway asks the adapter whether it can work with its settings: better now
// than at the first payment. An account that is switched off may be as it is.
func (t *tenantPlan) checkGateway(account merchant.GatewayAccount) {
	kind, known := t.applier.Kinds[account.Adapter]
	if !t.keepsAdapter(account) || !t.mayPlace(kind, account) || !account.Active {
		return
	}
	if !known {
		t.wrong(account.ID, "adapter", "There is no adapter of this name.")
		return
	}
	t.checkMovesMoney(kind, account)
	mistakes := kind.Check(t.opened(account))
	for _, mistake := range mistakes {
		t.wrong(account.ID, strings.TrimSuffix("settings."+mistake.Setting, "."), "%s", mistake.Sentence)
	}
	if kind.Real && t.lacksCreditor() {
		t.wrong(account.ID, "adapter", needsCreditor, "a gateway that moves money")
	}
	for id := range t.stored.Campaigns { // those that are new speak for themselves
		if campaign := t.wanted.Campaigns[id]; len(mistakes) == 0 && campaign.GatewayID == account.ID {
			t.checkNotice(campaign, account.ID, "settings.notice_days")
		}
	}
}

// keepsAdapter refuses to turn an account into one at another gateway. What went through it
// is refunded, billed again and asked about there: payments that were tried where no money
// moves would be given back by a bank, and a bank's would be lost where nobody knows them.
func (t *tenantPlan) keepsAdapter(account merchant.GatewayAccount) bool {
	stored, exists := t.stored.Gateways[account.ID]
	if exists && stored.Adapter != account.Adapter {
		t.wrong(account.ID, "adapter", "This account is at %s and stays there, with its payments: set up another account.", stored.Adapter)
		return false
	}
	return true
}

// mayPlace keeps whoever works for some tenants from naming places of the machine: a
// folder there may be another tenant's. It is asked of accounts that are switched off too,
// which could be switched on later, and before anybody looks whether the place is there.
func (t *tenantPlan) mayPlace(kind gateway.Kind, account merchant.GatewayAccount) bool {
	if _, bound := store.Reach(t.ctx); !bound {
		return true
	}
	before, may := t.stored.Gateways[account.ID].Settings, true
	for _, setting := range kind.Settings {
		if setting.Place && !reflect.DeepEqual(account.Settings[setting.Name], before[setting.Name]) {
			t.wrong(account.ID, "settings."+setting.Name, "Only an administrator of all tenants may say where files lie.")
			may = false
		}
	}
	return may
}

// opened is an account as an adapter gets it.
func (t *tenantPlan) opened(account merchant.GatewayAccount) gateway.Account {
	return gateway.Account{
		ID: account.ID, TenantID: t.id, Name: account.Name, Descriptor: account.Descriptor,
		TestMode: account.TestMode, Settings: account.Settings,
	}
}

// checkNotice refuses to sell in a rhythm for which payers cannot be told in time.
func (t *tenantPlan) checkNotice(c merchant.Campaign, blamed uuid.UUID, field string) {
	account, offer := t.wanted.Gateways[c.GatewayID], t.wanted.Offers[c.OfferID]
	kind, known := t.applier.Kinds[account.Adapter]
	if !known || !c.Active || !account.Active || !offer.Active {
		return
	}
	if planner, plans := kind.Planner(t.opened(account)); plans {
		if sentence := gateway.TooOften(planner, offer.Terms.Frequency); sentence != "" {
			t.wrong(blamed, field, "%s", sentence)
		}
	}
}

// needsCreditor is said of what cannot be used in production before payers can be
// told to whom they give a mandate.
const needsCreditor = "In production %s needs the tenant's creditor with name, address and identifier."

func (t *tenantPlan) lacksCreditor() bool {
	c := t.wanted.Tenant.Creditor
	return t.applier.Environment == merchant.Production && (c.Name == "" || c.Address == "" || c.Identifier == "")
}

// checkPage wants to know whom the mandate on the page names.
func (t *tenantPlan) checkPage(page merchant.HostedPage) {
	if page.Active && t.lacksCreditor() {
		t.wrong(page.ID, "name", needsCreditor, "a hosted page")
	}
}

// checkTenant keeps the creditor of whoever collects.
func (t *tenantPlan) checkTenant() {
	if !t.lacksCreditor() {
		return
	}
	for _, page := range t.wanted.HostedPages {
		if page.Active {
			t.wrong(t.id, "creditor", needsCreditor, "a hosted page")
			return
		}
	}
	for _, account := range t.wanted.Gateways {
		if account.Active && t.applier.Kinds[account.Adapter].Real {
			t.wrong(t.id, "creditor", needsCreditor, "a gateway that moves money")
			return
		}
	}
}

// checkOffer refuses a currency that no gateway collects.
func (t *tenantPlan) checkOffer(offer merchant.Offer) {
	if !offer.Active {
		return
	}
	for _, kind := range t.applier.Kinds {
		if slices.Contains(kind.Currencies, offer.Terms.Currency) {
			return
		}
	}
	t.wrong(offer.ID, "currency", "No gateway collects this currency: SEPA collects EUR.")
}

// checkMovesMoney keeps production from selling for money that never comes, and a
// sandbox from collecting what nobody means to pay. What is written for a bank is collected,
// whatever payers were told.
func (t *tenantPlan) checkMovesMoney(kind gateway.Kind, account merchant.GatewayAccount) {
	switch {
	case kind.Real && t.applier.Environment != merchant.Production && !account.TestMode:
		t.wrong(account.ID, "test_mode", "The adapter %s moves money: outside production it needs test_mode: true.", account.Adapter)
	case kind.Batch && t.applier.Environment == merchant.Production && account.TestMode:
		t.wrong(account.ID, "test_mode", "The adapter %s has no test system, and payers would be told that no money moves: in production it needs test_mode: false.", account.Adapter)
	case kind.Real || t.applier.Environment != merchant.Production:
	case !t.applier.AllowTestGateways:
		t.wrong(account.ID, "adapter", "The adapter %s moves no money: production takes it only with SEPAD_ALLOW_TEST_GATEWAYS=true.", account.Adapter)
	case !account.TestMode:
		t.wrong(account.ID, "test_mode", "The adapter %s moves no money: in production it needs test_mode: true.", account.Adapter)
	}
}

// checkProfile allows one default webhook profile.
func (t *tenantPlan) checkProfile(profile merchant.WebhookProfile) {
	if !profile.Default || !profile.Active {
		return
	}
	for id, other := range t.wanted.WebhookProfiles {
		if id != profile.ID && other.Default && other.Active {
			t.wrong(profile.ID, "default", "Webhook profile %s is the default already: give it default: false.", id)
		}
	}
}

// checkCampaign looks for what a campaign refers to.
func (t *tenantPlan) checkCampaign(c merchant.Campaign) {
	for _, reference := range []struct {
		field string
		kind  merchant.RecordKind
		id    *uuid.UUID
	}{
		{"offer_id", merchant.KindOffer, &c.OfferID},
		{"gateway_id", merchant.KindGateway, &c.GatewayID},
		{"hosted_page_id", merchant.KindHostedPage, c.HostedPageID},
		{"webhook_profile_id", merchant.KindWebhookProfile, c.WebhookProfileID},
	} {
		if reference.id != nil && !t.wanted.Has(reference.kind, *reference.id) {
			t.wrong(c.ID, reference.field, "The tenant has no %s with this id.", reference.kind)
		}
	}
	t.checkNotice(c, c.ID, "gateway_id")
}

// checkOwner refuses an id that is new to the tenant but not to the database.
func (t *tenantPlan) checkOwner(kind merchant.RecordKind, id uuid.UUID) error {
	owner, storedKind, found, err := t.applier.Store.RecordOwner(t.ctx, id)
	if err != nil {
		return err
	}
	switch other := merchant.RecordKind(strings.ReplaceAll(storedKind, "_", " ")); {
	case found && owner != t.id:
		t.wrong(id, "id", "This id is already taken by another tenant's %s.", other)
	case found && other != kind:
		t.wrong(id, "id", "This id is already taken by the tenant's %s.", other)
	case found || kind == merchant.KindTenant:
	default:
		return t.checkNoTenant(id)
	}
	return nil
}

// checkNoTenant refuses the id of a tenant for something else.
func (t *tenantPlan) checkNoTenant(id uuid.UUID) error {
	_, err := t.applier.Store.Tenant(id).Tenant(store.Beyond(t.ctx))
	if store.IsNotFound(err) {
		return nil
	}
	if err == nil {
		t.wrong(id, "id", "This id is already taken by a tenant.")
	}
	return err
}

// fieldAlone locates a mistake of a call, which is about one record.
func fieldAlone(_ uuid.UUID, field string) (line int, path string) { return 0, field }

// locator knows where a file has its records.
func locator(file *merchant.File) func(id uuid.UUID, field string) (line int, path string) {
	type place struct {
		line int
		path string
	}
	places, references := map[uuid.UUID]place{}, map[string]int{}
	for _, t := range file.Tenants {
		places[t.Tenant.ID] = place{t.Line, t.Path}
		note := func(id uuid.UUID, line int, path string) { places[id] = place{line, path} }
		noteAll(Gateways, t.Gateways, note)
		noteAll(WebhookProfiles, t.WebhookProfiles, note)
		noteAll(HostedPages, t.HostedPages, note)
		noteAll(Offers, t.Offers, note)
		noteAll(Campaigns, t.Campaigns, note)
		for _, reference := range t.Unresolved {
			references[reference.Path] = reference.Line
		}
	}
	return func(id uuid.UUID, field string) (int, string) {
		at := places[id]
		path := at.path + "." + field
		if line, known := references[path]; known {
			return line, path
		}
		return at.line, path
	}
}

func noteAll[T any](of Kind[T], entries []merchant.Entry[T], note func(uuid.UUID, int, string)) {
	for _, entry := range entries {
		id, _ := of.identify(entry.Record)
		note(id, entry.Line, entry.Path)
	}
}
