package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/clock"
	"sepad/internal/merchant"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// keyWith makes a key of the shop that has these scopes alone.
func keyWith(t *testing.T, s *apptest.Server, scopes ...merchant.Scope) string {
	t.Helper()
	var names []string
	for _, scope := range scopes {
		names = append(names, string(scope))
	}
	all, _ := merchant.NewScopes(names)
	_, text, err := setup.CreateKey(t.Context(), s.Env.Store, uuid.MustParse(apptest.Shop), "scoped", all, s.Environment, clock.Real{}.Now(), store.RequestKey{})
	if err != nil {
		t.Fatal(err)
	}
	return text.Reveal()
}

func TestAMerchantRefunds(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		key := keyWith(t, s, merchant.ScopeRefunds, merchant.ScopeReports)
		token := s.Create(t, apptest.Direct())
		id := s.Pay(t, token, apptest.Approved).Want(t, http.StatusOK, nil).Text(t, "transaction.id")
		one := "/api/v1/transactions/" + id + "/"
		refund := apptest.Request{Path: one + "refunds/", Key: key, Body: apptest.Body{"amount": "10.00"}, Header: map[string]string{"Idempotency-Key": "refund-1"}}

		shown := s.Do(t, apptest.Request{Path: one, Key: key}).Want(t, http.StatusOK, fields{
			"id": id, "status": "approved", "refunded_amount": "0.00", "refundable_amount": "49.00", "order.status": "COMPLETED", "error_details": nil,
		})
		if _, shows := shown.Object(t)["tenant_id"]; shows {
			t.Error("it says whose it is")
		}
		first := s.Do(t, refund).Want(t, http.StatusCreated, fields{"amount": "10.00", "type": "sdd_refund", "refund_of": id, "status": "approved"})
		again := s.Do(t, refund).Want(t, http.StatusCreated, nil)
		if first.Text(t, "id") != again.Text(t, "id") {
			t.Error("the same key refunds twice")
		}
		s.Do(t, apptest.Request{Path: one, Key: key}).Want(t, http.StatusOK, fields{"refunded_amount": "10.00", "refundable_amount": "39.00"})

		for name, wrong := range map[string]struct {
			request apptest.Request
			status  int
		}{
			"more than there is":          {apptest.Request{Path: one + "refunds/", Key: key, Body: apptest.Body{"amount": "40.00"}}, http.StatusBadRequest},
			"a key without the scope":     {apptest.Request{Path: one + "refunds/", Key: s.Key, Body: apptest.Body{}}, http.StatusForbidden},
			"the key of another tenant":   {apptest.Request{Path: one, Key: s.RivalKey}, http.StatusNotFound},
			"another tenant's refund":     {apptest.Request{Path: one + "refunds/", Key: s.RivalKey, Body: apptest.Body{}}, http.StatusForbidden},
			"no key":                      {apptest.Request{Path: one}, http.StatusUnauthorized},
			"a refund without a key":      {apptest.Request{Path: one + "refunds/", Body: apptest.Body{}}, http.StatusUnauthorized},
			"what nobody has":             {apptest.Request{Path: "/api/v1/transactions/" + apptest.Shop + "/", Key: key}, http.StatusNotFound},
			"what nobody has, refunded":   {apptest.Request{Path: "/api/v1/transactions/this/refunds/", Key: key, Body: apptest.Body{}}, http.StatusNotFound},
			"a look without the scope":    {apptest.Request{Path: one, Key: keyWith(t, s, merchant.ScopePayments)}, http.StatusForbidden},
			"another body under that key": {apptest.Request{Path: one + "refunds/", Key: key, Body: apptest.Body{"amount": "1.00"}, Header: map[string]string{"Idempotency-Key": "refund-1"}}, http.StatusConflict},
			"a create without the scope":  {apptest.Request{Path: "/api/v1/payment-sessions/", Key: key, Body: apptest.Direct()}, http.StatusForbidden},
			"a cancel without the scope":  {apptest.Request{Method: http.MethodPost, Path: apptest.Path(token, "cancel"), Key: key}, http.StatusForbidden},
			"a listing without the scope": {apptest.Request{Path: "/api/v1/reconciliation/transactions/?start_date=2026-01-01&end_date=2026-01-02", Key: keyWith(t, s, merchant.ScopeRefunds)}, http.StatusForbidden},
			"chargebacks without scope":   {apptest.Request{Path: "/api/v1/reconciliation/chargebacks/?start_date=2026-01-01&end_date=2026-01-02", Key: keyWith(t, s, merchant.ScopeRefunds)}, http.StatusForbidden},
			"subscriptions without scope": {apptest.Request{Path: "/api/v1/reconciliation/subscriptions/?start_date=2026-01-01&end_date=2026-01-02", Key: keyWith(t, s, merchant.ScopeRefunds)}, http.StatusForbidden},
		} {
			if got := s.Do(t, wrong.request); got.Status != wrong.status {
				t.Errorf("%s is answered %d, want %d: %s", name, got.Status, wrong.status, got.Raw)
			}
		}
	})
}

