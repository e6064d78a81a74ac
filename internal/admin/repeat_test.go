package admin_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// under names a call by an idempotency key.
func under(key string, r apptest.Request) apptest.Request {
	header := map[string]string{"Idempotency-Key": key}
	for name, value := range r.Header {
		header[name] = value
	}
	r.Header = header
	return r
}

func TestARefundIsMadeOnceUnderItsKey(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, id := sale(t, s, apptest.Approved)
		ten := apptest.Body{"amount": "10.00"}
		first := s.Do(t, under("refund-1", refunds(id, ten))).Want(t, http.StatusCreated, apptest.Fields{"amount": "10.00"})

		t.Run("a repeat gets the same refund", func(t *testing.T) {
			s.Do(t, under("refund-1", refunds(id, ten))).Want(t, http.StatusCreated, apptest.Fields(first.Object(t)))
			wantTransaction(t, s, id, apptest.Fields{"refunded_amount": "10.00", "refundable_amount": "39.00"})
			if got := givenBack(t, s); got != 10_00 {
				t.Errorf("the gateway gave back %s", got)
			}
		})
		t.Run("another body or another call under the key is a 409", func(t *testing.T) {
			_, other := sale(t, s, apptest.Approved)
			s.Do(t, under("refund-1", refunds(id, apptest.Body{"amount": "11.00"}))).Want(t, http.StatusConflict, nil)
			s.Do(t, under("refund-1", refunds(other, ten))).Want(t, http.StatusConflict, nil)
			s.Do(t, under("refund-1", operator(chargebacks, apptest.Body{"transaction_id": other}))).Want(t, http.StatusConflict, nil)
			wantTransaction(t, s, other, apptest.Fields{"status": "approved", "refunded_amount": "0.00"})
		})
		t.Run("a refusal is not remembered", func(t *testing.T) {
			s.Do(t, under("refund-2", refunds(id, apptest.Body{"amount": "99.00"}))).WantBad(t, map[string]string{"amount": ""})
			s.Do(t, under("refund-2", refunds(id, apptest.Body{"amount": "1.00"}))).Want(t, http.StatusCreated, nil)
		})
		t.Run("a key of 256 characters is a 400", func(t *testing.T) {
			s.Do(t, under(strings.Repeat("k", 256), refunds(id, ten))).WantBad(t, map[string]string{"Idempotency-Key": ""})
		})
		t.Run("of many at once one is made", func(t *testing.T) {
			_, id := sale(t, s, apptest.Approved)
			before := len(refundEntries(t, s))
			answers := s.AtOnce(t, under("refund-3", refunds(id, ten)).Times(8)...)
			if made, waiting := len(answers[http.StatusCreated]), len(answers[http.StatusConflict]); made == 0 || made+waiting != 8 {
				t.Errorf("the answers are %v", answers)
			}
			wantTransaction(t, s, id, apptest.Fields{"refunded_amount": "10.00"})
			if got := len(refundEntries(t, s)) - before; got != 1 {
				t.Errorf("the gateway got %d refunds", got)
			}
		})
		t.Run("after a day the key is free", func(t *testing.T) {
			s.Advance(t, 24*time.Hour)
			s.Do(t, under("refund-1", refunds(id, ten))).Want(t, http.StatusCreated, nil)
			wantTransaction(t, s, id, apptest.Fields{"refunded_amount": "21.00"})
		})
	})
}

// TestEveryOperatorHasKeysOfTheirOwn: who names a call as somebody else did neither gets
// what that one made nor is held up by it.
func TestEveryOperatorHasKeysOfTheirOwn(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, id := sale(t, s, apptest.Approved)
		as := func(token string) apptest.Request {
			r := under("monday", refunds(id, apptest.Body{"amount": "5.00"}))
			r.Key = token
			return r
		}
		made := map[string]string{}
		for _, token := range []string{apptest.AdminToken, tokenOf(t, s, store.Finance), tokenOf(t, s, store.Finance, apptest.Shop)} {
			first := s.Do(t, as(token)).Want(t, http.StatusCreated, nil).Text(t, "id")
			if again := s.Do(t, as(token)).Want(t, http.StatusCreated, nil).Text(t, "id"); again != first {
				t.Errorf("a repeat made %s, not %s", again, first)
			}
			made[first] = token
		}
		if len(made) != 3 {
			t.Errorf("three people made %d refunds", len(made))
		}
		wantTransaction(t, s, id, apptest.Fields{"refunded_amount": "15.00"})
	})
}

func TestARefundWithoutAnAnswerIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		token := s.Create(t, apptest.Direct())
		s.Pay(t, token, apptest.TimeoutApproved).Want(t, http.StatusInternalServerError, nil)
		s.LookUp(t)
		id := transactionID(t, s, firstReference(t, s))
		request := under("refund-1", refunds(id, nil))
		s.Do(t, request).Want(t, http.StatusInternalServerError, nil)
		s.Do(t, request).WantDetail(t, http.StatusConflict, "A request with this Idempotency-Key is being processed.")
		s.LookUp(t)
		s.Do(t, request).Want(t, http.StatusCreated, apptest.Fields{"status": "approved", "amount": "49.00"})
		if got := len(refundEntries(t, s)); got != 1 {
			t.Errorf("the gateway got %d refunds", got)
		}
	})
}

