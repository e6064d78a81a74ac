package dashboard

import (
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"sepad/internal/store"
	"sepad/internal/store/listing"
)

// The pages of records on which nothing is done.

// showSession answers GET /dashboard/sessions/{id}/.
func (d *Dashboard) showSession(w http.ResponseWriter, r *http.Request) error {
	tenantID, id, n, err := d.named(r, func(r *http.Request, id uuid.UUID) (uuid.UUID, error) { return d.Store.SessionOwner(r.Context(), id) })
	if err != nil {
		return err
	}
	s, err := listing.FindSession(r.Context(), d.Store.Tenant(tenantID), id)
	if err != nil {
		return err
	}
	shown := objectView{
		List: "sessions", ListTitle: "Sessions", Title: "Session", Status: status(s.StatusAt(d.Checkout.Clock.Now())),
		Headline: s.Terms.DueMinor().String() + " " + s.Terms.Currency,
		Facts: said([]fact{
			{"Payer", text(s.Lead.FirstName + " " + s.Lead.LastName)},
			{"Billing", text(string(s.Terms.BillingType) + " " + string(s.Terms.Frequency))},
			{"Regular price", money(s.Terms.PriceMinor, s.Terms.Currency)},
			{"Attempts", text(strconv.Itoa(s.AttemptsUsed) + " of " + strconv.Itoa(s.MaxAttempts))},
			{"Campaign", optionalID(s.CampaignID, n)},
			{"Offer", optionalID(s.OfferID, n)},
			{"Gateway", text(n.of(s.GatewayID))},
			{"Created", when(s.CreatedAt)},
			{"Expires", when(s.ExpiresAt)},
			{"Tenant", text(n.of(s.TenantID))},
			{"Id", text(s.ID.String())},
		}),
		Related: []fact{
			{"Payer", to("leads", s.LeadID, s.Lead.Email)},
			{"Payments", cell{Text: "Payments", Href: "/dashboard/transactions/?session_id=" + id.String()}},
			{"Mandate", cell{Text: s.MandateReference, Href: "/dashboard/mandates/" + s.MandateReference + "/"}},
			{"Events", cell{Text: "Events", Href: "/dashboard/events/?q=" + id.String()}},
		},
	}
	if s.InFlight() {
		shown.Note = "A payment is at the gateway, whose answer is awaited."
	}
	if shown.Timeline, err = d.told(r, tenantID, listing.Subject{SessionID: id}); err != nil {
		return err
	}
	return d.page(w, r, "object", "Session", shown)
}

// showLead answers GET /dashboard/leads/{id}/.
func (d *Dashboard) showLead(w http.ResponseWriter, r *http.Request) error {
	tenantID, id, n, err := d.named(r, func(r *http.Request, id uuid.UUID) (uuid.UUID, error) { return d.Store.LeadOwner(r.Context(), id) })
	if err != nil {
		return err
	}
	l, err := listing.FindLead(r.Context(), d.Store.Tenant(tenantID), id)
	if err != nil {
		return err
	}
	story, err := d.told(r, tenantID, listing.Subject{LeadID: id})
	if err != nil {
		return err
	}
	return d.page(w, r, "object", l.Email, objectView{
		List: "leads", ListTitle: "Leads", Title: l.FirstName + " " + l.LastName,
		Facts: said([]fact{
			{"Email", text(l.Email)},
			{"Address", text(l.Address)},
			{"City", text(l.PostalCode + " " + l.City)},
			{"Country", text(l.Country)},
			{"Phone", text(l.Phone)},
			{"Created", when(l.CreatedAt)},
			{"Changed", when(l.UpdatedAt)},
			{"Tenant", text(n.of(tenantID))},
			{"Id", text(id.String())},
		}),
		Related: []fact{
			{"Sessions", cell{Text: "Sessions", Href: "/dashboard/sessions/?lead_id=" + id.String()}},
			{"Payments", cell{Text: "Payments", Href: "/dashboard/transactions/?q=" + id.String()}},
			{"Subscriptions", cell{Text: "Subscriptions", Href: "/dashboard/subscriptions/?q=" + id.String()}},
			{"Mandates", cell{Text: "Mandates", Href: "/dashboard/mandates/?q=" + id.String()}},
			{"Chargebacks", cell{Text: "Chargebacks", Href: "/dashboard/chargebacks/?q=" + id.String()}},
		},
		Timeline: story,
	})
}

