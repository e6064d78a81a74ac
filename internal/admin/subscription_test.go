package admin_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/config"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

const subscriptions = "/admin/v1/subscriptions/"

const month = 31 * 24 * time.Hour

// subscribe buys a subscription and gives its id.
func subscribe(t *testing.T, s *apptest.Server, body apptest.Body, iban string) string {
	t.Helper()
	return s.Pay(t, s.Create(t, body), iban).Want(t, http.StatusOK, apptest.Fields{"status": "completed"}).Text(t, "subscription.id")
}

// every is a purchase of 29.99 in a rhythm.
func every(frequency string) apptest.Body {
	return apptest.InCampaign(apptest.MonthlyCampaign).With(apptest.Body{"billing_frequency": frequency})
}

func wantSubscription(t *testing.T, s *apptest.Server, id string, fields apptest.Fields) apptest.Answer {
	t.Helper()
	return s.Do(t, operator(subscriptions+id+"/", nil)).Want(t, http.StatusOK, fields)
}

func cancelling(id string) apptest.Request {
	return apptest.Request{Method: http.MethodPost, Path: subscriptions + id + "/cancel/", Key: apptest.AdminToken}
}

// rebillsOf tells a subscription's rebills in order: the period, the try, its
// place in the mandate's life, and what became of it on which day.
func rebillsOf(t *testing.T, s *apptest.Server, id string) (lines []string) {
	t.Helper()
	db := s.Env.DB(t)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), `SELECT billing_period, attempt_number, sequence_type, status, created_at
		FROM transactions WHERE subscription_id = $1 AND type = 'sdd_rebill' ORDER BY created_at, id`, id)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var period, try int
		var sequence, status string
		var created int64
		if err := rows.Scan(&period, &try, &sequence, &status, &created); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%d.%d %s %s %s", period, try, sequence, status, time.UnixMicro(created).UTC().Format(time.DateOnly)))
	}
	return lines
}

// date is a day so many months after another, within the month it reaches.
func date(from time.Time, months int) string {
	return payment.DateOf(from).AddMonths(months).String()
}

func TestRebillsComeOnTheirDay(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		start := s.Now(t)
		id := subscribe(t, s, every("MONTHLY"), apptest.Approved)
		s.Advance(t, 3*month+24*time.Hour)
		var want []string
		for n := 1; n <= 3; n++ {
			want = append(want, fmt.Sprintf("%d.1 RCUR approved %s", n, date(start, n)))
		}
		if got := rebillsOf(t, s, id); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("the rebills are %q, want %q", got, want)
		}
		last := wantSubscription(t, s, id, apptest.Fields{
			"status": "ACTIVE", "next_billing_date": date(start, 4), "successful_billing_count": 3.0, "failed_billing_count": 0.0,
			"total_revenue": "119.96", "cancelled_at": nil, "tenant_id": apptest.Shop, "mandate_reference_id": apptest.Any,
		}).Text(t, "last_billing_date")
		if !strings.HasPrefix(last, date(start, 3)+"T00:00:0") {
			t.Errorf("it was last billed at %s", last)
		}
		if mandates := storetest.Scalar[int](t, s.Env, `SELECT COUNT(DISTINCT mandate_reference) FROM sandbox_payments`); mandates != 1 {
			t.Errorf("the gateway knows %d mandates", mandates)
		}
		listed := s.Do(t, apptest.Request{Path: "/api/v1/reconciliation/subscriptions/?start_date=" + date(start, 0), Key: s.Key})
		if !strings.Contains(string(listed.Raw), `"id":"`+id+`"`) || !strings.Contains(string(listed.Raw), `"total_revenue":"119.96"`) {
			t.Errorf("reconciliation lists %s", listed.Raw)
		}
		told := storetest.Scalar[int](t, s.Env, `SELECT COUNT(*) FROM events WHERE kind = 'transaction.created'`)
		if told != 4 {
			t.Errorf("%d transactions were told, want the first and 3 rebills", told)
		}
	})
}

