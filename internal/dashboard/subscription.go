package dashboard

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"sepad/internal/billing"
	"sepad/internal/payment"
	"sepad/internal/store/listing"
	"sepad/internal/web"
)

const subscriptionPath = "/dashboard/subscriptions/{id}/"

func (d *Dashboard) subscriptionOwner(r *http.Request, id uuid.UUID) (uuid.UUID, error) {
	return d.Store.SubscriptionOwner(r.Context(), id)
}

// showSubscription answers GET /dashboard/subscriptions/{id}/.
func (d *Dashboard) showSubscription(w http.ResponseWriter, r *http.Request) error {
	tenantID, id, n, err := d.named(r, d.subscriptionOwner)
	if err != nil {
		return err
	}
	s, upcoming, err := d.Billing.Preview(r.Context(), tenantID, id)
	if err != nil {
		return err
	}
	lead, err := listing.FindLead(r.Context(), d.Store.Tenant(tenantID), s.LeadID)
	if err != nil {
		return err
	}
	shown := objectView{
		List: "subscriptions", ListTitle: "Subscriptions", Title: "Subscription", Status: status(s.Status),
		Headline: s.AmountMinor.String() + " " + s.Currency + " " + string(s.Frequency), Facts: subscriptionFacts(s, upcoming, n),
		Related: []fact{
			{"Payer", to("leads", s.LeadID, lead.Email)},
			{"First session", to("sessions", s.SessionID, "Session")},
			{"Mandate", cell{Text: s.MandateReference, Href: "/dashboard/mandates/" + s.MandateReference + "/"}},
			{"Payments", cell{Text: "Payments", Href: "/dashboard/transactions/?subscription_id=" + id.String()}},
			{"Events", cell{Text: "Events", Href: "/dashboard/events/?q=" + id.String()}},
		},
	}
	if !s.PausedAt.IsZero() {
		shown.Note = "Paused: nothing is billed until somebody resumes it."
	}
	d.addSteering(r, &shown, s, lead)
	if shown.Timeline, err = d.told(r, tenantID, listing.Subject{SubscriptionID: id}); err != nil {
		return err
	}
	return d.page(w, r, "object", "Subscription", shown)
}

func subscriptionFacts(s payment.Subscription, upcoming []payment.Date, n names) []fact {
	facts := []fact{
		{"Next billing", text(s.NextBillingDate.String())},
		{"Begun", when(s.StartedAt)},
		{"Trial ends", text(s.TrialEndDate.String())},
		{"Last billed", when(s.LastBilledAt)},
		{"Paused since", when(s.PausedAt)},
		{"Ends on", text(s.EndsOn.String())},
		{"Cancelled", when(s.CancelledAt)},
		{"Why", text(string(s.CancelReason) + " " + s.CancelCode)},
		{"Rebills", text(strconv.Itoa(s.SuccessfulCount) + " collected, " + strconv.Itoa(s.FailedCount) + " failed")},
		{"Revenue", money(s.RevenueMinor, s.Currency)},
		{"Gateway", text(n.of(s.GatewayID))},
		{"Campaign", optionalID(s.CampaignID, n)},
		{"Offer", optionalID(s.OfferID, n)},
		{"Tenant", text(n.of(s.TenantID))},
		{"Id", text(s.ID.String())},
	}
	const next = 3
	if len(upcoming) > 1 && !s.IsOver() {
		dates := ""
		for _, date := range upcoming[1:min(len(upcoming), 1+next)] {
			dates += date.String() + "  "
		}
		facts = append(facts, fact{"Then", text(dates)})
	}
	return said(facts)
}

