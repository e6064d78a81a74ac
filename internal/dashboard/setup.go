package dashboard

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/people"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/web"
)

const (
	setupPath = "/dashboard/setup/"
	// tenantsPath is where each merchant is.
	tenantsPath = setupPath + "tenants/"
)

// setupView is all merchants.
type setupView struct {
	Tenants []merchant.Tenant
	Form    formView
}

// showSetup answers GET /dashboard/setup/. Who works for one merchant sees that one.
func (d *Dashboard) showSetup(w http.ResponseWriter, r *http.Request) error {
	return d.setup(w, r, http.StatusOK, tenantForm(), nil)
}

func (d *Dashboard) setup(w http.ResponseWriter, r *http.Request, status int, f form, problems []string) error {
	tenants, err := d.Store.Tenants(r.Context())
	if err != nil {
		return err
	}
	shown := setupView{Tenants: tenants, Form: formView{Groups: f, Action: setupPath, Problems: problems, MayChange: may(r, http.MethodPost, setupPath), IsNew: true}}
	return d.render(w, r, status, "setup", d.view(r, "Setup", shown))
}

// may tells whether whoever asks has the right to a route.
func may(r *http.Request, method, pattern string) bool {
	who, _ := people.Who(r.Context())
	return people.RightTo(method, pattern).Admits(who)
}

// addTenant answers POST /dashboard/setup/.
func (d *Dashboard) addTenant(w http.ResponseWriter, r *http.Request) error {
	sent, err := readForm(w, r)
	if err != nil {
		return err
	}
	f, id := tenantForm(), payment.NewID()
	fields := f.read(sent, nil)
	fields["id"] = id.String()
	tenant, err := d.Applier.Rules().ReadTenant(fields)
	if err == nil {
		_, err = d.Applier.Create(r.Context(), tenant, d.People.Clock.Now())
	}
	if bad := badFields(err); bad != nil {
		f.keep(sent)
		return d.setup(w, r, http.StatusBadRequest, f, f.blame(bad))
	}
	if err != nil {
		return err
	}
	return d.redirect(w, r, tenantsPath+id.String()+"/", tenant.Name+" is there. Set up a gateway next.")
}

// badFields are what is wrong with a record, nil where it is something else.
func badFields(err error) payment.Fields {
	refusal, ok := errors.AsType[*payment.Error](err)
	switch {
	case !ok || refusal.Kind != payment.Invalid:
		return nil
	case len(refusal.Fields) == 0:
		return payment.Fields{"": refusal.Detail}
	default:
		return refusal.Fields
	}
}

// tenantView is all that a merchant has set up.
type tenantView struct {
	Tenant merchant.Tenant
	Path   string
	Kinds  []kindView
	Keys   []merchant.APIKey
	Scopes []merchant.Scope
	// Ticked is what a new key is to open: the usual, or what was ticked before.
	Ticked    merchant.Scopes
	Form      formView
	MayChange bool
	// IsFresh tells that keys can be made: the sign-in was not long ago.
	IsFresh bool
	// MadeKey is a key that was just made, which is shown this once.
	MadeKey string
	// KeyProblem is what is wrong with one that was to be made, KeyName what it was to be called.
	KeyProblem, KeyName string
}

type kindView struct {
	recordKind
	Path    string
	Records []recordView
}

// Title, One and Empty are for templates.
func (k kindView) Title() string { return k.many }
func (k kindView) One() string   { return k.one }
func (k kindView) Empty() string { return k.empty }

// recordView is a record in a list.
type recordView struct {
	ID       uuid.UUID
	Name     string
	Facts    string
	IsActive bool
}

// tenantSetup reads what the tenant of the path has set up.
func (d *Dashboard) tenantSetup(r *http.Request) (*merchant.Setup, error) {
	id, err := uuid.Parse(r.PathValue("tenant_id"))
	if err != nil {
		return nil, web.ErrNotFound
	}
	found, err := d.Store.CurrentSetup(r.Context(), id)
	if store.IsNotFound(err) {
		return nil, setup.ErrNoTenant
	}
	return found, err
}

// showTenant answers GET /dashboard/setup/tenants/{tenant_id}/.
func (d *Dashboard) showTenant(w http.ResponseWriter, r *http.Request) error {
	of, err := d.tenantSetup(r)
	if err != nil {
		return err
	}
	return d.tenant(w, r, http.StatusOK, of, tenantView{})
}

