package dashboard_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/store"
)

func TestTheOverviewCountsWhatHappened(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		c := openCounter(t, s)
		s.Pay(t, s.Create(t, apptest.Direct()), apptest.Approved).Want(t, http.StatusOK, nil)
		s.Pay(t, s.Create(t, apptest.Direct()), apptest.DeclinedInsufficientFunds)
		s.Do(t, apptest.Request{
			Path: "/admin/v1/chargebacks/", Key: apptest.AdminToken, Body: apptest.Body{"transaction_id": c.transaction, "reason_code": "AM04"},
		}).Want(t, http.StatusCreated, nil)
		s.Do(t, apptest.Request{Path: "/admin/v1/transactions/" + c.rivals[0] + "/refunds/", Key: apptest.AdminToken, Body: apptest.Body{"amount": "1.00"}}).Want(t, http.StatusCreated, nil)
		show := func(cookie, query string) string {
			t.Helper()
			return string(s.Do(t, browse(s, http.MethodGet, "/dashboard/"+query, cookie)).Want(t, http.StatusOK, nil).Raw)
		}
		expect := func(page string, parts ...string) {
			t.Helper()
			for _, part := range parts {
				if !strings.Contains(page, part) {
					t.Errorf("the overview has no %q:\n%s", part, page)
				}
			}
		}
		bound := show(signedIn(t, s, store.Viewer, apptest.Shop), "")
		expect(bound, "2 payments", "66.7 %", "1 declined", "insufficient_funds", "AM04", "1, 50.0 % of what was collected", "/dashboard/chargebacks/?from=", "data-chart=", "0 payments")
		if strings.Contains(bound, "Talmarkt") || strings.Contains(bound, "3 payments") {
			t.Errorf("another tenant is counted:\n%s", bound)
		}
		everyone := signedIn(t, s, store.Viewer)
		expect(show(everyone, ""), "3 payments", "75.0 %", "Talmarkt")
		expect(show(everyone, "?tenant_id="+apptest.Rival), "1 payment<", "100.0 %")
		expect(show(everyone, "?by=campaign"), "no campaign")
		before := s.Now(t).AddDate(0, 0, -10).Format(time.DateOnly)
		expect(show(everyone, "?from="+before+"&to="+before), "Nothing happened in this period")
		for _, query := range []string{"?from=x", "?from=2026-02-01&to=2026-01-01", "?from=2020-01-01&to=2026-01-01", "?by=colour", "?tenant_id=7"} {
			s.Do(t, browse(s, http.MethodGet, "/dashboard/"+query, everyone)).Want(t, http.StatusBadRequest, nil)
		}
	})
}