func (d *Dashboard) addSteering(r *http.Request, shown *objectView, s payment.Subscription, lead listing.LeadRecord) {
	if s.IsOver() {
		return
	}
	path, who := "/dashboard/subscriptions/"+s.ID.String()+"/", lead.FirstName+" "+lead.LastName+" ("+lead.Email+")"
	sum := s.AmountMinor.String() + " " + s.Currency
	if s.PausedAt.IsZero() && s.EndsOn.IsZero() {
		shown.add(r, subscriptionPath+"pause/", action{
			Title: "Pause", Path: path + "pause/", Button: "Pause", Sure: "Pause the subscription of " + who + "?",
			Sentence: "Nothing more is collected from " + who + " until somebody resumes it. What is under way at the gateway goes on.",
		})
	} else {
		shown.add(r, subscriptionPath+"resume/", action{
			Title: "Resume", Path: path + "resume/", Button: "Resume", Sure: "Collect from " + who + " again?",
			Sentence: "The subscription of " + who + " goes on: " + sum + " are collected from its next date on.",
			Seen:     steeredAs(s),
		})
	}
	shown.add(r, subscriptionPath+"change/", action{
		Title: "Change", Path: path + "change/", Button: "Change", Sure: "Change what " + who + " pays?",
		Sentence: who + " pays another price from the next period on, or on another day. The payer has to know of it beforehand; what is under way is not changed.",
		Fields: []field{
			{Name: "amount", Label: "New amount in " + s.Currency, Hint: "Now " + sum + ". Left empty, it stays.", Kind: "amount"},
			{Name: "next_billing_date", Label: "Next billing date", Hint: "Now " + s.NextBillingDate.String() + ". Left empty, it stays.", Kind: "date"},
		},
	})
	shown.add(r, subscriptionPath+"cancel/", action{
		Title: "Cancel", Path: path + "cancel/", Button: "Cancel the subscription", IsDanger: true, Sure: "End the subscription of " + who + "?",
		Sentence: "Ends the subscription of " + who + ". At once: nothing is billed any more. With the period: it ends instead of being billed on " + s.NextBillingDate.String() + ".",
		Fields:   []field{{Name: "at", Label: "When", Kind: "select", Options: []option{{"now", "At once"}, {"period_end", "With the period"}}}},
	})
}

// steeredAs is what people have made of a subscription, as a form remembers it that goes by it.
func steeredAs(s payment.Subscription) string {
	return fmt.Sprint(s.AmountMinor, " ", s.Currency, " ", s.NextBillingDate, " ", s.EndsOn, " ", s.PausedAt.IsZero())
}

var errSteeredMeanwhile = payment.Conflicting("The subscription was changed since this page was shown, and nothing was done now. Look at it again.")

// asSeen refuses what goes by a page that was overtaken: who resumes what was paused must not undo that somebody has ended it.
func asSeen(r *http.Request) billing.If {
	seen := r.PostForm.Get("seen")
	return func(s payment.Subscription) error {
		if seen != "" && seen != steeredAs(s) {
			return errSteeredMeanwhile
		}
		return nil
	}
}

// steer does something with the subscription of a path, and leads back to it.
func (d *Dashboard) steer(done string, do func(r *http.Request, tenantID, id uuid.UUID, bad payment.Fields) (payment.Subscription, error)) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if _, err := readForm(w, r); err != nil {
			return err
		}
		tenantID, id, _, err := d.named(r, d.subscriptionOwner)
		if err != nil {
			return err
		}
		bad := payment.Fields{}
		if _, err := do(r, tenantID, id, bad); err != nil {
			return err
		}
		return d.redirect(w, r, "/dashboard/subscriptions/"+id.String()+"/", done)
	}
}

// cancelSubscription answers POST /dashboard/subscriptions/{id}/cancel/, the others
// likewise.
func (d *Dashboard) cancelSubscription(r *http.Request, tenantID, id uuid.UUID, bad payment.Fields) (payment.Subscription, error) {
	switch r.PostForm.Get("at") {
	case "period_end":
		return d.Billing.CancelAtPeriodEnd(r.Context(), tenantID, id, payment.CancelledByOperator)
	case "now":
		return d.Billing.Cancel(r.Context(), tenantID, id, payment.CancelledByOperator)
	default:
		bad.Add("at", "Say when it is to end: now, or with the period.")
		return payment.Subscription{}, bad.Err()
	}
}

func (d *Dashboard) pauseSubscription(r *http.Request, tenantID, id uuid.UUID, _ payment.Fields) (payment.Subscription, error) {
	return d.Billing.PauseSubscription(r.Context(), tenantID, id)
}

func (d *Dashboard) resumeSubscription(r *http.Request, tenantID, id uuid.UUID, _ payment.Fields) (payment.Subscription, error) {
	return d.Billing.ResumeSubscription(r.Context(), tenantID, id, asSeen(r))
}

func (d *Dashboard) changeSubscription(r *http.Request, tenantID, id uuid.UUID, bad payment.Fields) (payment.Subscription, error) {
	to := payment.NewTerms{AmountMinor: amountOf(r, "amount", bad)}
	if day := readDay("next_billing_date", r.PostForm.Get("next_billing_date"), bad); !day.IsZero() {
		to.NextBillingDate = payment.DateOf(day)
	}
	if err := bad.Err(); err != nil {
		return payment.Subscription{}, err
	}
	return d.Billing.ChangeTerms(r.Context(), tenantID, id, to)
}
