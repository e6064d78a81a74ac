package privacy_test

import (
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/clock"
	"sepad/internal/merchant"
	"sepad/internal/recon"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestAnErasedPersonIsFoundNowhere is the whole story of a person on both engines.
func TestAnErasedPersonIsFoundNowhere(t *testing.T) {
	t.Parallel()
	apptest.EachWith(t, options, func(t *testing.T, server *apptest.Server) {
		s := tell(t, server)
		before, bystander, sums := s.export(t, s.leadID), s.export(t, s.bystander), s.tally(t)
		t.Run("the export shows all of it", func(t *testing.T) {
			text := strings.ToLower(fmt.Sprint(before))
			for _, trace := range traces {
				if !strings.Contains(text, trace) {
					t.Errorf("%q is not in the export", trace)
				}
			}
			for _, table := range []string{
				"leads", "sessions", "orders", "transactions", "subscriptions", "mandate_acceptances", "chargebacks", "events", "webhook_attempts",
				"bank_file_entries", "bank_lines",
			} {
				if rows, _ := before[table].([]any); len(rows) == 0 {
					t.Errorf("there is nothing under %s", table)
				}
			}
			if session := before["sessions"].([]any)[0].(map[string]any); session["token"] != nil || strings.Contains(text, strings.ToLower(apptest.LastName)) {
				t.Error("the export shows a secret, or somebody else")
			}
		})
		t.Run("while the subscription's money is not open, the person can be erased", func(t *testing.T) {
			s.erase(t).Want(t, http.StatusOK, apptest.Fields{"lead_id": s.leadID.String(), "subscriptions_cancelled": 1, "bank_files": 1})
		})
		for _, place := range s.found(t) {
			t.Error("a trace is left in", place)
		}
		if left := s.sealed(t); left != 0 {
			t.Errorf("%d sealed values are left", left)
		}
		t.Run("amounts and counts are what they were", func(t *testing.T) {
			after := s.tally(t)
			sums["events"]++ // the subscription's end is told, now or in a moment
			delete(after, "webhook_attempts")
			delete(after, "events_in_line") // what is sent meanwhile leaves it
			delete(sums, "webhook_attempts")
			delete(sums, "events_in_line") // what is sent meanwhile leaves it
			if !reflect.DeepEqual(after, sums) {
				t.Errorf("got %v, want %v", after, sums)
			}
		})
		t.Run("nobody else is touched", func(t *testing.T) {
			if after := s.export(t, s.bystander); !reflect.DeepEqual(after, bystander) {
				t.Errorf("got %v, want %v", after, bystander)
			}
		})
		t.Run("the same files bring nobody back", func(t *testing.T) {
			s.importLines(t)
			s.take(t, "transactions", paymentHead+strings.Replace(paymentLine, "IMPORTED-77", "IMPORTED-78", 1))
			for _, place := range s.found(t) {
				t.Error("a trace is back in", place)
			}
		})
		t.Run("a new purchase is that of a new person", func(t *testing.T) {
			s.Pay(t, s.Create(t, apptest.Direct().With(apptest.Body{"lead": lead()})), account).Want(t, http.StatusOK, nil)
			if now := leadID(t, s.Server, "SELECT CAST(id AS TEXT) FROM leads WHERE first_name = '"+firstName+"'"); now == s.leadID {
				t.Error("the erased lead is there again")
			}
		})
		t.Run("a repeated erasure is harmless", func(t *testing.T) {
			s.erase(t).Want(t, http.StatusOK, apptest.Fields{"subscriptions_cancelled": 0, "sessions_ended": 0})
		})
	})
}

// tally is what is counted and summed up, but for what an erasure adds.
func (s *story) tally(t *testing.T) map[string]int64 {
	t.Helper()
	sums, err := s.App.Store.Tally(t.Context())
	must(t, err)
	delete(sums, "erased_names")
	delete(sums, "erasure_keys")
	delete(sums, "audit_entries")
	delete(sums, "audit_chain")
	return sums
}

// TestMoneyThatIsOpenKeepsAPerson lists why an erasure is refused; nothing is done then.
func TestMoneyThatIsOpenKeepsAPerson(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		account string
		status  int
		detail  string
	}{
		"a payment that is pending":          {apptest.PendingApproved, http.StatusOK, "is pending"},
		"a payment whose outcome is unknown": {apptest.TimeoutApproved, http.StatusInternalServerError, "is not known yet"},
		"a payment that awaits verification": {apptest.VerificationApproved, http.StatusOK, "awaits its verification"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, func(t *testing.T, server *apptest.Server) {
				s := &story{Server: server}
				s.Pay(t, s.Create(t, apptest.Body{"campaign_id": apptest.MonthlyCampaign, "lead": lead()}), test.account).Want(t, test.status, nil)
				s.leadID = leadID(t, server, "SELECT CAST(id AS TEXT) FROM leads")
				known := func() map[string]any {
					all := s.export(t, s.leadID)
					delete(all, "events") // they are being delivered
					delete(all, "webhook_attempts")
					delete(all, "events_in_line") // what is sent meanwhile leaves it
					return all
				}
				before := known()
				answer := s.erase(t).Want(t, http.StatusConflict, nil)
				if !strings.Contains(answer.Text(t, "detail"), test.detail) {
					t.Errorf("the answer is %s", answer.Raw)
				}
				if after := known(); !reflect.DeepEqual(after, before) {
					t.Errorf("something has changed: %v", after)
				}
			})
		})
	}
}

