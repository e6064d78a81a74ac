package dashboard_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// send sends a form as a browser does.
func send(t *testing.T, s *apptest.Server, cookie, path string, fields url.Values) apptest.Answer {
	t.Helper()
	form := browse(s, http.MethodPost, path, cookie)
	form.Body = fields.Encode()
	return s.Do(t, form)
}

func TestARefundIsMadeOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		c := openCounter(t, s)
		cookie := signedIn(t, s, store.Finance, apptest.Shop)
		path := "/dashboard/transactions/" + c.transaction + "/"
		page := string(s.Do(t, browse(s, http.MethodGet, path, cookie)).Want(t, http.StatusOK, nil).Raw)
		for _, part := range []string{"Gives money back to " + apptest.HolderName, "account ending in", "left to refund", `name="request_key"`, c.reference, "What happened"} {
			if !strings.Contains(page, part) {
				t.Errorf("the page has no %q:\n%s", part, page)
			}
		}
		fields := url.Values{"amount": {"1.00"}, "request_key": {"once"}}
		for range 3 {
			send(t, s, cookie, path+"refund/", fields).Want(t, http.StatusSeeOther, nil)
		}
		if got := storetest.Scalar[int](t, s.Env, `SELECT COUNT(*) FROM transactions WHERE type = 'sdd_refund'`); got != 1 {
			t.Errorf("%d refunds were made, want 1", got)
		}
		if got := storetest.Scalar[string](t, s.Env, `SELECT actor FROM audit_entries WHERE action = 'refund.create'`); !strings.HasPrefix(got, "operator:") {
			t.Errorf("the refund was made by %s", got)
		}
		send(t, s, cookie, path+"refund/", url.Values{"amount": {"9999.00"}}).Want(t, http.StatusBadRequest, nil)
		for _, amount := range []string{"x", "", "0.00"} { // an empty field is a slip, and not all that is left
			send(t, s, cookie, path+"refund/", url.Values{"amount": {amount}}).Want(t, http.StatusBadRequest, nil)
		}
		send(t, s, signedIn(t, s, store.Support), path+"refund/", fields).Want(t, http.StatusForbidden, nil)
		if page := string(s.Do(t, browse(s, http.MethodGet, path, signedIn(t, s, store.Viewer))).Want(t, http.StatusOK, nil).Raw); strings.Contains(page, "<form method=\"post\" action=\""+path) {
			t.Error("a viewer is offered a form")
		}
	})
}

func TestTwoPeopleRefundByTheSamePage(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		c := openCounter(t, s)
		path := "/dashboard/transactions/" + c.transaction + "/"
		one, other := signedIn(t, s, store.Finance, apptest.Shop), signedIn(t, s, store.Administrator)
		page := string(s.Do(t, browse(s, http.MethodGet, path, one)).Want(t, http.StatusOK, nil).Raw)
		seen := seenOn(page)
		form := func(key string) url.Values {
			return url.Values{"amount": {"1.00"}, "request_key": {key}, "seen": {seen}}
		}
		send(t, s, one, path+"refund/", form("one's")).Want(t, http.StatusSeeOther, nil)
		send(t, s, other, path+"refund/", form("the other's")).Want(t, http.StatusConflict, nil)
		send(t, s, one, path+"refund/", form("one's")).Want(t, http.StatusSeeOther, nil)
		if got := storetest.Scalar[int](t, s.Env, `SELECT COUNT(*) FROM transactions WHERE type = 'sdd_refund'`); got != 1 {
			t.Errorf("%d refunds were made, want 1", got)
		}
	})
}

// seenOn is what a form of a page remembers.
func seenOn(page string) string {
	_, seen, _ := strings.Cut(page, `name="seen" value="`)
	seen, _, _ = strings.Cut(seen, `"`)
	return html.UnescapeString(seen)
}

// TestAPageThatWasOvertakenResumesNothing: a payer whose subscription was to end meanwhile would be billed on.
func TestAPageThatWasOvertakenResumesNothing(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		path := "/dashboard/subscriptions/" + openCounter(t, s).subscription + "/"
		one, other := signedIn(t, s, store.Finance, apptest.Shop), signedIn(t, s, store.Administrator)
		send(t, s, one, path+"pause/", nil).Want(t, http.StatusSeeOther, nil)
		page := string(s.Do(t, browse(s, http.MethodGet, path, one)).Want(t, http.StatusOK, nil).Raw)
		resume := url.Values{"seen": {seenOn(page)}}
		send(t, s, other, path+"resume/", nil).Want(t, http.StatusSeeOther, nil)
		send(t, s, other, path+"cancel/", url.Values{"at": {"period_end"}}).Want(t, http.StatusSeeOther, nil)
		send(t, s, one, path+"resume/", resume).Want(t, http.StatusConflict, nil)
		page = string(s.Do(t, browse(s, http.MethodGet, path, one)).Want(t, http.StatusOK, nil).Raw)
		send(t, s, one, path+"resume/", url.Values{"seen": {seenOn(page)}}).Want(t, http.StatusSeeOther, nil)
	})
}