func (d *Dashboard) tenant(w http.ResponseWriter, r *http.Request, status int, of *merchant.Setup, shown tenantView) (err error) {
	shown.Tenant, shown.Path = of.Tenant, tenantsPath+of.Tenant.ID.String()+"/"
	if shown.Scopes = merchant.AllScopes; shown.KeyProblem == "" {
		shown.Ticked = merchant.DefaultScopes
	}
	shown.MayChange, shown.IsFresh = may(r, http.MethodPost, tenantsPath+"{tenant_id}/"), d.People.IsFresh(r.Context())
	shows := campaignsByPage(of)
	for _, kind := range recordKinds {
		shown.Kinds = append(shown.Kinds, kindView{kind, shown.Path + kind.path + "/", recordsOf(kind, of, shows)})
	}
	if shown.Keys, err = d.Store.Tenant(of.Tenant.ID).APIKeys(r.Context()); err != nil {
		return err
	}
	if shown.Form.Groups == nil {
		if shown.Form, err = d.tenantFields(r, of); err != nil {
			return err
		}
	}
	return d.render(w, r, status, "tenant", d.view(r, of.Tenant.Name, shown))
}

// tenantFields is the form with a tenant's own fields.
func (d *Dashboard) tenantFields(r *http.Request, of *merchant.Setup) (formView, error) {
	f := tenantForm()
	values, err := plain(merchant.TenantFields(of.Tenant))
	f.show(values)
	return formView{
		Groups: f, Action: tenantsPath + of.Tenant.ID.String() + "/", Version: of.Versions[of.Tenant.ID], MayChange: may(r, http.MethodPost, tenantsPath+"{tenant_id}/"),
	}, err
}

// recordsOf lists a tenant's records of a kind, those in use first.
func recordsOf(kind recordKind, of *merchant.Setup, shows map[uuid.UUID][]merchant.Campaign) (views []recordView) {
	for id, fields := range kind.all(of) {
		name, _ := fields["name"].(string)
		isActive, _ := fields["active"].(bool)
		views = append(views, recordView{id, name, factsOf(kind, of, shows, id), isActive})
	}
	slices.SortFunc(views, func(a, b recordView) int {
		if a.IsActive != b.IsActive {
			return map[bool]int{true: -1, false: 1}[a.IsActive]
		}
		return strings.Compare(a.Name+a.ID.String(), b.Name+b.ID.String())
	})
	return views
}

// factsOf says in a few words what a record is.
func factsOf(kind recordKind, of *merchant.Setup, shows map[uuid.UUID][]merchant.Campaign, id uuid.UUID) string {
	switch kind.path {
	case "gateways":
		g := of.Gateways[id]
		return g.Adapter + map[bool]string{true: ", test mode"}[g.TestMode]
	case "offers":
		t := of.Offers[id].Terms
		return strings.TrimSpace(t.PriceMinor.String() + " " + t.Currency + " " + strings.ToLower(strings.ReplaceAll(string(t.BillingType), "_", " ")+" "+string(t.Frequency)))
	case "webhook-profiles":
		p := of.WebhookProfiles[id]
		return p.URL + map[bool]string{true: " (default)"}[p.Default]
	case "campaigns":
		c := of.Campaigns[id]
		return of.Offers[c.OfferID].Name + " through " + of.Gateways[c.GatewayID].Name
	default:
		var names []string
		for _, campaign := range shows[id] {
			names = append(names, campaign.Name)
		}
		return strings.Join(names, ", ")
	}
}

// voiceOf is in whose name payers get mails, and who gets their answers. It outlasts the session
// of whoever changes it, as ways do (waysOf).
func voiceOf(t merchant.Tenant) [2]string { return [2]string{t.Notices.Sender, t.Notices.ReplyTo} }

