package setup

import (
	"slices"
	"strings"

	"github.com/google/uuid"

	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/store"
)

// checkInboxes keeps two accounts from fetching answers at one place, whosever they are and
// also where one is switched off: whoever reads an answer takes it away, and what it says of
// the other's payments would be heard by nobody. Who works for some tenants is held to it as
// well, and not told whose account it is.
func (p *plan) checkInboxes() error {
	var fetching map[string][]gateway.Account // read once, where anybody asks
	for _, t := range p.tenants {
		for _, id := range inOrder(t.wanted.Gateways) {
			account := t.wanted.Gateways[id]
			if t.wanted.Versions[id] == t.stored.Versions[id] || t.inbox(account) == "" {
				continue
			}
			if fetching == nil {
				var err error
				if fetching, err = p.fetching(); err != nil {
					return err
				}
			}
			if others := p.namesBut(id, fetching[t.inbox(account)]); len(others) > 0 {
				t.wrong(id, t.placeOf(account), "%s: answers are fetched there already. Whoever reads one takes it away, so that each account needs a place of its own.", strings.Join(others, ", "))
			}
		}
	}
	return nil
}

// fetching are the accounts of everybody that fetch answers, by the place.
func (p *plan) fetching() (map[string][]gateway.Account, error) {
	all, err := p.everybody()
	at := map[string][]gateway.Account{}
	for _, t := range all {
		for _, id := range inOrder(t.wanted.Gateways) {
			if place := t.inbox(t.wanted.Gateways[id]); place != "" {
				at[place] = append(at[place], t.opened(t.wanted.Gateways[id]))
			}
		}
	}
	return at, err
}

// namesBut are the names of accounts other than one, as far as they may be told.
func (p *plan) namesBut(id uuid.UUID, accounts []gateway.Account) (names []string) {
	for _, account := range accounts {
		switch tenants, bound := store.Reach(p.ctx); {
		case account.ID == id:
		case bound && !slices.Contains(tenants, account.TenantID):
			names = append(names, "An account of somebody else")
		default:
			names = append(names, account.Name)
		}
	}
	return names
}

// everybody is each tenant with what it shall have: those of the plan, and the others as they are.
func (p *plan) everybody() ([]*tenantPlan, error) {
	all, planned := slices.Clone(p.tenants), map[uuid.UUID]bool{}
	for _, t := range p.tenants {
		planned[t.id] = true
	}
	beyond := store.Beyond(p.ctx)
	tenants, err := p.applier.Store.Tenants(beyond)
	for _, tenant := range tenants {
		if planned[tenant.ID] {
			continue
		}
		stored, err := p.applier.Store.CurrentSetup(beyond, tenant.ID)
		if err != nil {
			return nil, err
		}
		all = append(all, &tenantPlan{plan: p, id: tenant.ID, wanted: stored})
	}
	return all, err
}

// inbox is where an account fetches answers, "" for one that does not.
func (t *tenantPlan) inbox(account merchant.GatewayAccount) string {
	return t.applier.Kinds[account.Adapter].Inbox(t.opened(account))
}

// placeOf is the setting that says where an account's files lie.
func (t *tenantPlan) placeOf(account merchant.GatewayAccount) string {
	for _, setting := range t.applier.Kinds[account.Adapter].Settings {
		if _, isGiven := account.Settings[setting.Name]; isGiven && setting.Place {
			return "settings." + setting.Name
		}
	}
	return "adapter"
}
