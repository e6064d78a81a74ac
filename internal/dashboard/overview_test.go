package dashboard_test

import (
	"html"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// numbers are what the overview counts, each with where it leads: open questions, sums
// and reasons.
var numbers = regexp.MustCompile(`href="(/dashboard/[^"]+)">(?:<b>(\d+)</b> [^<]+|<span class="muted">[^<]+</span><b>[^<]+</b><span class="muted small">(\d+)[^<]*</span>|[^<]*</a><meter[^>]*></meter><span class="number">(\d+)</span>)`)

// TestEveryNumberLeadsToExactlyItsList has something of everything, and beside each that
// is counted something that is nearly so.
func TestEveryNumberLeadsToExactlyItsList(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		holdDeliveries(t, s)
		c := openCounter(t, s)
		for _, iban := range []string{apptest.DeclinedInsufficientFunds, apptest.DeclinedInsufficientFunds, apptest.DeclinedMandateRejected, apptest.Approved, apptest.PendingApproved} {
			s.Pay(t, s.Create(t, apptest.InCampaign(apptest.MonthlyCampaign)), iban)
		}
		refunded := s.Pay(t, s.Create(t, apptest.Direct()), apptest.Approved).Want(t, http.StatusOK, nil).Text(t, "transaction.id")
		s.Do(t, apptest.Request{Path: "/admin/v1/transactions/" + refunded + "/refunds/", Key: apptest.AdminToken, Body: apptest.Body{"amount": "1.00"}}).Want(t, http.StatusCreated, nil)
		s.Do(t, apptest.Request{
			Path: "/admin/v1/chargebacks/", Key: apptest.AdminToken, Body: apptest.Body{"transaction_id": c.transaction, "reason_code": "AM04"},
		}).Want(t, http.StatusCreated, nil)
		leaveOpen(t, s)
		// A payment of an earlier day that was imported today is counted on its day.
		s.Env.Exec(t, `UPDATE transactions SET processed_at = processed_at - 86400000000 * 400 WHERE id = '`+refunded+`'`)
		cookie := signedIn(t, s, store.Finance, apptest.Shop)
		page := string(s.Do(t, browse(s, http.MethodGet, "/dashboard/", cookie)).Want(t, http.StatusOK, nil).Raw)
		found := numbers.FindAllStringSubmatch(page, -1)
		if len(found) < 14 {
			t.Fatalf("the overview has %d numbers:\n%s", len(found), page)
		}
		for _, number := range found {
			address := html.UnescapeString(number[1])
			want, _ := strconv.Atoi(number[2] + number[3] + number[4])
			if strings.HasPrefix(address, "/dashboard/setup/paused/") {
				paused := string(s.Do(t, browse(s, http.MethodGet, address, cookie)).Want(t, http.StatusOK, nil).Raw)
				if got := strings.Count(paused, `class="paused"`); got != want || got != 1 {
					t.Errorf("%s lists %d, and the overview says %d", address, got, want)
				}
				continue
			}
			if got := exported(t, s, cookie, address, "tenant"); len(got) != want {
				t.Errorf("%s lists %d, and the overview says %d", address, len(got), want)
			}
		}
	})
}

// holdDeliveries has another process keep the shop's endpoint: an event that is tried between the look at a number and
// the look at its list would be in one of them alone.
func holdDeliveries(t *testing.T, s *apptest.Server) {
	t.Helper()
	s.Env.Exec(t, `INSERT INTO webhook_endpoints (tenant_id, webhook_profile_id, lease_owner, leased_until, failure_count, pause_count, paused_until)
		VALUES ($1, $2, $3, 4102444800000000, 0, 0, 0)`, apptest.Shop, apptest.Profile, payment.NewID().String())
}

// leaveOpen leaves one of every question open: an outcome that is not known, a bank's
// line that belongs to nothing, an account that is paused, events that failed or wait, a
// subscription that is due and one that is past due.
func leaveOpen(t *testing.T, s *apptest.Server) {
	t.Helper()
	shop, gateway, at := uuid.MustParse(apptest.Shop), uuid.MustParse(apptest.Gateway), s.Now(t)
	statement := store.BankStatement{TenantID: shop, ID: payment.NewID(), GatewayID: gateway, Name: "x", ContentHash: "x", State: store.BankStatementRead}
	if err := s.Env.Store.Write(t.Context(), at, func(tx *store.Tx) error {
		tx.PutBankStatement(statement)
		tx.AddBankLines(statement, []store.BankLine{
			{Position: 1, Currency: "EUR", BookingDate: "2026-01-01", Result: store.LineUnmatched}, {Position: 2, Currency: "EUR", BookingDate: "2026-01-01", Result: store.LineIgnored},
		})
		tx.PauseRebills(payment.RebillPause{TenantID: shop, GatewayID: gateway, Reason: payment.PausedByCreditorCode, Code: "AC03", Since: at})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	const of = ` WHERE tenant_id = '` + apptest.Shop + `' AND id = (SELECT `
	one := func(set, which, table string) {
		t.Helper()
		s.Env.Exec(t, `UPDATE `+table+` SET `+set+of+`CAST(`+which+`(CAST(id AS TEXT)) AS `+idType(s)+`) FROM `+table+` WHERE tenant_id = '`+apptest.Shop+`')`)
	}
	one(`in_flight = 'pay', lookup_count = 1, next_lookup_at = NULL`, "MAX", "transactions")
	s.Env.OutOfLine(t)
	one(`delivery_status = 'failed', next_attempt_at = NULL`, "MIN", "events")
	one(`delivery_status = 'pending', next_attempt_at = 4102444800000000`, "MAX", "events")
	one(`due_at = 1`, "MIN", "subscriptions")
	one(`status = 'PAST_DUE', due_at = NULL`, "MAX", "subscriptions")
}

// idType is what the engine keeps ids as.
func idType(s *apptest.Server) string {
	if s.Env.Engine == "postgres" {
		return "uuid"
	}
	return "TEXT"
}

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
