package admin

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/web"
)

var errNoKey = notFound("API key")

// apiKeyRoutes are those around a tenant's keys.
func (a *Admin) apiKeyRoutes() []web.Route {
	const many = "/admin/v1/tenants/{tenant_id}/api-keys/"
	return []web.Route{
		{Method: "GET", Pattern: many, Handler: a.listKeys},
		{Method: "POST", Pattern: many, Handler: a.createKey},
		{Method: "GET", Pattern: many + "{id}/", Handler: a.showKey},
		{Method: "DELETE", Pattern: many + "{id}/", Handler: a.revokeKey},
	}
}

func keyFields(k merchant.APIKey) merchant.Fields {
	return merchant.Fields{
		"id": k.ID, "name": k.Name, "prefix": k.Prefix, "scopes": k.Scopes.List(), "created_at": instantText(k.CreatedAt),
		"last_used_at": instantOrNull(k.LastUsedAt), "revoked_at": instantOrNull(k.RevokedAt),
	}
}

func instantOrNull(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return instantText(at)
}

// keys reads the keys of the tenant of the path.
func (a *Admin) keys(r *http.Request) (uuid.UUID, []merchant.APIKey, error) {
	of, err := a.tenantSetup(r)
	if err != nil {
		return uuid.Nil, nil, err
	}
	all, err := a.Store.Tenant(of.Tenant.ID).APIKeys(r.Context())
	return of.Tenant.ID, all, err
}

func (a *Admin) listKeys(w http.ResponseWriter, r *http.Request) error {
	_, keys, err := a.keys(r)
	if err != nil {
		return err
	}
	all := make(map[uuid.UUID]merchant.Fields, len(keys))
	for _, key := range keys {
		all[key.ID] = keyFields(key)
	}
	return a.writeAll(w, r, all)
}

// createKey answers with the key itself, this once: a repeat of the call is told
// which key it made, and that nobody can read it any more.
func (a *Admin) createKey(w http.ResponseWriter, r *http.Request) error {
	tenantID, _, err := a.keys(r)
	if err != nil {
		return err
	}
	object, err := web.DecodeObject(w, r)
	if err != nil {
		return err
	}
	bad := payment.Fields{}
	request := a.requestKey(r, object.Source(), bad)
	read := web.NewReader(object, bad)
	name := read.Text("name", web.Required, web.MaxLength(setup.MaxKeyName))
	scopes, unknown := merchant.NewScopes(read.Texts("scopes"))
	if len(unknown) > 0 {
		bad.Add("scopes", merchant.UnknownScopes(unknown))
	}
	if read.Has("key") {
		bad.Add("key", "Keys are made here; only a resource file brings its own.")
	}
	if err := bad.Err(); err != nil {
		return err
	}
	fields, err := store.Once(r.Context(), a.Store, request,
		func(id uuid.UUID) (merchant.Fields, error) {
			all, err := a.Store.Tenant(tenantID).APIKeys(r.Context())
			i := slices.IndexFunc(all, func(k merchant.APIKey) bool { return k.ID == id })
			if err != nil || i < 0 {
				return nil, cmp.Or(err, errNoKey)
			}
			fields := keyFields(all[i])
			fields["key"] = nil
			return fields, nil
		},
		func() (merchant.Fields, error) {
			key, text, err := setup.CreateKey(r.Context(), a.Store, tenantID, name, scopes, a.Checkout.Environment, a.Real.Now(), request)
			fields := keyFields(key)
			fields["key"] = text.Reveal()
			return fields, err
		})
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusCreated, fields)
	return nil
}

// key finds the key of the path.
func (a *Admin) key(r *http.Request) (uuid.UUID, merchant.APIKey, error) {
	tenantID, keys, err := a.keys(r)
	if err != nil {
		return uuid.Nil, merchant.APIKey{}, err
	}
	id, err := pathID(r, "id", errNoKey)
	if err != nil {
		return uuid.Nil, merchant.APIKey{}, err
	}
	for _, key := range keys {
		if key.ID == id {
			return tenantID, key, nil
		}
	}
	return uuid.Nil, merchant.APIKey{}, errNoKey
}

func (a *Admin) showKey(w http.ResponseWriter, r *http.Request) error {
	_, key, err := a.key(r)
	if err != nil {
		return err
	}
	w.Header().Set("ETag", entityTag(keyVersion(key)))
	web.WriteJSON(w, r, http.StatusOK, keyFields(key))
	return nil
}

// keyVersion counts the one change that a key can have.
func keyVersion(k merchant.APIKey) int64 {
	if k.Revoked() {
		return 2
	}
	return 1
}

// revokeKey ends a key; one that was revoked before stays so.
func (a *Admin) revokeKey(w http.ResponseWriter, r *http.Request) error {
	tenantID, key, err := a.key(r)
	if err != nil {
		return err
	}
	if err := checkVersion(r, keyVersion(key)); err != nil {
		return err
	}
	if _, err := setup.RevokeKey(r.Context(), a.Store, tenantID, key.ID.String(), a.Real.Now()); err != nil && !errors.Is(err, setup.ErrRevoked) {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