func TestAChargebackByHandCanBeRepeated(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, id := sale(t, s, apptest.Approved)
		request := operator(chargebacks, apptest.Body{"transaction_id": id, "reason_code": "MD06"})
		first := s.Do(t, under("cb-1", request)).Want(t, http.StatusCreated, nil)
		s.Do(t, under("cb-1", request)).Want(t, http.StatusCreated, apptest.Fields(first.Object(t)))
		s.Do(t, under("cb-2", request)).WantDetail(t, http.StatusConflict, "The payment was charged back already.")
	})
}

func TestAnImportCanBeRepeated(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		file := header + "P-1,U-1,approved,sdd_sale,12.50,EUR,2026-03-01T10:00:00Z,,,\n" + "P-2,U-2,nonsense,,7.00,EUR,2026-03-02,,,\n"
		first := s.Do(t, under("file-1", importing(t, "transactions", file, nil))).Want(t, http.StatusCreated, counts(1, 0, 0, 1))
		t.Run("the same file under the key gets the same answer, whatever the form's boundary", func(t *testing.T) {
			same := first.Object(t)
			delete(same["rejected_lines"].([]any)[0].(map[string]any), "text") // which nobody keeps
			s.Do(t, under("file-1", importing(t, "transactions", file, nil))).Want(t, http.StatusCreated, apptest.Fields(same))
			if got := s.Env.Count(t, "imports"); got != 1 {
				t.Errorf("%d imports were made", got)
			}
		})
		t.Run("another file or another form is a 409", func(t *testing.T) {
			s.Do(t, under("file-1", importing(t, "transactions", file+"\n", nil))).Want(t, http.StatusConflict, nil)
			s.Do(t, under("file-1", importing(t, "transactions", file, apptest.Body{"events": true}))).Want(t, http.StatusConflict, nil)
			s.Do(t, under("file-1", refunds(transactionID(t, s, "P-1"), nil))).Want(t, http.StatusConflict, nil)
		})
		t.Run("while it runs a repeat is a 409, and one that died is taken in again", func(t *testing.T) {
			s.Env.Exec(t, `UPDATE imports SET status = 'running'`)
			s.Do(t, under("file-1", importing(t, "transactions", file, nil))).WantDetail(t, http.StatusConflict, "A request with this Idempotency-Key is being processed.")
			s.Env.Exec(t, `UPDATE imports SET updated_at = updated_at - 3600000000`)
			s.Do(t, under("file-1", importing(t, "transactions", file, nil))).Want(t, http.StatusCreated, counts(0, 0, 1, 1))
		})
		t.Run("a file that cannot be read leaves the key free", func(t *testing.T) {
			s.Do(t, under("file-2", importing(t, "transactions", "nothing\n", nil))).Want(t, http.StatusBadRequest, nil)
			s.Do(t, under("file-2", importing(t, "transactions", file, nil))).Want(t, http.StatusCreated, counts(0, 0, 1, 1))
		})
	})
}

func TestWhatIsSetUpIsMadeOnceUnderItsKey(t *testing.T) {
	t.Parallel()
	bodies := map[string]any{
		tenants:                    apptest.Body{"name": "Second Shop"},
		ofShop("api-keys"):         apptest.Body{"name": "second"},
		ofShop("gateways"):         apptest.Body{"name": "Second gateway", "adapter": "sandbox", "test_mode": true},
		ofShop("webhook-profiles"): apptest.Body{"name": "Second backend", "url": "https://shop.example/second"},
		ofShop("hosted-pages"):     apptest.Body{"name": "Second page"},
		ofShop("offers"):           apptest.Body{"name": "Second poster", "price": "9.90", "currency": "EUR", "billing_type": "ONE_OFF"},
		ofShop("campaigns"):        apptest.Body{"name": "Second campaign", "offer_id": apptest.PosterOffer, "gateway_id": apptest.Gateway},
	}
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		for path, body := range bodies {
			t.Run(path, func(t *testing.T) {
				request := under("make "+path, calling(http.MethodPost, path, body))
				before := s.Do(t, calling(http.MethodGet, path, nil)).Want(t, http.StatusOK, nil)
				answers := s.AtOnce(t, request.Times(4)...)
				if made := len(answers[http.StatusCreated]); made == 0 || made+len(answers[http.StatusConflict]) != 4 {
					t.Errorf("the answers are %v", answers)
				}
				again := s.Do(t, request).Want(t, http.StatusCreated, nil).Object(t)
				for _, first := range answers[http.StatusCreated] {
					wantSame(t, first.Object(t), again)
				}
				after := s.Do(t, calling(http.MethodGet, path, nil)).Want(t, http.StatusOK, nil)
				if made := len(after.Get(t, "results").([]any)) - len(before.Get(t, "results").([]any)); made != 1 {
					t.Errorf("%d were made", made)
				}
				other := under("make "+path, calling(http.MethodPost, path, apptest.Body{"name": "Third"}))
				s.Do(t, other).WantDetail(t, http.StatusConflict, "This Idempotency-Key was used with another request.")
				s.Do(t, under("refused "+path, calling(http.MethodPost, path, apptest.Body{"name": ""}))).Want(t, http.StatusBadRequest, nil)
				s.Do(t, under(strings.Repeat("k", 256), calling(http.MethodPost, path, body))).WantBad(t, map[string]string{"Idempotency-Key": ""})
			})
		}
	})
}

