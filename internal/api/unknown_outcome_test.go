package api_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/config"
	"sepad/internal/gateway"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
)

// engines are the databases, for tests that prepare something for each.
var engines = []struct {
	name string
	open func(testing.TB) *storetest.Env
}{{"sqlite", storetest.SQLite}, {"postgres", storetest.Postgres}}

func TestAnUnknownOutcomeIsAskedAbout(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		request := apptest.InCampaign(apptest.ShortCampaign)
		token := s.Create(t, request)
		t.Run("no answer after sending is a 500 that warns of paying again", func(t *testing.T) {
			s.Pay(t, token, apptest.TimeoutApproved, body{"tenant_reference_id": "unknown"}).Want(t, http.StatusInternalServerError, fields{"detail": apptest.Any, "status_code": 500})
		})
		t.Run("meanwhile the session reads PENDING, pay, cancel and verify are 409, and the lead is busy", func(t *testing.T) {
			s.WantStatus(t, token, "PENDING")
			s.Pay(t, token, apptest.Approved).WantDetail(t, http.StatusConflict, conflictPaying)
			s.Cancel(t, token).Want(t, http.StatusConflict, nil)
			s.Verify(t, token).Want(t, http.StatusConflict, nil)
			s.TryCreate(t, request).WantDetail(t, http.StatusConflict, leadBusy)
			s.WantEvents(t, token)
		})
		t.Run("the session does not expire meanwhile", func(t *testing.T) {
			s.Advance(t, 2*time.Hour)
			s.WantStatus(t, token, "PENDING")
			s.Pay(t, token, apptest.Approved).Want(t, http.StatusConflict, nil)
			s.TryCreate(t, request).WantDetail(t, http.StatusConflict, leadBusy)
		})
		t.Run("the gateway says approved: the session is COMPLETED, and there was one debit", func(t *testing.T) {
			s.LookUp(t)
			s.WantStatus(t, token, "COMPLETED")
			s.WantEvents(t, token, apptest.Completed...)[1].Payload.Want(t, 0, fields{"tenant_reference_id": "unknown"})
			s.WantLedger(t, token, 1, 1)
			s.Pay(t, token, apptest.Approved).WantDetail(t, http.StatusGone, gone)
			s.Create(t, request)
		})
	})
}

func TestALostPayment(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		t.Run("counts as an attempt, and the session can be paid again", func(t *testing.T) {
			token := s.Create(t, apptest.Direct())
			s.Pay(t, token, apptest.TimeoutLost, body{"tenant_reference_id": "lost"}).Want(t, http.StatusInternalServerError, nil)
			s.LookUp(t)
			s.Retrieve(t, token).Want(t, http.StatusOK, fields{"status": "PENDING", "attempts_remaining": 2})
			s.WantEvents(t, token)
			row := storetest.Scalar[string](t, s.Env, `SELECT t.status || ' ' || t.decline_code || ' ' || o.status FROM transactions t
				JOIN orders o ON o.tenant_id = t.tenant_id AND o.id = t.order_id WHERE t.tenant_reference_id = 'lost'`)
			if row != "declined gateway_unavailable FAILED" {
				t.Errorf("the attempt is %s", row)
			}
			s.Pay(t, token, apptest.Approved).Want(t, http.StatusOK, fields{"status": "completed"})
			s.WantLedger(t, token, 1, 1)
		})
		t.Run("fails the session when it was the last attempt", func(t *testing.T) {
			token := s.Create(t, apptest.InCampaign(apptest.OneTryCampaign))
			s.Pay(t, token, apptest.TimeoutLost).Want(t, http.StatusInternalServerError, nil)
			s.LookUp(t)
			s.WantStatus(t, token, "FAILED")
			s.WantEvents(t, token)
			s.WantLedger(t, token, 0, 0)
		})
	})
}

func TestTheQueueAsksByItself(t *testing.T) {
	t.Parallel()
	soon := func(settings *config.Settings) { settings.LookupSchedule = "10ms" }
	apptest.EachWith(t, apptest.Options{Change: soon}, func(t *testing.T, s *apptest.Server) {
		approved, lost := s.Create(t, apptest.Direct()), s.Create(t, apptest.InCampaign(apptest.OneTryCampaign))
		s.Pay(t, approved, apptest.TimeoutApproved).Want(t, http.StatusInternalServerError, nil)
		s.Pay(t, lost, apptest.TimeoutLost).Want(t, http.StatusInternalServerError, nil)
		apptest.Eventually(t, "both outcomes are known", func() bool {
			return s.Retrieve(t, approved).Text(t, "status") == "COMPLETED" && s.Retrieve(t, lost).Text(t, "status") == "FAILED"
		})
		s.WantEvents(t, approved, apptest.Completed...)
		s.WantLedger(t, approved, 1, 1)
	})
}

