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
)

func TestWhatTheGatewayIsTold(t *testing.T) {
	t.Parallel()
	eachScripted(t, func(t *testing.T, s *apptest.Server, g *scripted) {
		pay := func(t *testing.T, request body) gateway.Charge {
			t.Helper()
			s.Pay(t, s.Create(t, request), apptest.Approved, body{"tenant_reference_id": apptest.Email()}).Want(t, http.StatusOK, fields{"status": "completed"})
			all := g.received()
			return all[len(all)-1]
		}
		t.Run("the customer_ip of the create request", func(t *testing.T) {
			if ip := pay(t, onScript().With(body{"customer_ip": "2001:DB8::1"})).CustomerIP; ip != "2001:db8::1" {
				t.Errorf("the gateway is told %s", ip)
			}
		})
		t.Run("without one, the client's address", func(t *testing.T) {
			if ip := pay(t, onScript()).CustomerIP; ip != "127.0.0.1" {
				t.Errorf("the gateway is told %s", ip)
			}
		})
		t.Run("an idempotency key of each attempt", func(t *testing.T) {
			first, second := pay(t, onScript()), pay(t, onScript())
			if first.IdempotencyKey == "" || first.IdempotencyKey == second.IdempotencyKey {
				t.Errorf("the keys are %q and %q", first.IdempotencyKey, second.IdempotencyKey)
			}
		})
		t.Run("a currency that it cannot collect is a 400 on currency", func(t *testing.T) {
			s.TryCreate(t, onScript().With(body{"currency": "CHF"})).WantBad(t, map[string]string{"currency": ""})
			s.TryCreate(t, apptest.InCampaign(apptest.ServerCampaign).With(body{"gateway_id": scriptedGateway, "currency": "USD"})).
				WantBad(t, map[string]string{"currency": ""})
		})
	})
}

func TestAnswersOfAGateway(t *testing.T) {
	t.Parallel()
	eachScripted(t, func(t *testing.T, s *apptest.Server, g *scripted) {
		say := func(outcome payment.Outcome) {
			g.tell(func(g *scripted) {
				g.submit = func(context.Context, gateway.Charge) (payment.Outcome, error) { return outcome, nil }
			})
		}
		t.Run("a decline without words has ours, and null for the gateway's", func(t *testing.T) {
			say(wasDeclined)
			s.Pay(t, s.Create(t, onScript()), apptest.Approved).Want(t, http.StatusOK, fields{
				"error": "The bank refused the payment without giving a reason.", "transaction.gateway_reference": nil,
				"error_details": body{"code": "do_not_honor", "message": "The bank refused the payment without giving a reason.", "gateway_code": nil, "gateway_message": nil},
			})
		})
		t.Run("the payer's data in the gateway's words is struck out", func(t *testing.T) {
			say(payment.Outcome{Verdict: payment.VerdictDeclined, Decline: payment.Decline{
				Code: "made_up", GatewayCode: "X1", GatewayMessage: "No money on " + apptest.Approved + " of " + apptest.HolderName,
			}})
			s.Pay(t, s.Create(t, onScript()), apptest.Approved).Want(t, http.StatusOK, fields{
				"error_details.code": "unknown", "error_details.gateway_code": "X1", "error_details.gateway_message": "No money on [removed] of [removed]",
			})
		})
		t.Run("a session whose time ran out during the call is failed: there is nothing to retry", func(t *testing.T) {
			g.tell(func(g *scripted) {
				g.submit = func(context.Context, gateway.Charge) (payment.Outcome, error) {
					s.MoveClock(t, 25*time.Hour)
					return wasDeclined, nil
				}
			})
			token := s.Create(t, onScript())
			s.Pay(t, token, apptest.Approved).Want(t, http.StatusOK, fields{"status": "failed", "retry_allowed": false})
			s.WantStatus(t, token, "EXPIRED")
		})
		t.Run("an approval after the time ran out counts", func(t *testing.T) {
			g.tell(func(g *scripted) {
				g.submit = func(context.Context, gateway.Charge) (payment.Outcome, error) {
					s.MoveClock(t, 25*time.Hour)
					return wasApproved, nil
				}
			})
			token := s.Create(t, onScript())
			s.Pay(t, token, apptest.Approved).Want(t, http.StatusOK, fields{"status": "completed"})
			s.WantStatus(t, token, "COMPLETED")
		})
	})
}