func TestAMerchantCancelsASubscription(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		key := keyWith(t, s, merchant.ScopeSubscriptions, merchant.ScopeReports)
		paid := s.Pay(t, s.Create(t, apptest.InCampaign(apptest.MonthlyCampaign)), apptest.Approved)
		id := paid.Want(t, http.StatusOK, nil).Text(t, "subscription.id")
		one := "/api/v1/subscriptions/" + id + "/"
		cancel := apptest.Request{Path: one + "cancel/", Key: key, Body: apptest.Body{"at": "now"}}
		s.Do(t, apptest.Request{Path: one, Key: key}).Want(t, http.StatusOK, fields{
			"status": "ACTIVE", "cancel_reason": nil, "cancel_code": nil, "mandate_reference_id": paid.Text(t, "sepa.mandate_reference"),
		})
		for name, wrong := range map[string]struct {
			request apptest.Request
			status  int
		}{
			"an end that there is not": {apptest.Request{Path: one + "cancel/", Key: key, Body: apptest.Body{"at": "never"}, Undocumented: true}, http.StatusBadRequest},
			"a key without the scope":  {apptest.Request{Path: one + "cancel/", Key: s.Key, Body: apptest.Body{}}, http.StatusForbidden},
			"a look without the scope": {apptest.Request{Path: one, Key: keyWith(t, s, merchant.ScopePayments)}, http.StatusForbidden},
			"the rival's look":         {apptest.Request{Path: one, Key: s.RivalKey}, http.StatusNotFound},
			"no key":                   {apptest.Request{Path: one}, http.StatusUnauthorized},
			"a cancel without a key":   {apptest.Request{Path: one + "cancel/", Body: apptest.Body{}}, http.StatusUnauthorized},
			"one that nobody has":      {apptest.Request{Path: "/api/v1/subscriptions/this/cancel/", Key: key, Body: apptest.Body{}}, http.StatusNotFound},
		} {
			if got := s.Do(t, wrong.request); got.Status != wrong.status {
				t.Errorf("%s is answered %d, want %d: %s", name, got.Status, wrong.status, got.Raw)
			}
		}
		s.Do(t, cancel).Want(t, http.StatusOK, fields{"status": "CANCELLED", "cancel_reason": "merchant", "next_billing_date": nil})
		s.Do(t, cancel).WantDetail(t, http.StatusConflict, "The subscription is cancelled already.")
	})
}