// TestAFileUnderWayBringsNobodyBack erases a person while files are taken in that name them further down.
func TestAFileUnderWayBringsNobodyBack(t *testing.T) {
	t.Parallel()
	for kind, lines := range map[recon.ImportKind][2]string{
		recon.ImportTransactions: {paymentHead, paymentLine}, recon.ImportChargebacks: {chargebackHead, chargebackLine},
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, func(t *testing.T, server *apptest.Server) {
				s := &story{Server: server}
				s.Create(t, apptest.Direct().With(apptest.Body{"lead": lead()}))
				s.leadID = leadID(t, server, "SELECT CAST(id AS TEXT) FROM leads")
				const looked = 70 << 10 // more than is looked at before anything else
				erase := reading(func() { s.erase(t).Want(t, http.StatusOK, nil) })
				importer := recon.Importer{Store: s.App.Store, Checkout: s.App.Checkout}
				done, err := importer.Import(t.Context(), recon.ImportRequest{
					TenantID: uuid.MustParse(apptest.Shop), GatewayID: uuid.MustParse(apptest.Gateway), Kind: kind,
					File: io.MultiReader(strings.NewReader(lines[0]+strings.Repeat("x", looked)+"\n"), erase, strings.NewReader(lines[1])),
				})
				must(t, err)
				if done.Counts.New != 1 {
					t.Errorf("it counts %+v", done.Counts)
				}
				for _, place := range s.found(t) {
					t.Error("a trace is back in", place)
				}
			})
		})
	}
}

// reading is an empty part of a file, and what happens when it is read.
type reading func()

func (r reading) Read([]byte) (int, error) {
	r()
	return 0, io.EOF
}

// TestANewMandateAndAnErasureAtOnce has a merchant ask a person for another account while somebody erases them, many times.
func TestANewMandateAndAnErasureAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, server *apptest.Server) {
		scopes, _ := merchant.NewScopes([]string{string(merchant.ScopeSubscriptions)})
		_, key, err := setup.CreateKey(t.Context(), server.Env.Store, uuid.MustParse(apptest.Shop), "scoped", scopes, server.Environment, clock.Real{}.Now(), store.RequestKey{})
		must(t, err)
		for range 15 {
			s := &story{Server: server}
			paid := s.Pay(t, s.Create(t, apptest.InCampaign(apptest.MonthlyCampaign).With(apptest.Body{"lead": lead()})), account)
			s.leadID = leadID(t, server, "SELECT CAST(id AS TEXT) FROM leads WHERE first_name = '"+firstName+"'")
			answers := s.AtOnce(t,
				apptest.Request{Path: "/api/v1/subscriptions/" + paid.Text(t, "subscription.id") + "/new-mandate/", Key: key.Reveal(), Body: apptest.Body{}},
				apptest.Request{Method: http.MethodPost, Path: "/admin/v1/leads/" + s.leadID.String() + "/erase/", Key: apptest.AdminToken})
			if failed := answers[http.StatusInternalServerError]; len(failed) > 0 {
				t.Fatalf("one failed: %s", failed[0].Raw)
			}
			s.erase(t).Want(t, http.StatusOK, nil)
			for _, place := range s.found(t) {
				t.Fatal("a trace is left in", place)
			}
		}
	})
}

// TestPayAndEraseAtOnce has a person pay while somebody erases them, many times.
func TestPayAndEraseAtOnce(t *testing.T) {
	t.Parallel()
	apptest.EachWith(t, options, func(t *testing.T, server *apptest.Server) {
		for range 10 {
			s := &story{Server: server}
			token := s.Create(t, apptest.Direct().With(apptest.Body{"lead": lead()}))
			s.leadID = leadID(t, server, "SELECT CAST(id AS TEXT) FROM leads WHERE first_name = '"+firstName+"'")
			erase := apptest.Request{Method: http.MethodPost, Path: "/admin/v1/leads/" + s.leadID.String() + "/erase/", Key: apptest.AdminToken}
			answers := s.AtOnce(t, apptest.PayRequest(token, account, apptest.Body{"iban_holder_name": holder}), erase, erase)
			if len(answers[http.StatusInternalServerError]) > 0 {
				t.Fatalf("one failed: %s", answers[http.StatusInternalServerError][0].Raw)
			}
			s.erase(t).Want(t, http.StatusOK, nil)
			// What was written by whoever had read the person before is gone after the second look.
			s.Env.Exec(t, `UPDATE leads SET erase_due_at = 0 WHERE erase_due_at IS NOT NULL`)
			if _, err := s.App.Privacy.RunDue(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, place := range s.found(t) {
				t.Error("a trace is left in", place)
			}
			paid := storetest.Scalar[int](t, s.Env, `SELECT COUNT(*) FROM transactions WHERE CAST(lead_id AS TEXT) = $1 AND status = 'approved'`, s.leadID.String())
			collected := len(s.Ledger(t, token))
			if paid != collected {
				t.Errorf("%d payments are recorded and %d were made", paid, collected)
			}
		}
	})
}