func TestEveryFrequencyIsBilled(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	ids := map[string]string{}
	for _, frequency := range payment.BillingFrequencies {
		ids[string(frequency)] = subscribe(t, s, every(string(frequency)), apptest.Approved)
	}
	without := subscribe(t, s, every("MONTHLY").Without("campaign_id").With(apptest.Body{
		"gateway_id": apptest.Gateway, "amount": "29.99", "currency": "EUR", "billing_type": "RECURRING", "billing_frequency": nil,
	}), apptest.Approved)
	s.Advance(t, 366*24*time.Hour)
	for frequency, want := range map[string]float64{"WEEKLY": 52, "BIWEEKLY": 26, "MONTHLY": 12, "QUARTERLY": 4, "SEMIANNUALLY": 2, "YEARLY": 1} {
		wantSubscription(t, s, ids[frequency], apptest.Fields{"successful_billing_count": want, "status": "ACTIVE"})
	}
	wantSubscription(t, s, without, apptest.Fields{"successful_billing_count": 0.0, "next_billing_date": nil, "status": "ACTIVE"})
	t.Run("and a mandate that is not used for 36 months lapses", func(t *testing.T) {
		s.Do(t, cancelling(ids["WEEKLY"])).Want(t, http.StatusOK, nil)
		s.Advance(t, 2*366*24*time.Hour)
		wantSubscription(t, s, without, apptest.Fields{"status": "CANCELLED", "cancelled_at": apptest.Any})
		wantSubscription(t, s, ids["YEARLY"], apptest.Fields{"status": "ACTIVE", "successful_billing_count": 3.0})
	})
}

func TestTrialsAreBilledWhenTheyEnd(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		start := s.Now(t)
		free := subscribe(t, s, apptest.InCampaign(apptest.FreeTrialCampaign), apptest.Approved)
		paid := subscribe(t, s, apptest.InCampaign(apptest.TrialCampaign), apptest.Approved)
		s.Advance(t, 14*24*time.Hour+month)
		for id, sequence := range map[string]string{free: "FRST", paid: "RCUR"} {
			got := rebillsOf(t, s, id)
			if want := "0.1 " + sequence + " approved " + payment.DateOf(start).AddDays(14).String(); len(got) < 2 || got[0] != want {
				t.Errorf("the rebills are %q, want %q first", got, want)
			} else if !strings.HasPrefix(got[1], "1.1 RCUR approved") {
				t.Errorf("the second rebill is %q", got[1])
			}
		}
	})
}

func TestRefusedRebills(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		start := s.Now(t)
		due := payment.DateOf(start).AddMonths(1)
		once := subscribe(t, s, every("MONTHLY"), apptest.RebillDeclinedOnce)
		always := subscribe(t, s, every("MONTHLY"), apptest.RebillDeclined)
		closed := subscribe(t, s, every("MONTHLY"), apptest.RebillAccountClosed)
		s.Advance(t, due.AddDays(1).Start().Sub(s.Now(t)))
		pastDue := apptest.Fields{"status": "PAST_DUE", "failed_billing_count": 1.0, "next_billing_date": due.AddDays(3).String(), "last_billing_date": apptest.Any}
		wantSubscription(t, s, once, pastDue)
		wantSubscription(t, s, always, pastDue)
		wantSubscription(t, s, closed, apptest.Fields{"status": "CANCELLED", "failed_billing_count": 1.0, "next_billing_date": nil})
		s.Advance(t, 20*24*time.Hour)
		wantSubscription(t, s, once, apptest.Fields{
			"status": "ACTIVE", "failed_billing_count": 1.0, "successful_billing_count": 1.0, "next_billing_date": date(start, 2), "total_revenue": "59.98",
		})
		wantSubscription(t, s, always, apptest.Fields{"status": "CANCELLED", "failed_billing_count": 4.0, "total_revenue": "29.99"})
		var want []string
		for try, days := range []int{0, 3, 8, 15} {
			want = append(want, fmt.Sprintf("1.%d RCUR declined %s", try+1, due.AddDays(days)))
		}
		if got := rebillsOf(t, s, always); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("the tries are %q, want %q", got, want)
		}
	})
}