// changeTenant answers POST /dashboard/setup/tenants/{tenant_id}/.
func (d *Dashboard) changeTenant(w http.ResponseWriter, r *http.Request) error {
	of, err := d.tenantSetup(r)
	if err != nil {
		return err
	}
	sent, err := readForm(w, r)
	if err != nil {
		return err
	}
	id := of.Tenant.ID
	_, _, err = d.Applier.Change(r.Context(), id, d.People.Clock.Now(), func(s *merchant.Setup) error {
		if err := checkVersion(sent, s.Versions[id]); err != nil {
			return err
		}
		fields := merchant.TenantFields(s.Tenant)
		stored, err := plain(fields)
		if err != nil {
			return err
		}
		maps.Copy(fields, tenantForm().read(sent, stored))
		before := voiceOf(s.Tenant)
		if s.Tenant, err = d.Applier.Rules().ReadTenant(fields); err != nil || voiceOf(s.Tenant) == before {
			return err
		}
		return d.People.RequireFresh(r.Context())
	})
	if err == nil {
		return d.redirect(w, r, tenantsPath+id.String()+"/", "Saved.")
	}
	if of, failed := d.tenantSetup(r); failed == nil {
		shown, failed := d.tenantFields(r, of)
		if failed != nil {
			return failed
		}
		if shown, status, ok := again(shown, sent, err, merchant.TenantFields(of.Tenant)); ok {
			return d.tenant(w, r, status, of, tenantView{Form: shown})
		}
	}
	return err
}

// makeKey answers POST /dashboard/setup/tenants/{tenant_id}/api-keys/ with the key itself.
func (d *Dashboard) makeKey(w http.ResponseWriter, r *http.Request) error {
	of, err := d.tenantSetup(r)
	if err != nil {
		return err
	}
	sent, err := readForm(w, r)
	if err != nil {
		return err
	}
	scopes, unknown := merchant.NewScopes(sent["scopes"])
	name := strings.TrimSpace(sent.Get("name"))
	refuse := func(status int, problem string) error { // what was typed is still there afterwards
		return d.tenant(w, r, status, of, tenantView{KeyProblem: problem, KeyName: name, Ticked: scopes})
	}
	switch {
	case len(unknown) > 0:
		return refuse(http.StatusBadRequest, merchant.UnknownScopes(unknown))
	case name == "":
		return refuse(http.StatusBadRequest, "Give the key a name, such as the program that will use it.")
	case !d.People.IsFresh(r.Context()):
		return refuse(http.StatusConflict, people.ErrNotFresh.Detail)
	}
	_, text, err := setup.CreateKey(r.Context(), d.Store, of.Tenant.ID, name, scopes, d.Environment, d.People.Clock.Now(), store.RequestKey{})
	if err != nil {
		return refuse(http.StatusBadRequest, sentence(err))
	}
	return d.tenant(w, r, http.StatusOK, of, tenantView{MadeKey: text.Reveal()})
}

// endKey answers POST /dashboard/setup/tenants/{tenant_id}/api-keys/{id}/revoke/.
func (d *Dashboard) endKey(w http.ResponseWriter, r *http.Request) error {
	of, err := d.tenantSetup(r)
	if err != nil {
		return err
	}
	id, err := pathID(r)
	if err != nil {
		return err
	}
	key, err := setup.RevokeKey(r.Context(), d.Store, of.Tenant.ID, id.String(), d.People.Clock.Now())
	switch {
	case errors.Is(err, setup.ErrRevoked), errors.Is(err, setup.ErrNoKey):
		return notFound("Key")
	case err != nil:
		return err
	}
	return d.redirect(w, r, tenantsPath+of.Tenant.ID.String()+"/", "The key "+key.Name+" opens nothing any more.")
}

// exportSetup answers GET /dashboard/setup/tenants/{tenant_id}/export/ with a resource file.
func (d *Dashboard) exportSetup(w http.ResponseWriter, r *http.Request) error {
	of, err := d.tenantSetup(r)
	if err != nil {
		return err
	}
	keys, err := d.Store.Tenant(of.Tenant.ID).APIKeys(r.Context())
	if err != nil {
		return err
	}
	text, err := setup.Export(of, keys, d.Applier.Kinds)
	if err != nil {
		return err
	}
	header := w.Header()
	header.Set("Content-Type", "application/yaml; charset=utf-8")
	header.Set("Content-Disposition", "attachment; filename*=UTF-8''"+url.PathEscape(strings.ToLower(strings.ReplaceAll(of.Tenant.Name, " ", "-"))+".yaml"))
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(text)
	return nil
}
