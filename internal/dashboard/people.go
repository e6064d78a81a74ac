package dashboard

import (
	"errors"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/people"
	"sepad/internal/store"
	"sepad/internal/web"
)

// peopleView is everybody, and the link of who was just added or reset.
type peopleView struct {
	People  []personView
	Tenants []merchant.Tenant
	Roles   []store.Role
	// IsFresh tells that somebody can be let in: the sign-in was not long ago.
	IsFresh bool
	// Link lets Invited in, and is shown this once.
	Link    people.Link
	Invited string
	// New is who is to be added, as it was typed.
	New newPerson
}

// newPerson is a form that was sent, with why it was refused.
type newPerson struct {
	Email, Problem string
	Role           store.Role
	Tenants        []string
}

// Has tells whether a tenant was ticked.
func (n newPerson) Has(tenantID uuid.UUID) bool { return slices.Contains(n.Tenants, tenantID.String()) }

type personView struct {
	store.Operator
	TenantNames []string
	IsSelf      bool
}

// showPeople answers GET /dashboard/people/.
func (d *Dashboard) showPeople(w http.ResponseWriter, r *http.Request) error {
	return d.people(w, r, http.StatusOK, peopleView{})
}

func (d *Dashboard) people(w http.ResponseWriter, r *http.Request, status int, shown peopleView) error {
	all, err := d.Store.Operators(r.Context())
	if err != nil {
		return err
	}
	tenants, err := d.Store.Tenants(r.Context())
	if err != nil {
		return err
	}
	who, _ := people.Who(r.Context())
	shown.Tenants, shown.Roles, shown.IsFresh = tenants, store.Roles, d.People.IsFresh(r.Context())
	for _, o := range all {
		person := personView{Operator: o, IsSelf: o.ID == who.Operator.ID}
		for _, tenant := range tenants {
			if slices.Contains(o.Tenants.IDs, tenant.ID) {
				person.TenantNames = append(person.TenantNames, tenant.Name)
			}
		}
		shown.People = append(shown.People, person)
	}
	v := d.view(r, "People", shown)
	v.Notice = d.said(w, r)
	return d.render(w, r, status, "people", v)
}

// readTenants reads the tenants that were ticked; none is all.
func readTenants(texts []string) (store.TenantSet, error) {
	set := store.TenantSet{All: len(texts) == 0}
	for _, text := range texts {
		id, err := uuid.Parse(text)
		if err != nil {
			return set, payment.Fields{"tenants": "tenants must be UUIDs."}.Err()
		}
		set.IDs = append(set.IDs, id)
	}
	return set, nil
}

// addPerson answers POST /dashboard/people/ with the link that lets them in.
func (d *Dashboard) addPerson(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	tenants, err := readTenants(form["tenant"])
	if err != nil {
		return err
	}
	if !web.IsEmail(form.Get("email")) {
		return payment.Fields{"email": "This is not an email address."}.Err()
	}
	o, link, err := d.People.Add(r.Context(), form.Get("email"), store.Role(form.Get("role")), tenants)
	if errors.Is(err, people.ErrNotFresh) { // what was typed is still there after the sign-in
		typed := newPerson{Email: form.Get("email"), Role: store.Role(form.Get("role")), Tenants: form["tenant"], Problem: people.ErrNotFresh.Detail}
		return d.people(w, r, http.StatusConflict, peopleView{New: typed})
	}
	if err != nil {
		return err
	}
	return d.people(w, r, http.StatusOK, peopleView{Link: link, Invited: o.Email})
}

// changePerson answers POST /dashboard/people/{id}/role/.
func (d *Dashboard) changePerson(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	id, err := d.other(r)
	if err != nil {
		return err
	}
	o, err := d.People.Change(r.Context(), id, func(o *store.Operator) { o.Role = store.Role(form.Get("role")) })
	if err != nil {
		return err
	}
	return d.redirect(w, r, "/dashboard/people/", o.Email+" is "+string(o.Role)+" now.")
}

// errSelf keeps the last administrator from locking everybody out by a slip.
var errSelf = &payment.Error{Kind: payment.Conflict, Detail: "This cannot be done to oneself: ask another administrator, or use sepad operators."}

// other is the person of the path, who is not the one who asks.
func (d *Dashboard) other(r *http.Request) (uuid.UUID, error) {
	who, _ := people.Who(r.Context())
	id, err := pathID(r)
	if err == nil && id == who.Operator.ID {
		err = errSelf
	}
	return id, err
}

// resetPerson answers POST /dashboard/people/{id}/reset/ with a new link.
func (d *Dashboard) resetPerson(w http.ResponseWriter, r *http.Request) error {
	id, err := d.other(r)
	if err != nil {
		return err
	}
	o, link, err := d.People.Reset(r.Context(), id)
	if err != nil {
		return err
	}
	return d.people(w, r, http.StatusOK, peopleView{Link: link, Invited: o.Email})
}

// removePerson answers POST /dashboard/people/{id}/remove/.
func (d *Dashboard) removePerson(w http.ResponseWriter, r *http.Request) error {
	id, err := d.other(r)
	if err != nil {
		return err
	}
	o, err := d.People.Remove(r.Context(), id)
	if err != nil {
		return err
	}
	return d.redirect(w, r, "/dashboard/people/", o.Email+" was removed.")
}
