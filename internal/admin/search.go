package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/record"
	"sepad/internal/store/listing"
	"sepad/internal/web"
)

// searchRoutes are those in which an operator looks for something.
func (a *Admin) searchRoutes() []web.Route {
	return []web.Route{
		{Method: "GET", Pattern: "/admin/v1/sessions/", Handler: a.listSessions},
		{Method: "GET", Pattern: "/admin/v1/sessions/{id}/", Handler: a.showSession},
		{Method: "GET", Pattern: "/admin/v1/leads/", Handler: a.listLeads},
		{Method: "GET", Pattern: "/admin/v1/leads/{id}/", Handler: a.showLead},
		{Method: "GET", Pattern: "/admin/v1/transactions/", Handler: a.listTransactions},
		{Method: "GET", Pattern: "/admin/v1/chargebacks/", Handler: a.listChargebacks},
		{Method: "GET", Pattern: "/admin/v1/subscriptions/", Handler: a.listSubscriptions},
		{Method: "GET", Pattern: "/admin/v1/mandates/{reference}/", Handler: a.showMandate},
	}
}

// parameters are those of a query string. What a list never asks for it does not know.
type parameters struct {
	values url.Values
	asked  map[string]bool
}

// Get reads a parameter.
func (p parameters) Get(name string) string {
	p.asked[name] = true
	return p.values.Get(name)
}

// refuseUnknown refuses what was not asked for once all has been read: a filter that is
// misspelt would otherwise give the whole list.
func (p parameters) refuseUnknown(bad payment.Fields) {
	for name := range p.values {
		if !p.asked[name] {
			bad.Add(name, name+" is not a parameter of this list.")
		}
	}
}

// question reads what is looked for; every fault is said at once.
type question struct {
	parameters
	page pageRequest
	bad  payment.Fields
}

func (a *Admin) ask(r *http.Request) question {
	q := question{parameters: parameters{r.URL.Query(), map[string]bool{}}, bad: payment.Fields{}}
	q.page = a.readPage(r, q.parameters, q.bad)
	return q
}

// err is all that is wrong with a question that has been read to its end.
func (q question) err() error {
	q.refuseUnknown(q.bad)
	return q.bad.Err()
}

func (q question) common() listing.Common {
	return listing.Common{
		TenantID: q.id("tenant_id"), CreatedFrom: readFrom(q.Get("from"), q.bad), CreatedBefore: readTo(q.Get("to"), q.bad),
	}
}

func (q question) id(name string) uuid.UUID { return readID(q.parameters, name, q.bad) }

// text reads what is compared as a whole.
func (q question) text(name string) string {
	const longest = 255
	text := strings.TrimSpace(q.Get(name))
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) || utf8.RuneCountInString(text) > longest {
		q.bad.Add(name, name+" must be text of at most 255 characters, without control characters.")
	}
	return text
}

// email is the form in which addresses are compared.
func (q question) email() string { return payment.Lead{Email: q.text("email")}.EmailKey() }

// answer reads a list and writes the page.
func answer[R, T any](w http.ResponseWriter, r *http.Request, q question, read func(context.Context, listing.Paging) (listing.Part[R], error),
	id func(R) uuid.UUID, body func(R) T,
) error {
	if err := q.err(); err != nil {
		return err
	}
	part, err := read(r.Context(), q.page.paging())
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, pageOf(q.page, part, id, body))
	return nil
}

// listTransactions answers GET /transactions/.
func (a *Admin) listTransactions(w http.ResponseWriter, r *http.Request) error {
	q := a.ask(r)
	search := listing.TransactionSearch{
		Common: q.common(), Status: readOneOf(q.parameters, "status", payment.TransactionStatuses, q.bad),
		Type: readOneOf(q.parameters, "type", payment.StandardizedTypes, q.bad), GatewayID: q.id("payment_gateway_id"),
		MerchantTransactionID: q.text("merchant_transaction_id"), GatewayReference: q.text("adapter_unique_id"),
		TenantReferenceID: q.text("tenant_reference_id"), OrderNumber: q.text("order_number"), SessionID: q.id("session_id"),
		SubscriptionID: q.id("subscription_id"), EmailKey: q.email(),
	}
	return answer(w, r, q, func(ctx context.Context, s listing.Paging) (listing.Part[payment.Debit], error) {
		return listing.SearchTransactions(ctx, a.Store, search, s)
	}, func(d payment.Debit) uuid.UUID { return d.Transaction.ID }, func(d payment.Debit) json.RawMessage {
		return appendTransaction(nil, d)
	})
}

// listChargebacks answers GET /chargebacks/.
func (a *Admin) listChargebacks(w http.ResponseWriter, r *http.Request) error {
	q := a.ask(r)
	search := listing.ChargebackSearch{
		Common: q.common(), Source: readOneOf(q.parameters, "source", payment.ChargebackSources, q.bad),
		ReasonCode: q.text("reason_code"), GatewayID: q.id("payment_gateway_id"),
		MerchantTransactionID: q.text("merchant_transaction_id"), TransactionID: q.id("transaction_id"),
	}
	return answer(w, r, q, func(ctx context.Context, s listing.Paging) (listing.Part[payment.Chargeback], error) {
		return listing.SearchChargebacks(ctx, a.Store, search, s)
	}, func(c payment.Chargeback) uuid.UUID { return c.ID }, func(c payment.Chargeback) json.RawMessage {
		return appendOwned(nil, record.Chargebacks, &c, c.TenantID)
	})
}

// listSubscriptions answers GET /subscriptions/.
func (a *Admin) listSubscriptions(w http.ResponseWriter, r *http.Request) error {
	q := a.ask(r)
	search := listing.SubscriptionSearch{
		Common: q.common(), Status: readOneOf(q.parameters, "status", payment.SubscriptionStatuses, q.bad),
		GatewayID: q.id("payment_gateway_id"), OrderNumber: q.text("order_number"), EmailKey: q.email(),
	}
	return answer(w, r, q, func(ctx context.Context, s listing.Paging) (listing.Part[payment.Subscription], error) {
		return listing.SearchSubscriptions(ctx, a.Store, search, s)
	}, func(s payment.Subscription) uuid.UUID { return s.ID }, func(s payment.Subscription) json.RawMessage {
		return appendSubscription(nil, s)
	})
}

// appendOwned writes a public record and whose it is as one object.
func appendOwned[T any](dst []byte, columns record.Columns[T], row *T, tenantID uuid.UUID) []byte {
	return appendTenant(columns.AppendJSON(dst, row), tenantID)
}

// appendTenant adds to an object that was just written whose it is.
func appendTenant(dst []byte, tenantID uuid.UUID) []byte {
	dst = append(dst[:len(dst)-1], `,"tenant_id":"`...)
	return append(append(dst, tenantID.String()...), `"}`...)
}