func TestAnUnknownVerification(t *testing.T) {
	t.Parallel()
	eachScripted(t, func(t *testing.T, s *apptest.Server, g *scripted) {
		silence := func(g *scripted) {
			g.submit = func(context.Context, gateway.Charge) (payment.Outcome, error) { return verifyFirst, nil }
			g.verify = func(context.Context, gateway.Verification) (payment.Outcome, error) {
				return payment.Outcome{}, errSilent
			}
		}
		begin := func(t *testing.T) string {
			t.Helper()
			g.tell(silence)
			token := s.Create(t, onScript())
			s.Pay(t, token, apptest.Approved).Want(t, http.StatusOK, fields{"status": "awaiting_verification", "verification_url": "https://bank.example/v"})
			s.Verify(t, token).Want(t, http.StatusInternalServerError, fields{"detail": apptest.Any, "status_code": 500})
			s.WantStatus(t, token, "AWAITING_VERIFICATION")
			for _, answer := range []apptest.Answer{s.Verify(t, token), s.Pay(t, token, apptest.Approved), s.Cancel(t, token)} {
				answer.Want(t, http.StatusConflict, nil)
			}
			return token
		}
		answer := func(outcome payment.Outcome) func(*scripted) {
			return func(g *scripted) {
				g.status = func(context.Context, gateway.Lookup) (payment.Outcome, error) { return outcome, nil }
			}
		}
		t.Run("is a 500, then 409, and completes once the gateway says approved", func(t *testing.T) {
			token := begin(t)
			g.tell(answer(wasApproved))
			s.LookUp(t)
			s.WantStatus(t, token, "COMPLETED")
			s.WantEvents(t, token, apptest.Completed...)
		})
		t.Run("can be paid again once the gateway says declined", func(t *testing.T) {
			token := begin(t)
			g.tell(answer(wasDeclined))
			s.LookUp(t)
			s.WantStatus(t, token, "PENDING")
			s.WantEvents(t, token)
		})
		t.Run("goes on waiting once the gateway says that nobody has decided", func(t *testing.T) {
			token := begin(t)
			g.tell(answer(payment.Outcome{Verdict: payment.VerdictVerify}))
			s.LookUp(t)
			s.WantStatus(t, token, "AWAITING_VERIFICATION")
			g.tell(func(g *scripted) { g.verify = nil })
			s.Verify(t, token).Want(t, http.StatusOK, fields{"status": "completed"})
		})
		t.Run("that never reached the gateway is a 500 and can be tried again at once", func(t *testing.T) {
			g.tell(func(g *scripted) {
				silence(g)
				g.verify = func(context.Context, gateway.Verification) (payment.Outcome, error) {
					return payment.Outcome{}, gateway.ErrNotSent
				}
			})
			token := s.Create(t, onScript())
			s.Pay(t, token, apptest.Approved)
			s.Verify(t, token).Want(t, http.StatusInternalServerError, nil)
			g.tell(func(g *scripted) { g.verify = nil })
			s.Verify(t, token).Want(t, http.StatusOK, fields{"status": "completed"})
		})
	})
}

func TestExpiryWaitsForTheGateway(t *testing.T) {
	t.Parallel()
	eachScripted(t, func(t *testing.T, s *apptest.Server, g *scripted) {
		g.tell(func(g *scripted) {
			g.submit = func(context.Context, gateway.Charge) (payment.Outcome, error) { return verifyFirst, nil }
			g.status = func(context.Context, gateway.Lookup) (payment.Outcome, error) { return payment.Outcome{}, errSilent }
		})
		request := onScript()
		token := s.Create(t, request)
		s.Pay(t, token, apptest.Approved).Want(t, http.StatusOK, fields{"status": "awaiting_verification"})
		s.Advance(t, 25*time.Hour)
		t.Run("until it has answered, calls are 409 and the session still awaits verification", func(t *testing.T) {
			s.WantStatus(t, token, "AWAITING_VERIFICATION")
			for _, answer := range []apptest.Answer{s.Verify(t, token), s.Pay(t, token, apptest.Approved), s.Cancel(t, token)} {
				answer.Want(t, http.StatusConflict, nil)
			}
		})
		t.Run("meanwhile the lead can have another session", func(t *testing.T) { s.Create(t, request) })
		t.Run("then it expires, and the gateway was told to let go of it", func(t *testing.T) {
			abandoned := make(chan bool, 1)
			g.tell(func(g *scripted) {
				g.status = func(_ context.Context, l gateway.Lookup) (payment.Outcome, error) {
					abandoned <- l.Abandon
					return neverArrived, nil
				}
			})
			s.Env.Exec(t, `UPDATE transactions SET lookup_count = 1 WHERE in_flight IS NOT NULL`)
			s.LookUp(t)
			s.WantStatus(t, token, "EXPIRED")
			if !<-abandoned {
				t.Error("the gateway was asked without being told that the time is over")
			}
		})
	})
}