func TestOfManyVerifyCallsOneReachesTheGateway(t *testing.T) {
	t.Parallel()
	eachScripted(t, func(t *testing.T, s *apptest.Server, g *scripted) {
		asked, decide := make(chan struct{}, 16), make(chan struct{})
		g.tell(func(g *scripted) {
			g.submit = func(context.Context, gateway.Charge) (payment.Outcome, error) { return verifyFirst, nil }
			g.verify = func(context.Context, gateway.Verification) (payment.Outcome, error) {
				asked <- struct{}{}
				<-decide
				return wasApproved, nil
			}
		})
		token := s.Create(t, onScript())
		s.Pay(t, token, apptest.Approved)
		done := s.Later(t, apptest.Request{Method: http.MethodPost, Path: apptest.Path(token, "verify")})
		<-asked
		for range 3 {
			s.Verify(t, token).WantDetail(t, http.StatusConflict, "The verification is being processed.")
		}
		s.WantStatus(t, token, "AWAITING_VERIFICATION")
		close(decide)
		(<-done).Want(t, http.StatusOK, fields{"status": "completed"})
		if len(asked) != 0 {
			t.Errorf("the gateway was asked %d times more", len(asked))
		}
		s.WantEvents(t, token, apptest.Completed...)
	})
}

func TestLivemode(t *testing.T) {
	t.Parallel()
	production := func(settings *config.Settings) {
		settings.Environment, settings.PublicURL, settings.AllowTestGateways = "production", "https://pay.shop.example", "true"
	}
	for _, engine := range engines {
		t.Run(engine.name, func(t *testing.T) {
			t.Parallel()
			options := (&scripted{}).options(gateway.Kind{Real: true})
			options.Change = production
			s := apptest.Open(t, engine.open(t), options)
			t.Run("is true in production with a real gateway that is not in test mode", func(t *testing.T) {
				addScripted(t, s, ", test_mode: false")
				_, result := s.Completed(t, onScript())
				result.Want(t, http.StatusOK, fields{"livemode": true, "adapter.name": "Scripted", "payment_gateway.test_mode": false})
			})
			t.Run("is false with a gateway in test mode", func(t *testing.T) {
				addScripted(t, s, ", test_mode: true")
				_, result := s.Completed(t, onScript())
				result.Want(t, http.StatusOK, fields{"livemode": false, "payment_gateway.test_mode": true})
			})
			t.Run("is false with an adapter that moves no money", func(t *testing.T) {
				_, result := s.Completed(t, apptest.Direct().With(body{"gateway_id": apptest.PlainGateway}))
				result.Want(t, http.StatusOK, fields{"livemode": false, "payment_gateway.test_mode": true})
			})
			t.Run("production has no door to the clock and no bank page", func(t *testing.T) {
				s.Do(t, apptest.Request{Path: "/admin/v1/clock/", Key: apptest.AdminToken}).Want(t, http.StatusNotFound, nil)
				s.Do(t, apptest.Request{Path: "/admin/v1/clock/", Key: apptest.AdminToken, Body: body{"advance": "1h"}}).Want(t, http.StatusNotFound, nil)
				s.Do(t, apptest.Request{Path: "/sandbox/bank/VRF-1/"}).Want(t, http.StatusNotFound, nil)
			})
			t.Run("production tells browsers to come over https alone", func(t *testing.T) {
				if got := s.Do(t, apptest.Request{Path: "/healthz"}).Header.Get("Strict-Transport-Security"); got != "max-age=31536000" {
					t.Errorf("got %q", got)
				}
			})
			t.Run("production refuses keys of the sandbox", func(t *testing.T) {
				s.Do(t, apptest.Request{Path: apptest.Sessions, Key: "rk_test_" + s.Key[len("rk_live_"):], Body: apptest.Direct()}).
					WantDetail(t, http.StatusUnauthorized, "Invalid or revoked API key")
			})
			t.Run("the page's address is the public one", func(t *testing.T) {
				answer := s.TryCreate(t, apptest.Direct())
				answer.Want(t, http.StatusCreated, fields{"payment_url": "https://pay.shop.example/pay/" + answer.Text(t, "session_token") + "/"})
			})
		})
	}
	t.Run("is false in the sandbox, whatever the gateway", func(t *testing.T) {
		s := apptest.SQLite(t, (&scripted{}).options(gateway.Kind{Real: true}))
		addScripted(t, s, ", test_mode: true")
		_, result := s.Completed(t, onScript())
		result.Want(t, http.StatusOK, fields{"livemode": false, "payment_gateway.test_mode": true})
	})
}
