package people

import "sepad/internal/store"

// Right is who may use a route.
type Right struct {
	// Route is its method and its pattern.
	Route string
	// Least is the least role that may.
	Least store.Role
	// Everywhere tells that it concerns the whole installation: whoever is bound to some
	// tenants may not, whatever the role.
	Everywhere bool
}

// Rights are all routes of the operators' API and of the dashboard. The routers read
// this table and no other; one that is asked for a route which it does not name does not
// start.
var Rights = []Right{
	// People: oneself, others, and what everybody did.
	{Route: "GET /admin/v1/me/", Least: store.Viewer},
	{Route: "GET /admin/v1/tokens/", Least: store.Viewer},
	{Route: "POST /admin/v1/tokens/", Least: store.Viewer},
	{Route: "DELETE /admin/v1/tokens/{id}/", Least: store.Viewer},
	{Route: "GET /admin/v1/audit/", Least: store.Administrator},
	{Route: "GET /admin/v1/operators/", Least: store.Administrator, Everywhere: true},
	{Route: "POST /admin/v1/operators/", Least: store.Administrator, Everywhere: true},
	{Route: "GET /admin/v1/operators/{id}/", Least: store.Administrator, Everywhere: true},
	{Route: "PATCH /admin/v1/operators/{id}/", Least: store.Administrator, Everywhere: true},
	{Route: "DELETE /admin/v1/operators/{id}/", Least: store.Administrator, Everywhere: true},
	{Route: "POST /admin/v1/operators/{id}/reset/", Least: store.Administrator, Everywhere: true},

	// What payers and their payments are.
	{Route: "GET /admin/v1/sessions/", Least: store.Viewer},
	{Route: "GET /admin/v1/sessions/{id}/", Least: store.Viewer},
	{Route: "GET /admin/v1/sessions/{id}/timeline/", Least: store.Viewer},
	{Route: "GET /admin/v1/leads/", Least: store.Viewer},
	{Route: "GET /admin/v1/leads/{id}/", Least: store.Viewer},
	{Route: "GET /admin/v1/leads/{id}/timeline/", Least: store.Viewer},
	{Route: "GET /admin/v1/transactions/", Least: store.Viewer},
	{Route: "GET /admin/v1/transactions/{id}/", Least: store.Viewer},
	{Route: "GET /admin/v1/transactions/{id}/timeline/", Least: store.Viewer},
	{Route: "GET /admin/v1/chargebacks/", Least: store.Viewer},
	{Route: "GET /admin/v1/chargebacks/{id}/", Least: store.Viewer},
	{Route: "GET /admin/v1/chargebacks/{id}/timeline/", Least: store.Viewer},
	{Route: "GET /admin/v1/subscriptions/", Least: store.Viewer},
	{Route: "GET /admin/v1/subscriptions/{id}/", Least: store.Viewer},
	{Route: "GET /admin/v1/subscriptions/{id}/timeline/", Least: store.Viewer},
	{Route: "GET /admin/v1/subscriptions/{id}/preview/", Least: store.Viewer},
	{Route: "GET /admin/v1/rebill-pauses/", Least: store.Viewer},
	{Route: "GET /admin/v1/mandates/{reference}/", Least: store.Support},
	{Route: "GET /admin/v1/mandates/{reference}/timeline/", Least: store.Support},
	{Route: "GET /admin/v1/leads/{id}/export/", Least: store.Administrator},
	{Route: "POST /admin/v1/leads/{id}/erase/", Least: store.Administrator},

	// Care for customers.
	{Route: "GET /admin/v1/webhook-deliveries/", Least: store.Viewer},
	{Route: "GET /admin/v1/webhook-deliveries/{id}/", Least: store.Viewer},
	{Route: "GET /admin/v1/webhook-deliveries/{id}/timeline/", Least: store.Viewer},
	{Route: "POST /admin/v1/webhook-deliveries/{id}/resend/", Least: store.Support},
	{Route: "POST /admin/v1/webhook-deliveries/resend/", Least: store.Support},
	{Route: "GET /admin/v1/mails/", Least: store.Viewer},
	{Route: "GET /admin/v1/mails/{id}/", Least: store.Viewer},
	{Route: "POST /admin/v1/mails/{id}/resend/", Least: store.Support},
	{Route: "POST /admin/v1/subscriptions/{id}/cancel/", Least: store.Support},
	{Route: "POST /admin/v1/subscriptions/{id}/pause/", Least: store.Support},
	{Route: "POST /admin/v1/subscriptions/{id}/resume/", Least: store.Support},

	// Money, and files about it.
	{Route: "POST /admin/v1/subscriptions/{id}/change/", Least: store.Finance},
	{Route: "POST /admin/v1/transactions/{id}/refunds/", Least: store.Finance},
	{Route: "POST /admin/v1/transactions/{id}/hold/", Least: store.Finance},
	{Route: "POST /admin/v1/transactions/{id}/release/", Least: store.Finance},
	{Route: "POST /admin/v1/chargebacks/", Least: store.Finance},
	{Route: "POST /admin/v1/imports/", Least: store.Finance},
	{Route: "GET /admin/v1/imports/", Least: store.Viewer},
	{Route: "GET /admin/v1/imports/{id}/", Least: store.Viewer},
	{Route: "GET /admin/v1/imports/{id}/timeline/", Least: store.Viewer},
	{Route: "GET /admin/v1/imports/{id}/rejected/", Least: store.Viewer},
	{Route: "POST /admin/v1/reconciliations/", Least: store.Finance},
	{Route: "GET /admin/v1/exports/transactions/", Least: store.Finance},
	{Route: "GET /admin/v1/exports/chargebacks/", Least: store.Finance},
	{Route: "GET /admin/v1/exports/subscriptions/", Least: store.Finance},
	{Route: "GET /admin/v1/totals/", Least: store.Viewer},
	{Route: "GET /admin/v1/payouts/", Least: store.Viewer},
	{Route: "GET /admin/v1/bank-files/", Least: store.Viewer},
	{Route: "POST /admin/v1/bank-files/", Least: store.Finance},
	{Route: "GET /admin/v1/bank-files/preview/", Least: store.Viewer},
	{Route: "POST /admin/v1/bank-files/adopt/", Least: store.Finance},
	{Route: "GET /admin/v1/bank-files/{id}/", Least: store.Viewer},
	{Route: "GET /admin/v1/bank-files/{id}/content/", Least: store.Finance},
	{Route: "GET /admin/v1/bank-statements/", Least: store.Viewer},
	{Route: "POST /admin/v1/bank-statements/", Least: store.Finance},
	{Route: "GET /admin/v1/bank-statements/{id}/", Least: store.Viewer},
	{Route: "GET /admin/v1/bank-entries/", Least: store.Viewer},
	{Route: "POST /admin/v1/bank-entries/{id}/assign/", Least: store.Finance},
	{Route: "POST /admin/v1/bank-connections/test/", Least: store.Finance},
	{Route: "POST /admin/v1/bank-connections/resume/", Least: store.Finance},
	{Route: "POST /admin/v1/tenants/{tenant_id}/gateways/{id}/resume/", Least: store.Finance},

	// Set-up.
	{Route: "GET /admin/v1/adapters/", Least: store.Viewer},
	{Route: "GET /admin/v1/tenants/", Least: store.Viewer},
	{Route: "POST /admin/v1/tenants/", Least: store.Administrator, Everywhere: true},
	{Route: "GET /admin/v1/tenants/{tenant_id}/", Least: store.Viewer},
	{Route: "PATCH /admin/v1/tenants/{tenant_id}/", Least: store.Administrator},
	{Route: "GET /admin/v1/tenants/{tenant_id}/api-keys/", Least: store.Viewer},
	{Route: "POST /admin/v1/tenants/{tenant_id}/api-keys/", Least: store.Administrator},
	{Route: "GET /admin/v1/tenants/{tenant_id}/api-keys/{id}/", Least: store.Viewer},
	{Route: "DELETE /admin/v1/tenants/{tenant_id}/api-keys/{id}/", Least: store.Administrator},
	{Route: "GET /admin/v1/tenants/{tenant_id}/gateways/", Least: store.Viewer},
	{Route: "POST /admin/v1/tenants/{tenant_id}/gateways/", Least: store.Administrator},
	{Route: "GET /admin/v1/tenants/{tenant_id}/gateways/{id}/", Least: store.Viewer},
	{Route: "PATCH /admin/v1/tenants/{tenant_id}/gateways/{id}/", Least: store.Administrator},
	{Route: "DELETE /admin/v1/tenants/{tenant_id}/gateways/{id}/", Least: store.Administrator},
	{Route: "GET /admin/v1/tenants/{tenant_id}/webhook-profiles/", Least: store.Viewer},
	{Route: "POST /admin/v1/tenants/{tenant_id}/webhook-profiles/", Least: store.Administrator},
	{Route: "GET /admin/v1/tenants/{tenant_id}/webhook-profiles/{id}/", Least: store.Viewer},
	{Route: "PATCH /admin/v1/tenants/{tenant_id}/webhook-profiles/{id}/", Least: store.Administrator},
	{Route: "DELETE /admin/v1/tenants/{tenant_id}/webhook-profiles/{id}/", Least: store.Administrator},
	{Route: "GET /admin/v1/tenants/{tenant_id}/hosted-pages/", Least: store.Viewer},
	{Route: "POST /admin/v1/tenants/{tenant_id}/hosted-pages/", Least: store.Administrator},
	{Route: "GET /admin/v1/tenants/{tenant_id}/hosted-pages/{id}/", Least: store.Viewer},
	{Route: "PATCH /admin/v1/tenants/{tenant_id}/hosted-pages/{id}/", Least: store.Administrator},
	{Route: "DELETE /admin/v1/tenants/{tenant_id}/hosted-pages/{id}/", Least: store.Administrator},
	{Route: "GET /admin/v1/tenants/{tenant_id}/offers/", Least: store.Viewer},
	{Route: "POST /admin/v1/tenants/{tenant_id}/offers/", Least: store.Administrator},
	{Route: "GET /admin/v1/tenants/{tenant_id}/offers/{id}/", Least: store.Viewer},
	{Route: "PATCH /admin/v1/tenants/{tenant_id}/offers/{id}/", Least: store.Administrator},
	{Route: "DELETE /admin/v1/tenants/{tenant_id}/offers/{id}/", Least: store.Administrator},
	{Route: "GET /admin/v1/tenants/{tenant_id}/campaigns/", Least: store.Viewer},
	{Route: "POST /admin/v1/tenants/{tenant_id}/campaigns/", Least: store.Administrator},
	{Route: "GET /admin/v1/tenants/{tenant_id}/campaigns/{id}/", Least: store.Viewer},
	{Route: "PATCH /admin/v1/tenants/{tenant_id}/campaigns/{id}/", Least: store.Administrator},
	{Route: "DELETE /admin/v1/tenants/{tenant_id}/campaigns/{id}/", Least: store.Administrator},
	{Route: "GET /admin/v1/tenants/{tenant_id}/gateways/{id}/settings/", Least: store.Viewer},
	{Route: "POST /admin/v1/tenants/{tenant_id}/webhook-profiles/{id}/rotate-secret/", Least: store.Administrator},
	{Route: "GET /pay/preview/{hosted_page_id}/", Least: store.Viewer},
	{Route: "GET /admin/v1/clock/", Least: store.Viewer},
	{Route: "POST /admin/v1/clock/", Least: store.Administrator, Everywhere: true},

	// The dashboard's screens.
	{Route: "GET /dashboard/", Least: store.Viewer},
	{Route: "GET /dashboard/sessions/", Least: store.Viewer},
	{Route: "GET /dashboard/transactions/", Least: store.Viewer},
	{Route: "GET /dashboard/subscriptions/", Least: store.Viewer},
	{Route: "GET /dashboard/chargebacks/", Least: store.Viewer},
	{Route: "GET /dashboard/leads/", Least: store.Viewer},
	{Route: "GET /dashboard/mandates/", Least: store.Viewer},
	{Route: "GET /dashboard/events/", Least: store.Viewer},
	{Route: "GET /dashboard/imports/", Least: store.Viewer},
	{Route: "GET /dashboard/bank-files/", Least: store.Viewer},
	{Route: "GET /dashboard/bank-files/{id}/", Least: store.Viewer},
	{Route: "GET /dashboard/bank-files/{id}/content/", Least: store.Finance},
	{Route: "GET /dashboard/bank-statements/", Least: store.Viewer},
	{Route: "GET /dashboard/bank-statements/new/", Least: store.Finance},
	{Route: "POST /dashboard/bank-statements/", Least: store.Finance},
	{Route: "GET /dashboard/bank-entries/", Least: store.Viewer},
	{Route: "GET /dashboard/bank-entries/{id}/", Least: store.Viewer},
	{Route: "POST /dashboard/bank-entries/{id}/assign/", Least: store.Finance},
	{Route: "GET /dashboard/setup/paused/", Least: store.Viewer},
	{Route: "POST /dashboard/setup/paused/{id}/resume/", Least: store.Finance},
	{Route: "GET /dashboard/sessions/{id}/", Least: store.Viewer},
	{Route: "GET /dashboard/transactions/{id}/", Least: store.Viewer},
	{Route: "POST /dashboard/transactions/{id}/refund/", Least: store.Finance},
	{Route: "POST /dashboard/transactions/{id}/chargeback/", Least: store.Finance},
	{Route: "GET /dashboard/subscriptions/{id}/", Least: store.Viewer},
	{Route: "POST /dashboard/subscriptions/{id}/cancel/", Least: store.Support},
	{Route: "POST /dashboard/subscriptions/{id}/pause/", Least: store.Support},
	{Route: "POST /dashboard/subscriptions/{id}/resume/", Least: store.Support},
	{Route: "POST /dashboard/subscriptions/{id}/change/", Least: store.Finance},
	{Route: "GET /dashboard/chargebacks/{id}/", Least: store.Viewer},
	{Route: "GET /dashboard/leads/{id}/", Least: store.Viewer},
	{Route: "GET /dashboard/mandates/{reference}/", Least: store.Support},
	{Route: "GET /dashboard/events/{id}/", Least: store.Viewer},
	{Route: "POST /dashboard/events/{id}/resend/", Least: store.Support},
	{Route: "POST /dashboard/events/resend/", Least: store.Support},
	{Route: "GET /dashboard/imports/{id}/", Least: store.Viewer},
	{Route: "GET /dashboard/imports/matching/", Least: store.Finance},
	{Route: "POST /dashboard/imports/matching/", Least: store.Finance},
	{Route: "GET /dashboard/account/", Least: store.Viewer},
	{Route: "POST /dashboard/account/tokens/", Least: store.Viewer},
	{Route: "POST /dashboard/account/tokens/{id}/revoke/", Least: store.Viewer},
	{Route: "POST /dashboard/account/passkeys/", Least: store.Viewer},
	{Route: "POST /dashboard/account/passkeys/question/", Least: store.Viewer},
	{Route: "POST /dashboard/account/passkeys/{id}/remove/", Least: store.Viewer},
	{Route: "POST /dashboard/sign-out/", Least: store.Viewer},
	{Route: "POST /dashboard/sign-out-everywhere/", Least: store.Viewer},
	{Route: "GET /dashboard/audit/", Least: store.Administrator},
	{Route: "GET /dashboard/setup/", Least: store.Viewer},
	{Route: "GET /dashboard/setup/pages/{hosted_page_id}/", Least: store.Viewer},
	{Route: "GET /dashboard/setup/pages/{hosted_page_id}/preview/", Least: store.Viewer},
	{Route: "GET /dashboard/setup/logo/", Least: store.Administrator},
	{Route: "GET /dashboard/setup/colour/", Least: store.Administrator},
	{Route: "POST /dashboard/setup/", Least: store.Administrator, Everywhere: true},
	{Route: "GET /dashboard/setup/tenants/{tenant_id}/", Least: store.Viewer},
	{Route: "POST /dashboard/setup/tenants/{tenant_id}/", Least: store.Administrator},
	{Route: "GET /dashboard/setup/tenants/{tenant_id}/export/", Least: store.Viewer},
	{Route: "POST /dashboard/setup/tenants/{tenant_id}/api-keys/", Least: store.Administrator},
	{Route: "POST /dashboard/setup/tenants/{tenant_id}/api-keys/{id}/revoke/", Least: store.Administrator},
	{Route: "GET /dashboard/setup/tenants/{tenant_id}/{kind}/new/", Least: store.Administrator},
	{Route: "POST /dashboard/setup/tenants/{tenant_id}/{kind}/", Least: store.Administrator},
	{Route: "GET /dashboard/setup/tenants/{tenant_id}/{kind}/{id}/", Least: store.Viewer},
	{Route: "POST /dashboard/setup/tenants/{tenant_id}/{kind}/{id}/", Least: store.Administrator},
	{Route: "POST /dashboard/setup/tenants/{tenant_id}/{kind}/{id}/off/", Least: store.Administrator},
	{Route: "POST /dashboard/setup/tenants/{tenant_id}/{kind}/{id}/on/", Least: store.Administrator},
	{Route: "POST /dashboard/setup/tenants/{tenant_id}/{kind}/{id}/try/", Least: store.Administrator},
	{Route: "POST /dashboard/setup/tenants/{tenant_id}/{kind}/{id}/rotate/", Least: store.Administrator},
	{Route: "GET /dashboard/imports/new/", Least: store.Finance},
	{Route: "POST /dashboard/imports/", Least: store.Finance},
	{Route: "GET /dashboard/sandbox/", Least: store.Viewer},
	{Route: "POST /dashboard/sandbox/pay/", Least: store.Support},
	{Route: "POST /dashboard/sandbox/clock/", Least: store.Administrator, Everywhere: true},
	{Route: "GET /dashboard/people/", Least: store.Administrator, Everywhere: true},
	{Route: "POST /dashboard/people/", Least: store.Administrator, Everywhere: true},
	{Route: "POST /dashboard/people/{id}/role/", Least: store.Administrator, Everywhere: true},
	{Route: "POST /dashboard/people/{id}/reset/", Least: store.Administrator, Everywhere: true},
	{Route: "POST /dashboard/people/{id}/remove/", Least: store.Administrator, Everywhere: true},
}

var rightsByRoute = func() map[string]Right {
	byRoute := make(map[string]Right, len(Rights))
	for _, right := range Rights {
		byRoute[right.Route] = right
	}
	return byRoute
}()

// RightTo is the right to a route. One that the table does not name is a defect of the
// program, and panics when it starts.
func RightTo(method, pattern string) Right {
	right, named := rightsByRoute[method+" "+pattern]
	if !named {
		panic("people: the rights table does not name " + method + " " + pattern)
	}
	return right
}

// Admits tells whether somebody may use the route.
func (r Right) Admits(p Principal) bool {
	return p.Role.Includes(r.Least) && (p.Tenants.All || !r.Everywhere)
}

// Refusal is what somebody is told who may not.
func (r Right) Refusal(p Principal) string {
	if p.Role.Includes(r.Least) {
		return "This concerns the whole installation, and you work for some tenants of it."
	}
	return "This is for the role " + string(r.Least) + " and above; yours is " + string(p.Role) + "."
}