func TestSubscriptionsAreSteered(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		c := openCounter(t, s)
		cookie := signedIn(t, s, store.Finance, apptest.Shop)
		path := "/dashboard/subscriptions/" + c.subscription + "/"
		send(t, s, cookie, path+"pause/", nil).Want(t, http.StatusSeeOther, nil)
		if page := string(s.Do(t, browse(s, http.MethodGet, path, cookie)).Raw); !strings.Contains(page, "Paused: nothing is billed") || !strings.Contains(page, path+"resume/") {
			t.Errorf("a paused subscription is shown as\n%s", page)
		}
		send(t, s, cookie, path+"resume/", nil).Want(t, http.StatusSeeOther, nil)
		send(t, s, cookie, path+"change/", url.Values{"amount": {"31.50"}}).Want(t, http.StatusSeeOther, nil)
		if page := string(s.Do(t, browse(s, http.MethodGet, path, cookie)).Raw); !strings.Contains(page, "31.50 EUR") {
			t.Errorf("the new price is not shown:\n%s", page)
		}
		send(t, s, cookie, path+"cancel/", url.Values{"at": {"someday"}}).Want(t, http.StatusBadRequest, nil)
		send(t, s, cookie, path+"cancel/", url.Values{"at": {"now"}}).Want(t, http.StatusSeeOther, nil)
		page := string(s.Do(t, browse(s, http.MethodGet, path, cookie)).Raw)
		for _, part := range []string{"CANCELLED", "The subscription was paused.", "The subscription was cancelled", "operator:"} {
			if !strings.Contains(page, part) {
				t.Errorf("the page has no %q:\n%s", part, page)
			}
		}
	})
}

func TestChargebacksEventsAndMandatesAreWorkedOn(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		c := openCounter(t, s)
		cookie := signedIn(t, s, store.Finance, apptest.Shop)
		answer := send(t, s, cookie, "/dashboard/transactions/"+c.transaction+"/chargeback/", url.Values{"reason_code": {"MD06"}}).Want(t, http.StatusSeeOther, nil)
		chargeback, _, _ := strings.Cut(answer.Header.Get("Location"), "?")
		if page := string(s.Do(t, browse(s, http.MethodGet, chargeback, cookie)).Want(t, http.StatusOK, nil).Raw); !strings.Contains(page, "MD06") || !strings.Contains(page, c.transaction) {
			t.Errorf("the chargeback is shown as\n%s", page)
		}
		send(t, s, cookie, "/dashboard/transactions/"+c.transaction+"/chargeback/", url.Values{"reason_code": {"MD06"}}).Want(t, http.StatusConflict, nil)

		event := "/dashboard/events/" + c.event + "/"
		if page := string(s.Do(t, browse(s, http.MethodGet, event, cookie)).Want(t, http.StatusOK, nil).Raw); !strings.Contains(page, "transaction.created") || !strings.Contains(page, c.reference) {
			t.Errorf("the event is shown as\n%s", page)
		}
		send(t, s, cookie, event+"resend/", nil).Want(t, http.StatusSeeOther, nil)
		s.Env.OutOfLine(t)
		s.Env.Exec(t, `UPDATE events SET delivery_status = 'failed', next_attempt_at = NULL`)
		many := send(t, s, cookie, "/dashboard/events/resend/", url.Values{"webhook_profile_id": {apptest.Profile}}).Want(t, http.StatusSeeOther, nil)
		given, err := http.ParseSetCookie(many.Header.Get("Set-Cookie"))
		if err != nil {
			t.Fatal(err)
		}
		list := browse(s, http.MethodGet, many.Header.Get("Location"), cookie+"; "+given.Name+"="+given.Value)
		if page := string(s.Do(t, list).Want(t, http.StatusOK, nil).Raw); !strings.Contains(page, "events are in line again.") || strings.Contains(page, ">0 events are in line") {
			t.Errorf("sending many again says\n%s", page)
		}
		s.Env.OutOfLine(t)
		s.Env.Exec(t, `UPDATE events SET delivery_status = 'failed', next_attempt_at = NULL`)
		latest := storetest.Scalar[string](t, s.Env, `SELECT CAST(id AS TEXT) FROM events ORDER BY id DESC LIMIT 1`)
		send(t, s, cookie, "/dashboard/events/resend/", url.Values{"webhook_profile_id": {apptest.Profile}, "behind": {latest}}).Want(t, http.StatusSeeOther, nil)
		if left := s.Env.Count(t, "events WHERE delivery_status = 'failed' AND CAST(id AS TEXT) <= '"+latest+"'"); left == 0 || left != s.Env.Count(t, "events WHERE CAST(id AS TEXT) <= '"+latest+"'") {
			t.Errorf("%d events have still failed: none was to be sent again", left)
		}
		goOn := browse(s, http.MethodGet, "/dashboard/events/?behind="+latest+"&webhook_profile_id="+apptest.Profile, cookie)
		if page := string(s.Do(t, goOn).Want(t, http.StatusOK, nil).Raw); !strings.Contains(page, `name="behind" value="`+latest+`"`) {
			t.Errorf("the form does not go on behind the event:\n%s", page)
		}
		if page := string(s.Do(t, browse(s, http.MethodGet, "/dashboard/mandates/"+c.mandate+"/", cookie)).Want(t, http.StatusOK, nil).Raw); !strings.Contains(page, "not given on the payment page") {
			t.Errorf("the mandate is shown as\n%s", page)
		}
		for path, told := range map[string]string{
			"mandates/" + c.mandate: "The gateway approved.", "leads/" + c.lead: "The payer became known.", "events/" + c.event: "The event was sent again by hand.",
			"sessions/" + c.session: "A session was made", strings.TrimPrefix(chargeback, "/dashboard/"): "Charged back",
		} {
			if page := string(s.Do(t, browse(s, http.MethodGet, "/dashboard/"+strings.TrimSuffix(path, "/")+"/", cookie)).Want(t, http.StatusOK, nil).Raw); !strings.Contains(page, told) {
				t.Errorf("the page of %s does not tell %q:\n%s", path, told, page)
			}
		}
		for _, path := range []string{"sessions/" + c.session, "leads/" + c.lead} {
			if page := string(s.Do(t, browse(s, http.MethodGet, "/dashboard/"+path+"/", cookie)).Want(t, http.StatusOK, nil).Raw); !strings.Contains(page, c.email) {
				t.Errorf("%s does not name the payer:\n%s", path, page)
			}
		}
	})
}
