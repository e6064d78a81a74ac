package dashboard

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/people"
	"sepad/internal/web"
)

// formView is a form about a record.
type formView struct {
	Groups form
	// Action is where it is sent.
	Action string
	// Version is the record's when it was shown: a change that was made meanwhile is not
	// written over unseen.
	Version int64
	IsNew   bool
	// MayChange tells that whoever looks may also change it.
	MayChange bool
	// Problems are what no field can be blamed for.
	Problems []string
	// IsOvertaken tells that somebody else has changed the record meanwhile.
	IsOvertaken bool
}

// HasProblems tells that something is to be mended.
func (f formView) HasProblems() (has bool) {
	has = len(f.Problems) > 0
	f.Groups.each(func(i *input) { has = has || i.Problem != "" })
	return has
}

// errOvertaken is the answer to a change that another came before.
var errOvertaken = errors.New("the record was changed meanwhile")

// checkVersion refuses a change of what is no more.
func checkVersion(sent url.Values, version int64) error {
	if seen, err := strconv.ParseInt(sent.Get("version"), 10, 64); err != nil || seen != version {
		return errOvertaken
	}
	return nil
}

// again is a form as it was sent, with what was wrong; not ok where it is something that
// no form can mend. What is stored by now stands beside it after a change of somebody else.
func again(shown formView, sent url.Values, err error, now merchant.Fields) (formView, int, bool) {
	shown.Groups.keep(sent)
	if errors.Is(err, errOvertaken) {
		values, failed := plain(now)
		if failed != nil {
			return shown, 0, false
		}
		shown.IsOvertaken = true
		shown.Groups.compare(values)
		return shown, http.StatusConflict, true
	}
	if errors.Is(err, people.ErrNotFresh) {
		shown.Problems = []string{people.ErrNotFresh.Detail}
		return shown, http.StatusConflict, true
	}
	bad := badFields(err)
	if bad == nil {
		return shown, 0, false
	}
	shown.Problems = shown.Groups.blame(bad)
	return shown, http.StatusBadRequest, true
}

// sentence is an error as a person reads it.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// one is a record of the path, or the one that is to be made.
type one struct {
	of     *merchant.Setup
	kind   recordKind
	id     uuid.UUID
	fields merchant.Fields
	isNew  bool
}

func (o one) path() string { return tenantsPath + o.of.Tenant.ID.String() + "/" + o.kind.path + "/" }

// find reads the record that a path names.
func (d *Dashboard) find(r *http.Request) (found one, err error) {
	var known bool
	if found.kind, known = kindAt(r.PathValue("kind")); !known {
		return found, web.ErrNotFound
	}
	if found.of, err = d.tenantSetup(r); err != nil {
		return found, err
	}
	if r.PathValue("id") == "" {
		found.id, found.isNew = payment.NewID(), true
		return found, nil
	}
	if found.id, err = pathID(r); err != nil {
		return found, err
	}
	if found.fields, known = found.kind.all(found.of)[found.id]; !known {
		return found, found.kind.none
	}
	return found, nil
}

// recordPage is the screen of one record.
type recordPage struct {
	Tenant   merchant.Tenant
	Path     string
	Kind     string
	ID       uuid.UUID
	Name     string
	IsActive bool
	Form     formView
	// Secret was just made, and is shown this once.
	Secret string
	// Tried is what came of a test.
	Tried *trial
	// Preview is where payers' view of a page is shown, "" for none.
	Preview           string
	States, Languages []string
	// Adapters are what a new gateway can be at, Adapter the one that was chosen.
	Adapters []choice
	Adapter  string
	// Tries is what can be tried, "" for nothing.
	Tries string
	// IsStale tells that the sign-in was too long ago to say where money, events or payers go.
	IsStale bool
}

// withSettings adds what an account was told, without its secrets.
func (d *Dashboard) withSettings(o one) merchant.Fields {
	account, isGateway := o.of.Gateways[o.id]
	if !isGateway {
		return o.fields
	}
	fields := merchant.GatewayFields(account)
	fields["settings"] = d.givenSettings(account)
	return fields
}

