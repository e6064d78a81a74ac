package admin_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/payment"
)

func TestUnknownFiltersAreRefused(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		for _, address := range []string{
			sessions, leads, transactions, chargebacks, subscriptions, imports, "/admin/v1/webhook-deliveries/", "/admin/v1/mails/", "/admin/v1/tenants/",
			"/admin/v1/tenants/" + apptest.Shop + "/offers/", "/admin/v1/tenants/" + apptest.Shop + "/api-keys/", "/admin/v1/rebill-pauses/",
			"/admin/v1/bank-files/", "/admin/v1/bank-statements/", "/admin/v1/bank-entries/", "/admin/v1/payouts/", "/admin/v1/adapters/",
			"/admin/v1/operators/", "/admin/v1/audit/",
		} {
			s.Do(t, operator(address+"?staus=x", nil)).Want(t, http.StatusBadRequest, apptest.Fields{"detail.staus": "staus is not a parameter of this list."})
			s.Do(t, operator(address, nil)).Want(t, http.StatusOK, nil)
		}
	})
}

func TestImportsAreListed(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		first := s.Do(t, importing(t, "transactions", header+"L-1,,approved,,1.00,EUR,2026-03-01,,,\n", nil)).Want(t, http.StatusCreated, nil).Text(t, "id")
		second := s.Do(t, importing(t, "transactions", header+"L-2,,approved,,nothing,EUR,2026-03-01,,\"a, \"\"b\"\"\",\n", apptest.Body{"dry_run": true})).
			Want(t, http.StatusCreated, nil)
		wantFound(t, s, imports, second.Text(t, "id"), first)
		wantFound(t, s, imports+"?kind=chargebacks")
		wantFound(t, s, imports+"?kind=transactions&status=completed&gateway_id="+apptest.Gateway+"&tenant_id="+apptest.Shop, second.Text(t, "id"), first)
		wantFound(t, s, imports+"?gateway_id="+apptest.RivalGateway)
		line := second.Get(t, "rejected_lines").([]any)[0].(map[string]any)
		if text := line["text"]; text != `L-2,,approved,,nothing,EUR,2026-03-01,,a, "b",` {
			t.Errorf("the text of the rejected line is %s", text)
		}
		again := s.Do(t, operator(imports+second.Text(t, "id")+"/", nil)).Want(t, http.StatusOK, nil)
		if strings.Contains(string(again.Raw), "nothing,EUR") {
			t.Errorf("the text of a line, which may name a person, was kept: %s", again.Raw)
		}
	})
}

func TestDaysAreSummedUp(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, kept := sale(t, s, apptest.Approved)
		s.Do(t, operator(transactions+kept+"/refunds/", apptest.Body{"amount": "4.00"})).Want(t, http.StatusCreated, nil)
		_, back := sale(t, s, apptest.Approved)
		s.Do(t, operator(chargebacks, apptest.Body{"transaction_id": back, "reason_code": "MD06", "cb_bank_fee": "3.50"})).Want(t, http.StatusCreated, nil)
		sale(t, s, apptest.PendingApproved)
		s.Pay(t, s.Create(t, apptest.Direct()), apptest.DeclinedInsufficientFunds).Want(t, http.StatusOK, nil)
		s.Do(t, importing(t, "transactions", header+"OLD-1,,approved,,1.00,EUR,2020-03-01,,,\n", nil)).Want(t, http.StatusCreated, nil)
		totals := "/admin/v1/totals/?tenant_id=" + apptest.Shop
		today := payment.DateOf(s.App.Checkout.Clock.Now()).String()
		answer := s.Do(t, operator(totals, nil)).Want(t, http.StatusOK, nil)
		got, err := json.Marshal(answer.Get(t, "results"))
		if err != nil {
			t.Fatal(err)
		}
		want := `[{"charged_back":{"amount":"49.00","count":1},"collected":{"amount":"98.00","count":2},"currency":"EUR","day":"` + today +
			`","declined":{"amount":"49.00","count":1},"fees":"3.50","net":"41.50","pending":{"amount":"49.00","count":1},"refunded":{"amount":"4.00","count":1}}]`
		if string(got) != want {
			t.Errorf("the day is\n%s, want\n%s", got, want)
		}
		old := s.Do(t, operator(totals+"&from=2020-03-01&to=2020-03-01", nil)).Want(t, http.StatusOK, nil)
		if len(old.Get(t, "results").([]any)) != 1 {
			t.Errorf("the old day is %s", old.Raw)
		}
		s.Do(t, operator("/admin/v1/totals/?from=yesterday", nil)).Want(t, http.StatusBadRequest, apptest.Fields{
			"detail.tenant_id": "tenant_id is required.", "detail.from": "from must be a date in the form YYYY-MM-DD.",
		})
		s.Do(t, operator(totals+"&from=2020-01-01", nil)).Want(t, http.StatusBadRequest, nil)
		s.Do(t, operator(totals+"&from=2020-01-02&to=2020-01-01", nil)).Want(t, http.StatusBadRequest, nil)
	})
}
