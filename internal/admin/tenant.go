package admin

import (
	"maps"
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/web"
)

// tenantRoutes are those around tenants themselves.
func (a *Admin) tenantRoutes() []web.Route {
	const many, one = "/admin/v1/tenants/", "/admin/v1/tenants/{tenant_id}/"
	return []web.Route{
		{Method: "GET", Pattern: many, Handler: a.listTenants},
		{Method: "POST", Pattern: many, Handler: a.createTenant},
		{Method: "GET", Pattern: one, Handler: a.showTenant},
		{Method: "PATCH", Pattern: one, Handler: a.changeTenant},
	}
}

func (a *Admin) listTenants(w http.ResponseWriter, r *http.Request) error {
	tenants, err := a.Store.Tenants(r.Context())
	if err != nil {
		return err
	}
	all := make(map[uuid.UUID]merchant.Fields, len(tenants))
	for _, tenant := range tenants {
		all[tenant.ID] = merchant.TenantFields(tenant)
	}
	return a.writeAll(w, r, all)
}

func (a *Admin) showTenant(w http.ResponseWriter, r *http.Request) error {
	of, err := a.tenantSetup(r)
	if err != nil {
		return err
	}
	writeTenant(w, r, http.StatusOK, of)
	return nil
}

// writeTenant answers with a tenant's own fields; what belongs to it has calls of
// its own.
func writeTenant(w http.ResponseWriter, r *http.Request, status int, of *merchant.Setup) {
	writeRecord(w, r, status, of, of.Tenant.ID, merchant.TenantFields(of.Tenant))
}

func (a *Admin) createTenant(w http.ResponseWriter, r *http.Request) error {
	fields, request, err := a.readNew(w, r)
	if err != nil {
		return err
	}
	id, err := newRecordID(fields)
	if err != nil {
		return err
	}
	tenant, err := a.Applier.Rules().ReadTenant(fields)
	if err != nil {
		return err
	}
	of, err := store.Once(r.Context(), a.Store, request,
		func(id uuid.UUID) (*merchant.Setup, error) { return a.Checkout.SetupOf(r.Context(), id) },
		func() (*merchant.Setup, error) {
			return a.Applier.Under(request, id).Create(r.Context(), tenant, a.Real.Now())
		})
	if err != nil {
		return err
	}
	writeTenant(w, r, http.StatusCreated, of)
	return nil
}

func (a *Admin) changeTenant(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "tenant_id", setup.ErrNoTenant)
	if err != nil {
		return err
	}
	changed, err := readFields(w, r)
	if err != nil {
		return err
	}
	if named, ok := changed["id"]; ok && named != id.String() {
		return payment.Fields{"id": "An id cannot be changed."}.Err()
	}
	of, err := a.changeOne(r, id, id, func(s *merchant.Setup) (err error) {
		fields := merchant.TenantFields(s.Tenant)
		maps.Copy(fields, changed)
		s.Tenant, err = a.Applier.Rules().ReadTenant(fields)
		return err
	})
	if err != nil {
		return err
	}
	writeTenant(w, r, http.StatusOK, of)
	return nil
}