// givenSettings are what an account was told and may be shown.
func (d *Dashboard) givenSettings(account merchant.GatewayAccount) map[string]any {
	return d.Applier.Kinds[account.Adapter].Given(account.Settings)
}

func (d *Dashboard) formOf(r *http.Request, o one) (formView, error) {
	f := o.kind.form(d, o.of, o.fields)
	shown := formView{Groups: f, Action: o.path(), IsNew: o.isNew, MayChange: may(r, http.MethodPost, tenantsPath+"{tenant_id}/{kind}/")}
	if o.isNew {
		f.begin()
		return shown, nil
	}
	shown.Action, shown.Version = o.path()+o.id.String()+"/", o.of.Versions[o.id]
	values, err := plain(d.withSettings(o))
	f.show(values)
	if account, isGateway := o.of.Gateways[o.id]; isGateway {
		f.keepSecrets(d.Applier.Kinds[account.Adapter], account.Settings)
	}
	return shown, err
}

// keepSecrets says which secrets are set; they are shown to nobody.
func (f form) keepSecrets(kind gateway.Kind, settings merchant.Settings) {
	_, secrets := kind.Shown(settings)
	f.each(func(i *input) {
		if i.Kind == secretInput && slices.Contains(secrets, strings.TrimPrefix(i.Name, "settings.")) {
			i.Hint, i.Required = "is set; type to replace it", false
		}
	})
}

// showRecord answers GET /dashboard/setup/tenants/{tenant_id}/{kind}/{id}/ and …/{kind}/new/.
func (d *Dashboard) showRecord(w http.ResponseWriter, r *http.Request) error {
	o, err := d.find(r)
	if err != nil {
		return err
	}
	if o.isNew {
		o.fields = merchant.Fields{"adapter": r.URL.Query().Get("adapter")}
	}
	shown, err := d.formOf(r, o)
	if err != nil {
		return err
	}
	return d.record(w, r, http.StatusOK, o, recordPage{Form: shown})
}

func (d *Dashboard) record(w http.ResponseWriter, r *http.Request, status int, o one, shown recordPage) error {
	shown.Tenant, shown.Path, shown.Kind, shown.ID = o.of.Tenant, o.path(), o.kind.one, o.id
	shown.Name, _ = o.fields["name"].(string)
	shown.IsActive, _ = o.fields["active"].(bool)
	shown.States, shown.Languages = d.Preview.States, d.Preview.Languages
	shown.IsStale = slices.Contains(kindsWithWays, o.kind.path) && !d.People.IsFresh(r.Context())
	title := shown.Name
	if o.isNew {
		title = "New " + o.kind.one
	}
	if account, isGateway := o.of.Gateways[o.id]; isGateway {
		shown.Tries, shown.Adapter = "Test the connection", account.Adapter
	}
	if _, isProfile := o.of.WebhookProfiles[o.id]; isProfile {
		shown.Tries = "Send a test event"
	}
	if o.isNew && o.kind.path == "gateways" {
		shown.Adapter, shown.Adapters = d.adapterOf(o.fields), d.adapters()
	}
	switch campaign := o.of.Campaigns[o.id]; {
	case o.kind.path == "hosted-pages" && !o.isNew:
		shown.Preview = setupPath + "pages/" + o.id.String() + "/preview/"
	case campaign.HostedPageID != nil:
		shown.Preview = setupPath + "pages/" + campaign.HostedPageID.String() + "/preview/?campaign=" + o.id.String()
	}
	return d.render(w, r, status, "record", d.view(r, title, shown))
}

// kindsWithWays are those of which waysOf tells something.
var kindsWithWays = []string{"gateways", "hosted-pages", "webhook-profiles"}

// waysOf is where a record sends money, events and payers, and what payers see and read there in the merchant's name. It outlasts
// the session of whoever changes it, so that a browser that was left open must not turn it to somebody else.
func waysOf(s *merchant.Setup, id uuid.UUID) any {
	account, page := s.Gateways[id], s.HostedPages[id]
	return []any{
		account.Adapter, account.TestMode, account.Settings, s.WebhookProfiles[id].URL,
		page.SuccessRedirectURL, page.FailureRedirectURL, page.Links, wordsOf(page), page.Branding.LogoURL, page.Branding.LogoDarkURL,
	}
}