func TestDunningDaysCanBeSet(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{Change: func(c *config.Settings) { c.DunningDays = "2" }})
	s.Apply(t, `{tenants: [{id: `+apptest.Shop+`, name: Bergladen, campaigns: [{id: 019d0000-0000-7000-8000-0000000000d1,
		name: Patient, offer_id: `+apptest.PosterOffer+`, gateway_id: `+apptest.Gateway+`, dunning_days: [10, 20]}]}]}`)
	recurring := apptest.Body{"billing_type": "RECURRING", "billing_frequency": "MONTHLY"}
	patient := subscribe(t, s, apptest.InCampaign("019d0000-0000-7000-8000-0000000000d1").With(recurring), apptest.RebillDeclined)
	usual := subscribe(t, s, every("MONTHLY"), apptest.RebillDeclined)
	s.Advance(t, month+2*24*time.Hour)
	wantSubscription(t, s, usual, apptest.Fields{"status": "CANCELLED", "failed_billing_count": 2.0})
	wantSubscription(t, s, patient, apptest.Fields{"status": "PAST_DUE", "failed_billing_count": 1.0})
	s.Advance(t, month)
	wantSubscription(t, s, patient, apptest.Fields{"status": "CANCELLED", "failed_billing_count": 3.0})
}

func TestRebillsThatSettleLater(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		id := subscribe(t, s, every("MONTHLY"), apptest.PendingApproved)
		s.Advance(t, month+25*time.Hour)
		wantSubscription(t, s, id, apptest.Fields{"status": "ACTIVE", "successful_billing_count": 1.0, "total_revenue": "59.98"})
		refused := subscribe(t, s, every("MONTHLY"), apptest.PendingDeclined)
		s.Advance(t, 2*month)
		wantSubscription(t, s, refused, apptest.Fields{"status": "CANCELLED", "successful_billing_count": 0.0, "total_revenue": "0.00"})
		if got := rebillsOf(t, s, refused); len(got) != 0 {
			t.Errorf("a subscription whose first payment was refused was billed: %q", got)
		}
	})
}

func TestUnknownRebillsAreAskedAbout(t *testing.T) {
	t.Parallel()
	// The first payments are answered, the rebills of the same account are not.
	subscribeUnknown := func(t *testing.T, s *apptest.Server, iban string) string {
		t.Helper()
		token := s.Create(t, every("MONTHLY"))
		s.Pay(t, token, iban).Want(t, http.StatusInternalServerError, nil)
		s.LookUp(t)
		return storetest.Scalar[string](t, s.Env, `SELECT CAST(u.id AS TEXT) FROM subscriptions u
			JOIN sessions s ON s.tenant_id = u.tenant_id AND s.id = u.session_id WHERE s.token = $1`, store.TokenKey(token))
	}
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		id := subscribeUnknown(t, s, apptest.TimeoutApproved)
		t.Run("when the clock is moved, on the way", func(t *testing.T) {
			s.Advance(t, 2*month)
			wantSubscription(t, s, id, apptest.Fields{"status": "ACTIVE", "failed_billing_count": 0.0})
			if got := rebillsOf(t, s, id); len(got) < 1 || strings.Contains(strings.Join(got, ""), "pending") {
				t.Errorf("the rebills are %q", got)
			}
		})
		t.Run("when time passes by itself, later, and are not sent again", func(t *testing.T) {
			before := len(rebillsOf(t, s, id))
			s.MoveClock(t, month)
			if _, err := s.App.Billing.RunDue(t.Context(), s.Now(t)); err != nil {
				t.Fatal(err)
			}
			if got := rebillsOf(t, s, id); len(got) != before+1 || !strings.Contains(got[before], "pending") {
				t.Fatalf("the rebills are %q", got)
			}
			if _, err := s.App.Billing.RunDue(t.Context(), s.Now(t).Add(2*month)); err != nil {
				t.Fatal(err)
			}
			if got := len(rebillsOf(t, s, id)); got != before+1 {
				t.Errorf("while the outcome is unknown %d rebills were sent", got-before)
			}
			s.LookUp(t)
			if got := rebillsOf(t, s, id); !strings.Contains(got[before], "approved") {
				t.Errorf("after asking the rebill is %q", got[before])
			}
		})
	})
}

