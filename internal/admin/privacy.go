package admin

import (
	"errors"
	"net/http"

	"sepad/internal/store"
	"sepad/internal/web"
)

// privacyRoutes are what a person may ask for.
func (a *Admin) privacyRoutes() []web.Route {
	const one = "/admin/v1/leads/{id}/"
	return []web.Route{
		{Method: "GET", Pattern: one + "export/", Handler: a.exportLead},
		{Method: "POST", Pattern: one + "erase/", Handler: a.eraseLead},
	}
}

// personNamed finds the person that a path names.
func (a *Admin) personNamed(r *http.Request) (*store.Person, error) {
	id, err := pathID(r, "id", store.ErrNoLead)
	if err != nil {
		return nil, err
	}
	tenantID, err := a.Store.LeadOwner(r.Context(), id)
	if err != nil {
		return nil, err
	}
	return a.Store.Tenant(tenantID).Person(r.Context(), id)
}

// exportLead answers GET /leads/{id}/export/ with everything that is known, as it is
// read.
func (a *Admin) exportLead(w http.ResponseWriter, r *http.Request) error {
	who, err := a.personNamed(r)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Disposition", `attachment; filename="lead-`+who.LeadID.String()+`.json"`)
	w.Header().Set("Cache-Control", "no-store")
	if err := a.Privacy.Export(r.Context(), who, w); err != nil {
		return errors.Join(http.ErrAbortHandler, err) // a part of it may be gone already
	}
	return nil
}

// eraseLead answers POST /leads/{id}/erase/. Repeated, it erases what came since.
func (a *Admin) eraseLead(w http.ResponseWriter, r *http.Request) error {
	who, err := a.personNamed(r)
	if err != nil {
		return err
	}
	erased, err := a.Privacy.Erase(r.Context(), who)
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, erased)
	return nil
}