func TestAMerchantSteersASubscription(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		key := keyWith(t, s, merchant.ScopeSubscriptions, merchant.ScopeReports)
		paid := s.Pay(t, s.Create(t, apptest.InCampaign(apptest.MonthlyCampaign)), apptest.Approved)
		one := "/api/v1/subscriptions/" + paid.Want(t, http.StatusOK, nil).Text(t, "subscription.id") + "/"
		next := paid.Text(t, "subscription.next_billing_date")
		call := func(verb string, content apptest.Body) apptest.Answer {
			t.Helper()
			return s.Do(t, apptest.Request{Method: http.MethodPost, Path: one + verb + "/", Key: key, Body: content})
		}
		call("pause", apptest.Body{}).Want(t, http.StatusOK, fields{"status": "ACTIVE", "next_billing_date": nil, "paused_at": apptest.Any, "ends_on": nil})
		call("pause", apptest.Body{}).WantDetail(t, http.StatusConflict, "The subscription is paused already.")
		call("resume", apptest.Body{}).Want(t, http.StatusOK, fields{"next_billing_date": next, "paused_at": nil})
		call("resume", apptest.Body{}).WantDetail(t, http.StatusConflict, "The subscription is not paused.")
		moved := s.Now(t).AddDate(0, 0, 40).UTC().Format(time.DateOnly)
		call("change", apptest.Body{"amount": "34.99", "next_billing_date": moved}).
			Want(t, http.StatusOK, fields{"billing_amount": "34.99", "next_billing_date": moved, "billing_anchor_date": moved})
		day := s.Now(t).UTC().Format(time.DateOnly)
		listed := s.Do(t, apptest.Request{Path: "/api/v1/reconciliation/subscriptions/?start_date=" + day, Key: key})
		listed.Want(t, http.StatusOK, fields{"results.0.billing_anchor_date": moved, "results.0.billing_amount": "34.99"})
		s.Do(t, apptest.Request{Path: one + "change/", Key: key, Body: apptest.Body{"amount": "-1", "next_billing_date": "soon"}, Undocumented: true}).
			WantBad(t, map[string]string{"amount": "", "next_billing_date": ""})
		call("cancel", apptest.Body{"at": "period_end"}).Want(t, http.StatusOK, fields{"status": "ACTIVE", "ends_on": moved, "next_billing_date": nil})
		call("change", apptest.Body{"next_billing_date": moved}).Want(t, http.StatusConflict, nil)
		for _, verb := range []string{"pause", "resume", "change"} {
			for name, wrong := range map[string]struct {
				key, path string
				status    int
			}{
				"a key without the scope": {s.Key, one, http.StatusForbidden}, "no key": {"", one, http.StatusUnauthorized},
				"one that nobody has":     {key, "/api/v1/subscriptions/this/", http.StatusNotFound},
				"one of another tenant's": {key, "/api/v1/subscriptions/" + apptest.Rival + "/", http.StatusNotFound},
			} {
				got := s.Do(t, apptest.Request{Path: wrong.path + verb + "/", Key: wrong.key, Body: apptest.Body{"amount": "1.00"}})
				if got.Status != wrong.status {
					t.Errorf("%s of %s is answered %d: %s", verb, name, got.Status, got.Raw)
				}
			}
		}
		s.Advance(t, 41*24*time.Hour)
		s.Do(t, apptest.Request{Path: one, Key: key}).Want(t, http.StatusOK, fields{"status": "CANCELLED", "cancel_reason": "merchant", "successful_billing_count": 0})
	})
}

// TestARevokedKeyIsGone: also for a call that was let in before, and holds its body back.
func TestARevokedKeyIsGone(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		key, token := keyWith(t, s, merchant.ScopeRefunds), s.Create(t, apptest.Direct())
		sale := s.Pay(t, token, apptest.Approved).Text(t, "transaction.id")
		refund := apptest.Request{Path: "/api/v1/transactions/" + sale + "/refunds/", Key: key, Body: apptest.Body{"amount": "1.00"}}
		s.DoHeld(t, refund, func() { s.RevokeKey(t, apptest.Shop, "scoped") }).Want(t, http.StatusUnauthorized, nil)
		if refunds := storetest.Scalar[int64](t, s.Env, `SELECT count(*) - 1 FROM transactions`); refunds != 0 {
			t.Errorf("%d refunds", refunds)
		}
		for _, header := range []map[string]string{nil, {"Idempotency-Key": "held back"}} {
			key, sessions := keyWith(t, s, merchant.ScopePayments), s.Env.Count(t, "sessions")
			create := apptest.Request{Path: "/api/v1/payment-sessions/", Key: key, Body: apptest.Direct(), Header: header}
			s.DoHeld(t, create, func() { s.RevokeKey(t, apptest.Shop, "scoped") }).Want(t, http.StatusUnauthorized, nil)
			if made := s.Env.Count(t, "sessions") - sessions; made != 0 {
				t.Errorf("%d sessions were made with a key that was revoked, and %v", made, header)
			}
		}
	})
}
