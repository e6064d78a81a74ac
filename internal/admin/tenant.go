package admin

import (
	"maps"
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/web"
)

// tenantRoutes are those around tenants themselves.
func (a *Admin) tenantRoutes() []web.Route {
	const many, one = "/admin/v1/tenants/", "/admin/v1/tenants/{tenant_id}/"
	return []web.Route{
		{Method: "GET", Pattern: many, Handler: a.guarded(a.listTenants)},
		{Method: "POST", Pattern: many, Handler: a.guarded(a.createTenant)},
		{Method: "GET", Pattern: one, Handler: a.guarded(a.showTenant)},
		{Method: "PATCH", Pattern: one, Handler: a.guarded(a.changeTenant)},
	}
}

func (a *Admin) listTenants(w http.ResponseWriter, r *http.Request) error {
	tenants, err := a.Store.Tenants(r.Context())
	if err != nil {
		return err
	}
	all := make(map[uuid.UUID]setup.Fields, len(tenants))
	for _, tenant := range tenants {
		all[tenant.ID] = setup.TenantFields(tenant)
	}
	return a.writeAll(w, r, all)
}

func (a *Admin) showTenant(w http.ResponseWriter, r *http.Request) error {
	of, err := a.tenantSetup(r)
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, setup.TenantFields(of.Tenant))
	return nil
}

func (a *Admin) createTenant(w http.ResponseWriter, r *http.Request) error {
	fields, err := readFields(w, r)
	if err != nil {
		return err
	}
	id, err := newRecordID(fields)
	if err != nil {
		return err
	}
	if _, err := a.Store.Tenant(id).Tenant(r.Context()); !store.IsNotFound(err) {
		if err == nil {
			err = payment.Fields{"id": "This id is already taken."}.Err()
		}
		return err
	}
	return a.putTenant(w, r, http.StatusCreated, id, fields)
}

func (a *Admin) changeTenant(w http.ResponseWriter, r *http.Request) error {
	of, err := a.tenantSetup(r)
	if err != nil {
		return err
	}
	given, err := readFields(w, r)
	if err != nil {
		return err
	}
	fields := setup.TenantFields(of.Tenant)
	maps.Copy(fields, given)
	if text, ok := fields["id"].(string); ok && text != of.Tenant.ID.String() {
		return payment.Fields{"id": "An id cannot be changed."}.Err()
	}
	return a.putTenant(w, r, http.StatusOK, of.Tenant.ID, fields)
}

// putTenant writes a tenant's own fields; what belongs to it has calls of its own.
func (a *Admin) putTenant(w http.ResponseWriter, r *http.Request, status int, id uuid.UUID, fields setup.Fields) error {
	bad := payment.Fields{}
	for name := range fields {
		if name != "id" && name != "name" && name != "creditor" {
			bad.Add(name, "This field is not known.")
		}
	}
	if err := bad.Err(); err != nil {
		return err
	}
	if _, err := a.Applier.PutTenant(r.Context(), fields, a.Real.Now()); err != nil {
		return err
	}
	tenant, err := a.Store.Tenant(id).Tenant(r.Context())
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, status, setup.TenantFields(tenant))
	return nil
}
