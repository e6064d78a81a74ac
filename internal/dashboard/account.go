package dashboard

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"sepad/internal/people"
	"sepad/internal/store"
	"sepad/internal/web"
)

// accountView is oneself: role, tokens, sessions.
type accountView struct {
	Tenants []string
	Tokens  []store.OperatorToken
	// Made is a token that was just made, which is shown this once. Name and Days were typed for one that was refused.
	Made, Problem, Name string
	Days                int
	Now                 time.Time
	Passkeys            []passkeyView
	// PasskeyHome is where passkeys are added, when it is not here; IsPasskeyHome tells that it is.
	PasskeyHome   string
	IsPasskeyHome bool
	// HasApp tells that codes of an authenticator app are taken too.
	HasApp bool
	// IsFresh tells that passkeys and tokens can be made: the sign-in was not long ago.
	IsFresh bool
}

// showAccount answers GET /dashboard/account/.
func (d *Dashboard) showAccount(w http.ResponseWriter, r *http.Request) error {
	return d.account(w, r, http.StatusOK, accountView{Days: tokenDays})
}

// tokenDays is how long a token lasts where nothing else is typed.
const tokenDays = 90

func (d *Dashboard) account(w http.ResponseWriter, r *http.Request, status int, shown accountView) error {
	who, _ := people.Who(r.Context())
	tokens, err := d.Store.OperatorTokens(r.Context(), who.Operator.ID)
	if err != nil {
		return err
	}
	names, err := d.tenantNames(r, who.Tenants)
	if err != nil {
		return err
	}
	shown.Tenants, shown.Tokens, shown.Now, shown.IsFresh = names, tokens, d.People.Clock.Now(), d.People.IsFresh(r.Context())
	if err := d.addPasskeys(r, &shown); err != nil {
		return err
	}
	v := d.view(r, "Your account", shown)
	v.Notice = d.said(w, r)
	return d.render(w, r, status, "account", v)
}

// tenantNames are the names of the tenants that somebody is bound to.
func (d *Dashboard) tenantNames(r *http.Request, set store.TenantSet) (names []string, err error) {
	if set.All {
		return nil, nil
	}
	tenants, err := d.Store.Tenants(r.Context())
	for _, tenant := range tenants {
		for _, id := range set.IDs {
			if tenant.ID == id {
				names = append(names, tenant.Name)
			}
		}
	}
	return names, err
}

// makeToken answers POST /dashboard/account/tokens/ with the token itself.
func (d *Dashboard) makeToken(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	who, _ := people.Who(r.Context())
	days, _ := strconv.Atoi(form.Get("days")) // none is refused as such
	const day = 24 * time.Hour
	_, text, err := d.People.CreateToken(r.Context(), *who.Operator, form.Get("name"), d.People.Clock.Now().Add(time.Duration(days)*day))
	if errors.Is(err, people.ErrNotFresh) {
		return d.account(w, r, http.StatusConflict, accountView{Problem: people.ErrNotFresh.Detail, Name: form.Get("name"), Days: days})
	}
	if err != nil {
		return err
	}
	return d.account(w, r, http.StatusOK, accountView{Made: text.Reveal(), Days: tokenDays})
}

// endToken answers POST /dashboard/account/tokens/{id}/revoke/.
func (d *Dashboard) endToken(w http.ResponseWriter, r *http.Request) error {
	who, _ := people.Who(r.Context())
	id, err := pathID(r)
	if err != nil {
		return err
	}
	if err := d.People.RevokeToken(r.Context(), *who.Operator, id); err != nil {
		return err
	}
	return d.redirect(w, r, "/dashboard/account/", "The token is revoked.")
}

// pathID reads the id of the path; what is none leads nowhere.
func pathID(r *http.Request) (uuid.UUID, error) {
	id, err := uuid.Parse(r.PathValue("id"))
	if err != nil {
		return uuid.Nil, web.ErrNotFound
	}
	return id, nil
}
