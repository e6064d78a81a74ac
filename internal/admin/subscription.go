package admin

import (
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/record"
	"sepad/internal/store"
	"sepad/internal/web"
)

// subscriptionRoutes are those around one subscription.
func (a *Admin) subscriptionRoutes() []web.Route {
	const one = "/admin/v1/subscriptions/{id}/"
	return []web.Route{
		{Method: "GET", Pattern: one, Handler: a.showSubscription},
		{Method: "GET", Pattern: one + "preview/", Handler: a.previewSubscription},
		{Method: "POST", Pattern: one + "cancel/", Handler: a.cancelSubscription},
		{Method: "POST", Pattern: one + "pause/", Handler: a.pauseSubscription},
		{Method: "POST", Pattern: one + "resume/", Handler: a.resumeSubscription},
		{Method: "POST", Pattern: one + "change/", Handler: a.changeSubscription},
	}
}

// appendSubscription writes the record and whose it is as one object.
func appendSubscription(dst []byte, s payment.Subscription) []byte {
	return appendTenant(record.AppendSubscription(dst, s), s.TenantID)
}

// subscriptionNamed finds the subscription that a path names, and its owner.
func (a *Admin) subscriptionNamed(r *http.Request) (tenantID, id uuid.UUID, err error) {
	if id, err = pathID(r, "id", store.ErrNoSubscription); err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	tenantID, err = a.Store.SubscriptionOwner(r.Context(), id)
	return tenantID, id, err
}

// showSubscription answers GET /subscriptions/{id}/.
func (a *Admin) showSubscription(w http.ResponseWriter, r *http.Request) error {
	tenantID, id, err := a.subscriptionNamed(r)
	if err != nil {
		return err
	}
	found, err := a.Store.Tenant(tenantID).Subscription(r.Context(), id)
	if err != nil {
		return err
	}
	web.WriteBody(w, http.StatusOK, appendSubscription(nil, found))
	return nil
}

// cancelSubscription answers POST /subscriptions/{id}/cancel/ with the
// subscription as it is then, pause, resume and change likewise.
func (a *Admin) cancelSubscription(w http.ResponseWriter, r *http.Request) error {
	var atPeriodEnd bool
	return a.steer(w, r, func(in *web.Reader) { atPeriodEnd = web.ReadCancelAt(in) },
		func(tenantID, id uuid.UUID) (payment.Subscription, error) {
			if atPeriodEnd {
				return a.Billing.CancelAtPeriodEnd(r.Context(), tenantID, id, payment.CancelledByOperator)
			}
			return a.Billing.Cancel(r.Context(), tenantID, id, payment.CancelledByOperator)
		})
}

func (a *Admin) pauseSubscription(w http.ResponseWriter, r *http.Request) error {
	return a.steer(w, r, func(*web.Reader) {}, func(tenantID, id uuid.UUID) (payment.Subscription, error) {
		return a.Billing.PauseSubscription(r.Context(), tenantID, id)
	})
}

func (a *Admin) resumeSubscription(w http.ResponseWriter, r *http.Request) error {
	return a.steer(w, r, func(*web.Reader) {}, func(tenantID, id uuid.UUID) (payment.Subscription, error) {
		return a.Billing.ResumeSubscription(r.Context(), tenantID, id)
	})
}

func (a *Admin) changeSubscription(w http.ResponseWriter, r *http.Request) error {
	var to payment.NewTerms
	return a.steer(w, r, func(in *web.Reader) { to = web.ReadNewTerms(in) },
		func(tenantID, id uuid.UUID) (payment.Subscription, error) {
			return a.Billing.ChangeTerms(r.Context(), tenantID, id, to)
		})
}

func (a *Admin) steer(w http.ResponseWriter, r *http.Request, read func(*web.Reader), do func(tenantID, id uuid.UUID) (payment.Subscription, error)) error {
	object, err := web.DecodeOptionalObject(w, r)
	if err != nil {
		return err
	}
	tenantID, id, err := a.subscriptionNamed(r)
	if err != nil {
		return err
	}
	bad := payment.Fields{}
	read(web.NewReader(object, bad))
	if err := bad.Err(); err != nil {
		return err
	}
	steered, err := do(tenantID, id)
	if err != nil {
		return err
	}
	web.WriteBody(w, http.StatusOK, appendSubscription(nil, steered))
	return nil
}

// previewBody is when a subscription will be billed.
type previewBody struct {
	SubscriptionID uuid.UUID                  `json:"subscription_id"`
	Status         payment.SubscriptionStatus `json:"status"`
	Amount         string                     `json:"amount"`
	Currency       string                     `json:"currency"`
	// Dates are billing dates; DueDates are when their money moves.
	Dates    []string `json:"dates"`
	DueDates []string `json:"due_dates"`
}

// previewSubscription answers GET /subscriptions/{id}/preview/.
func (a *Admin) previewSubscription(w http.ResponseWriter, r *http.Request) error {
	tenantID, id, err := a.subscriptionNamed(r)
	if err != nil {
		return err
	}
	sub, dates, err := a.Billing.Preview(r.Context(), tenantID, id)
	if err != nil {
		return err
	}
	body := previewBody{sub.ID, sub.Status, sub.AmountMinor.String(), sub.Currency, make([]string, len(dates)), make([]string, len(dates))}
	for i, date := range dates {
		body.Dates[i], body.DueDates[i] = date.String(), date.DueDate().String()
	}
	web.WriteJSON(w, r, http.StatusOK, body)
	return nil
}