// showChargeback answers GET /dashboard/chargebacks/{id}/ with the history of its payment.
func (d *Dashboard) showChargeback(w http.ResponseWriter, r *http.Request) error {
	tenantID, id, n, err := d.named(r, func(r *http.Request, id uuid.UUID) (uuid.UUID, error) {
		return d.Store.ChargebackOwner(r.Context(), id)
	})
	if err != nil {
		return err
	}
	c, err := d.Store.Tenant(tenantID).Chargeback(r.Context(), id)
	if err != nil {
		return err
	}
	shown := objectView{
		List: "chargebacks", ListTitle: "Chargebacks", Title: "Chargeback of " + c.MerchantTransactionID, Headline: c.AmountMinor.String() + " " + c.Currency,
		Status: cell{Text: c.ReasonCode, Tone: "bad"},
		Facts: said([]fact{
			{"Reason", text(c.ReasonCode + " " + c.ReasonMessage)},
			{"Reported", when(c.ReportedAt)},
			{"Payment of", when(c.TransactionAt)},
			{"Account", account(c.MaskedIBAN)},
			{"Email", text(c.Email)},
			{"Source", text(string(c.Source))},
			{"Gateway", text(n.of(c.GatewayID))},
			{"Gateway's reference", text(c.GatewayReference)},
			{"Report", text(c.ReportType + " " + c.ReportMessage + " " + c.ReportInfo)},
			{"Tenant", text(n.of(tenantID))},
			{"Id", text(id.String())},
		}),
	}
	if c.TransactionID == nil {
		shown.Note = "The payment that it is about is not known here. Once a file or a notification brings it, they belong together."
	} else {
		shown.Related = []fact{{"Payment", to("transactions", *c.TransactionID, c.MerchantTransactionID)}}
	}
	if c.LeadID != nil {
		shown.Related = append(shown.Related, fact{"Payer", to("leads", *c.LeadID, "Payer")})
	}
	if shown.Timeline, err = d.told(r, tenantID, listing.Subject{ChargebackID: id}); err != nil {
		return err
	}
	return d.page(w, r, "object", shown.Title, shown)
}

// importView is a file that was taken in, with the lines that were not.
type importView struct {
	objectView
	Rejected []store.Rejection
	// IsCut tells that there are more.
	IsCut bool
}

// shownRejections is how many lines that were not taken a page lists.
const shownRejections = 500

// showImport answers GET /dashboard/imports/{id}/.
func (d *Dashboard) showImport(w http.ResponseWriter, r *http.Request) error {
	tenantID, id, n, err := d.named(r, func(r *http.Request, id uuid.UUID) (uuid.UUID, error) { return d.Store.ImportOwner(r.Context(), id) })
	if err != nil {
		return err
	}
	i, err := d.Store.Tenant(tenantID).Import(r.Context(), id)
	if err != nil {
		return err
	}
	rejected, err := d.Store.Tenant(tenantID).Rejections(r.Context(), id, 0, shownRejections+1)
	if err != nil {
		return err
	}
	count := func(n int) cell { return text(strconv.Itoa(n)) }
	shown := importView{
		objectView: objectView{
			List: "imports", ListTitle: "Imports", Title: "Import of " + i.Kind, Status: status(i.Status),
			Facts: said([]fact{
				{"New", count(i.Counts.New)},
				{"Updated", count(i.Counts.Updated)},
				{"Unchanged", count(i.Counts.Unchanged)},
				{"Rejected", count(i.Counts.Rejected)},
				{"Gateway", text(n.of(i.GatewayID))},
				{"Begun", when(i.CreatedAt)},
				{"Last progress", when(i.UpdatedAt)},
				{"Tenant", text(n.of(tenantID))},
				{"Id", text(id.String())},
			}),
		},
		Rejected: rejected[:min(len(rejected), shownRejections)], IsCut: len(rejected) > shownRejections,
	}
	if i.IsDryRun {
		shown.Note = "A trial run: nothing of the file was taken over."
	}
	if shown.Timeline, err = d.told(r, tenantID, listing.Subject{ImportID: id}); err != nil {
		return err
	}
	return d.page(w, r, "import", shown.Title, shown)
}
