package admin

import (
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/web"
)

// pauseRoutes are those around gateway accounts whose rebills wait.
func (a *Admin) pauseRoutes() []web.Route {
	return []web.Route{
		{Method: "GET", Pattern: "/admin/v1/rebill-pauses/", Handler: a.listPauses},
		{Method: "POST", Pattern: "/admin/v1/tenants/{tenant_id}/gateways/{id}/resume/", Handler: a.resumeRebills},
	}
}

// pauseBody is a gateway account through which nothing is billed for now.
type pauseBody struct {
	TenantID    uuid.UUID           `json:"tenant_id"`
	GatewayID   uuid.UUID           `json:"payment_gateway_id"`
	Reason      payment.PauseReason `json:"reason"`
	ReasonCode  *string             `json:"reason_code"` // null where no bank gave one
	Since       string              `json:"since"`
	PausedUntil any                 `json:"paused_until"` // null: until a person resumes
	NeedsPerson bool                `json:"needs_person"`
}

// listPauses answers GET /rebill-pauses/: all of them, there is at most one for an
// account.
func (a *Admin) listPauses(w http.ResponseWriter, r *http.Request) error {
	q := a.ask(r)
	tenantID := q.id("tenant_id")
	if err := q.err(); err != nil {
		return err
	}
	pauses, err := a.Store.RebillPauses(r.Context())
	if err != nil {
		return err
	}
	list := listBody[pauseBody]{Results: []pauseBody{}}
	for _, p := range pauses {
		if tenantID != uuid.Nil && p.TenantID != tenantID {
			continue
		}
		list.Results = append(list.Results, a.pauseOf(p))
	}
	web.WriteJSON(w, r, http.StatusOK, list)
	return nil
}

// resumeRebills answers POST /tenants/{tenant_id}/gateways/{id}/resume/ with the
// pause that has ended.
func (a *Admin) resumeRebills(w http.ResponseWriter, r *http.Request) error {
	of, account, err := a.gatewayNamed(r)
	if err != nil {
		return err
	}
	ended, err := a.Billing.Resume(r.Context(), of.Tenant.ID, account.ID)
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, a.pauseOf(ended))
	return nil
}

func (a *Admin) pauseOf(p payment.RebillPause) pauseBody {
	return pauseBody{
		TenantID: p.TenantID, GatewayID: p.GatewayID, Reason: p.Reason, ReasonCode: payment.Given(p.Code),
		Since: instantText(p.Since), PausedUntil: instantOrNull(p.Until), NeedsPerson: p.NeedsPerson(a.Checkout.Clock.Now()),
	}
}