// wordsOf are a page's own texts, in a form in which none are as none.
func wordsOf(page merchant.HostedPage) string {
	if len(page.Content) == 0 {
		return ""
	}
	text, _ := json.Marshal(page.Content) // texts, by language
	return string(text)
}

// saveRecord answers POST /dashboard/setup/tenants/{tenant_id}/{kind}/ and …/{kind}/{id}/.
func (d *Dashboard) saveRecord(w http.ResponseWriter, r *http.Request) error {
	o, err := d.find(r)
	if err != nil {
		return err
	}
	sent, err := readForm(w, r)
	if err != nil {
		return err
	}
	if o.isNew {
		o.fields = merchant.Fields{"adapter": sent.Get("adapter")}
	}
	made, _, err := d.Applier.Change(r.Context(), o.of.Tenant.ID, d.People.Clock.Now(), func(s *merchant.Setup) error {
		if !o.isNew {
			if err := checkVersion(sent, s.Versions[o.id]); err != nil {
				return err
			}
		}
		before := waysOf(s, o.id)
		if err := d.putSent(s, o, sent); err != nil || reflect.DeepEqual(before, waysOf(s, o.id)) {
			return err
		}
		return d.People.RequireFresh(r.Context())
	})
	if err != nil {
		return d.saveAgain(w, r, o, sent, err)
	}
	saved := one{of: made, kind: o.kind, id: o.id, fields: o.kind.all(made)[o.id]}
	if profile, isProfile := made.WebhookProfiles[o.id]; isProfile && o.isNew {
		shown, err := d.formOf(r, saved)
		if err != nil {
			return err
		}
		return d.record(w, r, http.StatusOK, saved, recordPage{Form: shown, Secret: profile.SigningSecret.Reveal()})
	}
	name, _ := saved.fields["name"].(string)
	if o.isNew {
		return d.redirect(w, r, o.path()+o.id.String()+"/", name+" is there.")
	}
	return d.redirect(w, r, o.path()+o.id.String()+"/", "Saved.")
}

// putSent puts what was sent into a set-up.
func (d *Dashboard) putSent(s *merchant.Setup, o one, sent url.Values) error {
	stored := map[string]any{}
	if fields, exists := o.kind.all(s)[o.id]; exists {
		var err error
		if stored, err = plain(fields); err != nil {
			return err
		}
		if account, isGateway := s.Gateways[o.id]; isGateway {
			stored["settings"] = map[string]any(account.Settings)
		}
	}
	given := o.kind.form(d, s, o.fields).read(sent, stored)
	given["id"] = o.id.String()
	return o.kind.put(d.Applier.Rules(), s, o.id, given)
}

// saveAgain shows a form that was refused once more.
func (d *Dashboard) saveAgain(w http.ResponseWriter, r *http.Request, o one, sent url.Values, err error) error {
	now := o
	if !o.isNew {
		read, failed := d.find(r)
		if failed != nil {
			return failed
		}
		now = read
	}
	shown, failed := d.formOf(r, now)
	if failed != nil {
		return failed
	}
	shown, status, ok := again(shown, sent, err, d.withSettings(now))
	if !ok {
		return err
	}
	return d.record(w, r, status, now, recordPage{Form: shown})
}

// switchRecord answers POST …/{id}/off/ and …/{id}/on/.
func (d *Dashboard) switchRecord(on bool) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		o, err := d.find(r)
		if err != nil {
			return err
		}
		_, _, err = d.Applier.Change(r.Context(), o.of.Tenant.ID, d.People.Clock.Now(), func(s *merchant.Setup) error {
			if on {
				return o.kind.put(d.Applier.Rules(), s, o.id, merchant.Fields{"active": true})
			}
			o.kind.switchOff(s, o.id)
			return nil
		})
		if bad := badFields(err); bad != nil {
			return &payment.Error{Kind: payment.Conflict, Detail: strings.Join(sentences(bad), " ")}
		}
		if err != nil {
			return err
		}
		name, _ := o.fields["name"].(string)
		done := name + " is switched off. Nothing that used it is lost."
		if on {
			done = name + " is switched on."
		}
		return d.redirect(w, r, o.path()+o.id.String()+"/", done)
	}
}
