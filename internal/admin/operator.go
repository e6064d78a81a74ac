package admin

import (
	"net/http"
	"slices"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/people"
	"sepad/internal/store"
	"sepad/internal/web"
)

// peopleRoutes are those around operators and what they did.
func (a *Admin) peopleRoutes() []web.Route {
	const many, one, tokens = "/admin/v1/operators/", "/admin/v1/operators/{id}/", "/admin/v1/tokens/"
	return []web.Route{
		{Method: "GET", Pattern: "/admin/v1/me/", Handler: a.showMe},
		{Method: "GET", Pattern: "/admin/v1/audit/", Handler: a.listAudit},
		{Method: "GET", Pattern: tokens, Handler: a.listTokens},
		{Method: "POST", Pattern: tokens, Handler: a.createToken},
		{Method: "DELETE", Pattern: tokens + "{id}/", Handler: a.revokeToken},
		{Method: "GET", Pattern: many, Handler: a.listOperators},
		{Method: "POST", Pattern: many, Handler: a.createOperator},
		{Method: "GET", Pattern: one, Handler: a.showOperator},
		{Method: "PATCH", Pattern: one, Handler: a.changeOperator},
		{Method: "DELETE", Pattern: one, Handler: a.removeOperator},
		{Method: "POST", Pattern: one + "reset/", Handler: a.resetOperator},
	}
}

// meBody is who is asking.
type meBody struct {
	Actor      string     `json:"actor"`
	OperatorID *uuid.UUID `json:"operator_id"`
	Email      *string    `json:"email"`
	Role       store.Role `json:"role"`
	AllTenants bool       `json:"all_tenants"`
	Tenants    []string   `json:"tenants"`
}

// showMe answers GET /me/.
func (a *Admin) showMe(w http.ResponseWriter, r *http.Request) error {
	who, _ := people.Who(r.Context())
	body := meBody{Actor: who.Actor(), Role: who.Role, AllTenants: who.Tenants.All, Tenants: people.TenantNames(who.Tenants)}
	if who.Operator != nil {
		body.OperatorID, body.Email = &who.Operator.ID, &who.Operator.Email
	}
	web.WriteJSON(w, r, http.StatusOK, body)
	return nil
}

// OperatorBody is an operator as administrators see them. Link is what lets them in, and
// is shown once.
type OperatorBody struct {
	ID            uuid.UUID            `json:"id"`
	Email         string               `json:"email"`
	Role          store.Role           `json:"role"`
	AllTenants    bool                 `json:"all_tenants"`
	Tenants       []string             `json:"tenants"`
	Status        store.OperatorStatus `json:"status"`
	CreatedAt     string               `json:"created_at"`
	UpdatedAt     string               `json:"updated_at"`
	Link          string               `json:"link,omitempty"`
	LinkExpiresAt string               `json:"link_expires_at,omitempty"`
}

// OperatorOf shows an operator, here and on the command line.
func OperatorOf(o store.Operator, link people.Link) OperatorBody {
	body := OperatorBody{
		ID: o.ID, Email: o.Email, Role: o.Role, AllTenants: o.Tenants.All, Tenants: people.TenantNames(o.Tenants), Status: o.Status,
		CreatedAt: instantText(o.CreatedAt), UpdatedAt: instantText(o.UpdatedAt), Link: link.URL,
	}
	if link.URL != "" {
		body.LinkExpiresAt = instantText(link.ExpiresAt)
	}
	return body
}

// listOperators answers GET /operators/: all of them.
func (a *Admin) listOperators(w http.ResponseWriter, r *http.Request) error {
	if err := a.ask(r).err(); err != nil {
		return err
	}
	all, err := a.Store.Operators(r.Context())
	if err != nil {
		return err
	}
	list := listBody[OperatorBody]{Results: []OperatorBody{}}
	for _, o := range all {
		list.Results = append(list.Results, OperatorOf(o, people.Link{}))
	}
	web.WriteJSON(w, r, http.StatusOK, list)
	return nil
}

// readTenants reads whom an operator is bound to: nobody where it is not said, or said
// with a star.
func readTenants(in *web.Reader, bad payment.Fields) store.TenantSet {
	texts := in.Texts("tenants")
	if !in.Has("tenants") || slices.Equal(texts, []string{"*"}) {
		return store.TenantSet{All: true}
	}
	var set store.TenantSet
	for _, text := range texts {
		id, err := uuid.Parse(text)
		if err != nil {
			bad.Add("tenants", "tenants must be a list of UUIDs.")
		}
		set.IDs = append(set.IDs, id)
	}
	return set
}

// createOperator answers POST /operators/ with the link that lets them in.
func (a *Admin) createOperator(w http.ResponseWriter, r *http.Request) error {
	object, err := web.DecodeObject(w, r)
	if err != nil {
		return err
	}
	bad := payment.Fields{}
	in := web.NewReader(object, bad)
	email, role, tenants := in.Email("email", web.Required), in.Text("role", web.Required), readTenants(in, bad)
	if err := bad.Err(); err != nil {
		return err
	}
	o, link, err := a.People.Add(r.Context(), email, store.Role(role), tenants)
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusCreated, OperatorOf(o, link))
	return nil
}

// showOperator answers GET /operators/{id}/.
func (a *Admin) showOperator(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id", store.ErrNoOperator)
	if err != nil {
		return err
	}
	o, err := a.Store.Operator(r.Context(), id)
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, OperatorOf(o, people.Link{}))
	return nil
}

// changeOperator answers PATCH /operators/{id}/ {"role", "tenants"}.
func (a *Admin) changeOperator(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id", store.ErrNoOperator)
	if err != nil {
		return err
	}
	object, err := web.DecodeObject(w, r)
	if err != nil {
		return err
	}
	bad := payment.Fields{}
	in := web.NewReader(object, bad)
	role, tenants, binds := in.Text("role", web.NotBlank), readTenants(in, bad), in.Has("tenants")
	if in.Has("email") {
		bad.Add("email", "An address cannot be changed: remove the operator and add another.")
	}
	if err := bad.Err(); err != nil {
		return err
	}
	o, err := a.People.Change(r.Context(), id, func(o *store.Operator) {
		if role != "" {
			o.Role = store.Role(role)
		}
		if binds {
			o.Tenants = tenants
		}
	})
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, OperatorOf(o, people.Link{}))
	return nil
}

// removeOperator answers DELETE /operators/{id}/.
func (a *Admin) removeOperator(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id", store.ErrNoOperator)
	if err != nil {
		return err
	}
	if _, err := a.People.Remove(r.Context(), id); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// resetOperator answers POST /operators/{id}/reset/ with a new link.
func (a *Admin) resetOperator(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id", store.ErrNoOperator)
	if err != nil {
		return err
	}
	o, link, err := a.People.Reset(r.Context(), id)
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, OperatorOf(o, link))
	return nil
}