func TestMissedPeriodsAreMadeUpFor(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		start := s.Now(t)
		id := subscribe(t, s, every("MONTHLY"), apptest.Approved)
		s.MoveClock(t, 3*month+24*time.Hour)
		for range 2 {
			if _, err := s.App.Billing.RunDue(t.Context(), s.Now(t)); err != nil {
				t.Fatal(err)
			}
		}
		got := rebillsOf(t, s, id)
		if len(got) != 3 || got[0][:3] != "1.1" || got[1][:3] != "2.1" || got[2][:3] != "3.1" {
			t.Errorf("the rebills are %q", got)
		}
		wantSubscription(t, s, id, apptest.Fields{"successful_billing_count": 3.0, "next_billing_date": date(start, 4)})
	})
}

func TestCancelledSubscriptionsAreNotBilled(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		t.Run("after a call of the operator's", func(t *testing.T) {
			id := subscribe(t, s, every("WEEKLY"), apptest.Approved)
			s.Do(t, cancelling(id)).Want(t, http.StatusOK, apptest.Fields{"id": id, "status": "CANCELLED", "next_billing_date": nil, "cancelled_at": apptest.Any})
			s.Do(t, cancelling(id)).WantDetail(t, http.StatusConflict, "The subscription is cancelled already.")
			s.Advance(t, month)
			if got := rebillsOf(t, s, id); len(got) != 0 {
				t.Errorf("it was billed: %q", got)
			}
		})
		t.Run("also when the call comes while they are due", func(t *testing.T) {
			id := subscribe(t, s, every("WEEKLY"), apptest.Approved)
			s.MoveClock(t, month)
			s.Do(t, cancelling(id)).Want(t, http.StatusOK, nil)
			billed := len(rebillsOf(t, s, id)) // the sweep may have come first
			if _, err := s.App.Billing.RunDue(t.Context(), s.Now(t)); err != nil {
				t.Fatal(err)
			}
			if got := rebillsOf(t, s, id); len(got) != billed {
				t.Errorf("it was billed: %q", got)
			}
		})
		t.Run("after a chargeback of one of their payments", func(t *testing.T) {
			id := subscribe(t, s, every("WEEKLY"), apptest.Chargeback)
			s.Advance(t, month)
			wantSubscription(t, s, id, apptest.Fields{"status": "CANCELLED", "total_revenue": "0.00"})
			if got := rebillsOf(t, s, id); len(got) != 0 {
				t.Errorf("it was billed: %q", got)
			}
		})
	})
}

func TestChargebackOfARebill(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	id := subscribe(t, s, every("MONTHLY"), apptest.Approved)
	s.Advance(t, 2*month+24*time.Hour)
	rebill := storetest.Scalar[string](t, s.Env, `SELECT MAX(id) FROM transactions WHERE type = 'sdd_rebill'`)
	s.Do(t, operator(chargebacks, apptest.Body{"transaction_id": rebill, "reason_code": "MD06"})).Want(t, http.StatusCreated, nil)
	wantSubscription(t, s, id, apptest.Fields{"status": "CANCELLED", "total_revenue": "59.98", "successful_billing_count": 2.0})
	wantTransaction(t, s, rebill, apptest.Fields{"status": "charged_back", "order.status": "CHARGEDBACK", "sequence_type": "RCUR"})
}

