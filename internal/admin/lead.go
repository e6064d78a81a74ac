package admin

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/web"
)

// leadBody is a person within a tenant.
type leadBody struct {
	ID         uuid.UUID `json:"id"`
	TenantID   uuid.UUID `json:"tenant_id"`
	Email      string    `json:"email"`
	FirstName  string    `json:"first_name"`
	LastName   string    `json:"last_name"`
	Country    string    `json:"country"`
	Address    *string   `json:"address"`
	City       *string   `json:"city"`
	PostalCode *string   `json:"postal_code"`
	Phone      *string   `json:"phone"`
	CreatedAt  string    `json:"created_at"`
	UpdatedAt  string    `json:"updated_at"`
}

func leadOf(l listing.LeadRecord) leadBody {
	return leadBody{
		ID: l.ID, TenantID: l.TenantID, Email: l.Email, FirstName: l.FirstName, LastName: l.LastName, Country: l.Country,
		Address: payment.Given(l.Address), City: payment.Given(l.City), PostalCode: payment.Given(l.PostalCode), Phone: payment.Given(l.Phone),
		CreatedAt: instantText(l.CreatedAt), UpdatedAt: instantText(l.UpdatedAt),
	}
}

// listLeads answers GET /leads/.
func (a *Admin) listLeads(w http.ResponseWriter, r *http.Request) error {
	q := a.ask(r)
	search := listing.LeadSearch{Common: q.common(), EmailKey: q.email()}
	return answer(w, r, q, func(ctx context.Context, s listing.Paging) (listing.Part[listing.LeadRecord], error) {
		return listing.SearchLeads(ctx, a.Store, search, s)
	}, func(l listing.LeadRecord) uuid.UUID { return l.ID }, leadOf)
}

// showLead answers GET /leads/{id}/.
func (a *Admin) showLead(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id", store.ErrNoLead)
	if err != nil {
		return err
	}
	tenantID, err := a.Store.LeadOwner(r.Context(), id)
	if err != nil {
		return err
	}
	found, err := listing.FindLead(r.Context(), a.Store.Tenant(tenantID), id)
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, leadOf(found))
	return nil
}