// wantSame expects the same answer, of which only a new API key is told once.
func wantSame(t *testing.T, first, again map[string]any) {
	t.Helper()
	if len(first) != len(again) {
		t.Errorf("a repeat has other fields: %v and %v", first, again)
	}
	for field, value := range first {
		if got := again[field]; field != "key" && fmt.Sprint(got) != fmt.Sprint(value) {
			t.Errorf("%s is %v, and %v in the repeat", field, value, got)
		}
	}
}

// firstReference is the merchant_transaction_id of the only payment.
func firstReference(t *testing.T, s *apptest.Server) string {
	t.Helper()
	return storetest.Scalar[string](t, s.Env, `SELECT merchant_transaction_id FROM transactions`)
}

func TestLinesThatCannotBe(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		file := "merchant_transaction_id,adapter_unique_id,transaction_id,status,amount,currency,date_processed,mandate_date\n" +
			"Q-1,U-1,T-1,approved,1.00,EUR,2026-03-01,1998-01-01\n" +
			"Q-2,U-2,T-2,approved,1.00,EUR,0001-01-01,\n" +
			"Q-3,U-3,T-3,approved,1.00,EUR,0001-01-01T00:00:00Z,\n" +
			"Q-4,U-4,T-4,approved,1.00,EUR,9999-12-31,\n" +
			"Q-5,U-5,T-5,approved,1.00,EUR,2026-03-01,0001-01-01\n" +
			"Q-6,U-6,T-6,approved,99999999999999999999.00,EUR,2026-03-01,\n" +
			"Q-7,U-7,T-7,approved,1e9,EUR,2026-03-01,\n" +
			"Q-8,,T-8,approved,1.00,EUR,1970-01-01,\n" +
			"Q-9,U-9,,approved,1.00,EUR,2026-03-01,\n"
		answer := s.Do(t, importing(t, "transactions", file, nil)).Want(t, http.StatusCreated, counts(3, 0, 0, 6))
		for i, line := range []int{3, 4, 5, 6, 7, 8} {
			if got := answer.Get(t, "rejected_lines").([]any)[i].(map[string]any)["line"]; fmt.Sprint(got) != fmt.Sprint(line) {
				t.Errorf("line %v is rejected instead of %d", got, line)
			}
		}
		for reference, ids := range map[string][2]string{"Q-1": {"U-1", "T-1"}, "Q-8": {"T-8", "T-8"}, "Q-9": {"U-9", "U-9"}} {
			wantTransaction(t, s, transactionID(t, s, reference), apptest.Fields{"adapter_unique_id": ids[0], "transaction_id": ids[1]})
		}
		reports := "merchant_transaction_id,amount,currency,report_date,transaction_date\n" +
			"Q-1,1.00,EUR,0001-01-01,\n" + "Q-1,1.00,EUR,2026-03-09,0001-01-01\n" + "Q-1,1.00,EUR,2026-03-09,2026-03-01\n"
		s.Do(t, importing(t, "chargebacks", reports, nil)).Want(t, http.StatusCreated, counts(1, 0, 0, 2))
		s.Do(t, upload(t, "/admin/v1/reconciliations/", "transactions", file, nil)).Want(t, http.StatusOK, nil)
	})
}

// TestARepeatDoesNotTellWhatOthersChose: whoever had made a profile was told, by the same call
// again, the signing secret that somebody else had given it since.
func TestARepeatDoesNotTellWhatOthersChose(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		profiles := ofShop("webhook-profiles")
		request := under("make a profile", calling(http.MethodPost, profiles, apptest.Body{"name": "Backend", "url": "https://shop.example/third"}))
		made := s.Do(t, request).Want(t, http.StatusCreated, nil)
		if again := s.Do(t, request).Want(t, http.StatusCreated, nil); again.Text(t, "signing_secret") != made.Text(t, "signing_secret") {
			t.Error("a repeat is not told what was made for it")
		}
		s.Do(t, calling(http.MethodPatch, profiles+made.Text(t, "id")+"/", apptest.Body{"signing_secret": "chosen by somebody else"})).Want(t, http.StatusOK, nil)
		if again := s.Do(t, request).Want(t, http.StatusCreated, nil); strings.Contains(string(again.Raw), "signing_secret") {
			t.Errorf("a repeat is told %s", again.Raw)
		}
	})
}