func TestRefundOfARebill(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	id := subscribe(t, s, every("MONTHLY"), apptest.Approved)
	s.Advance(t, month+24*time.Hour)
	rebill := storetest.Scalar[string](t, s.Env, `SELECT MAX(id) FROM transactions WHERE type = 'sdd_rebill'`)
	s.Do(t, refunds(rebill, nil)).Want(t, http.StatusCreated, apptest.Fields{"order.status": "COMPLETED"})
	wantSubscription(t, s, id, apptest.Fields{"status": "ACTIVE", "total_revenue": "29.99", "next_billing_date": apptest.Any})
}

func TestPreview(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	start := s.Now(t)
	id := subscribe(t, s, every("QUARTERLY"), apptest.Approved)
	preview := operator(subscriptions+id+"/preview/", nil)
	answer := s.Do(t, preview).Want(t, http.StatusOK, apptest.Fields{"subscription_id": id, "status": "ACTIVE", "amount": "29.99", "currency": "EUR"})
	var want []string
	for n := range 24 {
		want = append(want, `"`+date(start, 3*(n+1))+`"`)
	}
	if !strings.Contains(string(answer.Raw), `"dates":[`+strings.Join(want, ",")+`]`) {
		t.Errorf("got %s, want %q", answer.Raw, want)
	}
	s.Do(t, cancelling(id)).Want(t, http.StatusOK, nil)
	if got := s.Do(t, preview).Want(t, http.StatusOK, apptest.Fields{"status": "CANCELLED"}); !strings.Contains(string(got.Raw), `"dates":[]`) {
		t.Errorf("a cancelled subscription is billed on %s", got.Raw)
	}
}

func TestSubscriptionsThatNobodyHas(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	for _, id := range []string{"nonsense", uuid.NewString()} {
		for _, r := range []apptest.Request{operator(subscriptions+id+"/", nil), operator(subscriptions+id+"/preview/", nil), cancelling(id)} {
			s.Do(t, r).WantDetail(t, http.StatusNotFound, "Subscription not found")
		}
	}
	r := cancelling(uuid.NewString())
	r.Key = s.Key
	s.Do(t, r).Want(t, http.StatusUnauthorized, nil)
}

func TestTwoProcessesShareTheBilling(t *testing.T) {
	t.Parallel()
	const due = 60
	one := apptest.Open(t, storetest.Postgres(t), apptest.Options{})
	other := one.Beside(t, apptest.Options{})
	for range due {
		subscribe(t, one, every("MONTHLY"), apptest.Approved)
	}
	one.MoveClock(t, month+24*time.Hour)
	now := one.Now(t)
	var both sync.WaitGroup
	for _, s := range []*apptest.Server{one, other} {
		both.Go(func() {
			if _, err := s.App.Billing.RunDue(t.Context(), now); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	if got := storetest.Scalar[int](t, one.Env, `SELECT COUNT(*) FROM sandbox_payments WHERE type = 'sdd_rebill' AND state = 'approved'`); got != due {
		t.Errorf("the gateway collected %d rebills, want %d", got, due)
	}
	if got := storetest.Scalar[int](t, one.Env, `SELECT COUNT(*) FROM subscriptions WHERE successful_count = 1 AND open_transaction_id IS NULL`); got != due {
		t.Errorf("%d subscriptions were billed once, want %d", got, due)
	}
}

// TestPausedAccounts: a bank that blames us pauses the account, and a person lets
// it go on.
func TestPausedAccounts(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const pauses = "/admin/v1/rebill-pauses/"
		resume := operator("/admin/v1/tenants/"+apptest.Shop+"/gateways/"+apptest.Gateway+"/resume/", apptest.Body{})
		s.Do(t, operator(pauses, nil)).Want(t, http.StatusOK, apptest.Fields{"results": []any{}})
		s.Do(t, resume).WantDetail(t, http.StatusConflict, "The rebills of this gateway account are not paused.")

		_, first := paid(t, s, every("MONTHLY"), apptest.Approved)
		id := wantTransaction(t, s, first, nil).Text(t, "subscription_id")
		s.Do(t, operator(chargebacks, apptest.Body{"transaction_id": first, "reason_code": "BE05"})).Want(t, http.StatusCreated, nil)
		wantSubscription(t, s, id, apptest.Fields{"status": "ACTIVE"})
		paused := s.Do(t, operator(pauses, nil)).Want(t, http.StatusOK, nil).Get(t, "results").([]any)
		if len(paused) != 1 || paused[0].(map[string]any)["payment_gateway_id"] != apptest.Gateway || paused[0].(map[string]any)["needs_person"] != true {
			t.Fatalf("paused are %v", paused)
		}
		s.Advance(t, 2*month)
		wantSubscription(t, s, id, apptest.Fields{"successful_billing_count": 0.0})

		s.Do(t, resume).Want(t, http.StatusOK, apptest.Fields{"reason": "creditor", "reason_code": "BE05", "paused_until": nil})
		s.Advance(t, time.Hour)
		wantSubscription(t, s, id, apptest.Fields{"successful_billing_count": 2.0, "failed_billing_count": 0.0})
		s.Do(t, operator("/admin/v1/tenants/"+apptest.Shop+"/gateways/"+id+"/resume/", apptest.Body{})).Want(t, http.StatusNotFound, nil)
	})
}

func TestWhyASubscriptionEnded(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	byHand := subscribe(t, s, every("MONTHLY"), apptest.Approved)
	closed := subscribe(t, s, every("MONTHLY"), apptest.RebillAccountClosed)
	wantSubscription(t, s, byHand, apptest.Fields{"cancel_reason": nil, "cancel_code": nil})
	s.Do(t, cancelling(byHand)).Want(t, http.StatusOK, apptest.Fields{"cancel_reason": "operator", "cancel_code": nil})
	s.Advance(t, 2*month)
	wantSubscription(t, s, closed, apptest.Fields{"cancel_reason": "refusal", "cancel_code": "AC04"})
}

func TestAnOperatorSteersASubscription(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		id := subscribe(t, s, every("MONTHLY"), apptest.Approved)
		call := func(verb string, body apptest.Body) apptest.Answer {
			t.Helper()
			return s.Do(t, operator(subscriptions+id+"/"+verb+"/", body))
		}
		call("pause", apptest.Body{}).Want(t, http.StatusOK, apptest.Fields{"paused_at": apptest.Any, "tenant_id": apptest.Shop})
		s.Advance(t, 2*month)
		wantSubscription(t, s, id, apptest.Fields{"successful_billing_count": 0})
		call("resume", apptest.Body{}).Want(t, http.StatusOK, apptest.Fields{"paused_at": nil, "next_billing_date": apptest.Any})
		call("change", apptest.Body{"amount": "12.34"}).Want(t, http.StatusOK, apptest.Fields{"billing_amount": "12.34"})
		call("change", apptest.Body{}).WantBad(t, map[string]string{"amount": ""})
		s.Advance(t, month)
		wantSubscription(t, s, id, apptest.Fields{"successful_billing_count": 1, "total_revenue": "42.33"})
		call("cancel", apptest.Body{"at": "period_end"}).Want(t, http.StatusOK, apptest.Fields{"status": "ACTIVE", "ends_on": apptest.Any})
		call("cancel", apptest.Body{"at": "soon"}).WantBad(t, map[string]string{"at": ""})
		s.Advance(t, month)
		wantSubscription(t, s, id, apptest.Fields{"status": "CANCELLED", "cancel_reason": "operator", "successful_billing_count": 1})
		s.Do(t, operator(subscriptions+apptest.Shop+"/pause/", apptest.Body{})).Want(t, http.StatusNotFound, nil)
	})
}
