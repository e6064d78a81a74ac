package admin_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/store/storetest"
)

const (
	talkative = "019d0000-0000-7000-8000-000000000aaa"
	secret    = "what-the-gateway-signs-with"
)

// notifying opens a server whose shop has an account with a secret that the
// test knows, and gives sessions on it.
func notifying(t *testing.T, s *apptest.Server) {
	t.Helper()
	s.Apply(t, `
tenants:
  - id: `+apptest.Shop+`
    name: Bergladen
    gateways:
      - {id: `+talkative+`, name: Talkative, adapter: sandbox, settings: {notification_secret: `+secret+`}}
`)
}

func throughTalkative() apptest.Body {
	return apptest.Direct().With(apptest.Body{"gateway_id": talkative})
}

// notice is a signed notification of the sandbox.
func notice(t *testing.T, body apptest.Body) apptest.Request {
	t.Helper()
	text, err := json.Marshal(apptest.Body{
		"type": "sdd_sale", "amount": "49.00", "currency": "EUR", "occurred_at": "2026-03-31T12:00:00Z",
	}.With(body))
	if err != nil {
		t.Fatal(err)
	}
	return apptest.Request{
		Path: "/gateways/" + talkative + "/notifications/", Body: string(text),
		Header: map[string]string{sandbox.SignatureHeader: sandbox.Sign(text, secret)},
	}
}

func status(t *testing.T, s *apptest.Server, table string) string {
	t.Helper()
	return storetest.Scalar[string](t, s.Env, `SELECT status FROM `+table)
}

var (
	taken   = apptest.Fields{"taken": 1, "refused": 0}
	refused = apptest.Fields{"taken": 0, "refused": 1}
)

func TestSandboxReturnsWithTheReason(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	returned := map[string]string{
		apptest.Chargeback: "MD06", apptest.ReturnedInsufficientFunds: "AM04",
		apptest.ReturnedMandateRejected: "MD01", apptest.ReturnedAccountClosed: "AC04",
	}
	sales := map[string]string{}
	for account := range returned {
		_, sales[account] = sale(t, s, account)
	}
	s.Advance(t, 3*24*time.Hour)
	for account, code := range returned {
		wantTransaction(t, s, sales[account], apptest.Fields{"status": "charged_back"})
		got := storetest.Scalar[string](t, s.Env, `SELECT reason_code FROM chargebacks WHERE transaction_id = '`+sales[account]+`'`)
		if got != code {
			t.Errorf("the account ...%s came back with %s, want %s", account[len(account)-4:], got, code)
		}
	}
}

func TestSandboxReportsByItself(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, settled := sale(t, s, apptest.PendingApproved)
		_, failed := sale(t, s, apptest.PendingDeclined)
		_, lost := sale(t, s, apptest.Chargeback)
		began := s.Now(t)
		s.Advance(t, 2*24*time.Hour)
		wantTransaction(t, s, settled, apptest.Fields{"status": "approved", "order.status": "COMPLETED"})
		wantTransaction(t, s, failed, apptest.Fields{"status": "declined", "order.status": "FAILED", "error_details.code": "insufficient_funds"})
		wantTransaction(t, s, lost, apptest.Fields{"status": "approved"})
		s.Advance(t, 30*24*time.Hour)
		charged := wantTransaction(t, s, lost, apptest.Fields{"status": "charged_back", "order.status": "CHARGEDBACK"})
		wantEvents(t, s, "transaction.status_changed approved was pending", "transaction.status_changed declined was pending",
			"chargeback.created charged_back", "transaction.status_changed charged_back was approved")
		changed, err := time.Parse(time.RFC3339, charged.Text(t, "updated_at"))
		if err != nil || changed.Before(began.Add(71*time.Hour)) || changed.After(began.Add(73*time.Hour)) {
			t.Errorf("charged back at %s, three days after %s", changed, began)
		}
		if got := storetest.Scalar[string](t, s.Env, `SELECT source || ' ' || reason_code FROM chargebacks`); got != "webhook MD06" {
			t.Errorf("the chargeback is %s", got)
		}
		if left := storetest.Scalar[int](t, s.Env, `SELECT COUNT(*) FROM sandbox_payments WHERE notify_at IS NOT NULL`); left != 0 {
			t.Errorf("%d notifications are still to be sent", left)
		}
	})
}

func TestNotificationSettlesOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		notifying(t, s)
		_, id := paid(t, s, throughTalkative(), apptest.PendingApproved)
		reference := wantTransaction(t, s, id, nil).Text(t, "merchant_transaction_id")
		settled := notice(t, apptest.Body{"event": "payment.settled", "merchant_transaction_id": reference})
		answers := s.AtOnce(t, settled.Times(8)...)
		if len(answers[http.StatusOK]) != 8 {
			t.Fatalf("answered %v", answers)
		}
		s.Do(t, settled).Want(t, http.StatusOK, taken)
		s.Advance(t, 48*time.Hour)
		wantTransaction(t, s, id, apptest.Fields{"status": "approved", "order.status": "COMPLETED"})
		wantEvents(t, s, "transaction.status_changed approved was pending")
	})
}

func TestNotificationOfAChargebackComesFirst(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		notifying(t, s)
		_, id := paid(t, s, throughTalkative(), apptest.PendingApproved)
		reference := wantTransaction(t, s, id, nil).Text(t, "merchant_transaction_id")
		chargeback := notice(t, apptest.Body{"event": "payment.charged_back", "merchant_transaction_id": reference, "reason_code": "MD01"})
		if answers := s.AtOnce(t, chargeback.Times(6)...); len(answers[http.StatusOK]) != 6 {
			t.Fatalf("answered %v", answers)
		}
		s.Do(t, notice(t, apptest.Body{"event": "payment.settled", "merchant_transaction_id": reference})).Want(t, http.StatusOK, taken)
		wantTransaction(t, s, id, apptest.Fields{"status": "charged_back", "order.status": "CHARGEDBACK"})
		if got := s.Env.Count(t, "chargebacks"); got != 1 {
			t.Errorf("%d chargebacks", got)
		}
		s.Do(t, operator(chargebacks, apptest.Body{"transaction_id": id})).Want(t, http.StatusConflict, nil)
		wantEvents(t, s, "transaction.status_changed approved was pending", "chargeback.created charged_back",
			"transaction.status_changed charged_back was approved")
	})
}

func TestNotificationBringsIn(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		notifying(t, s)
		s.Do(t, notice(t, apptest.Body{"event": "payment.charged_back", "merchant_transaction_id": "OLD-1", "reason_code": "AC04"})).Want(t, http.StatusOK, taken)
		if got := storetest.Scalar[int](t, s.Env, `SELECT COUNT(*) FROM chargebacks WHERE transaction_id IS NULL`); got != 1 {
			t.Fatalf("%d chargebacks wait for their payment", got)
		}
		payment := notice(t, apptest.Body{"event": "payment.settled", "merchant_transaction_id": "OLD-1", "reference": "SBX-9"})
		if answers := s.AtOnce(t, payment.Times(6)...); len(answers[http.StatusOK]) != 6 {
			t.Fatalf("answered %v", answers)
		}
		id := storetest.Scalar[string](t, s.Env, `SELECT CAST(id AS TEXT) FROM transactions`)
		wantTransaction(t, s, id, apptest.Fields{
			"status": "charged_back", "source": "webhook", "merchant_transaction_id": "OLD-1", "adapter_unique_id": "SBX-9",
			"date_processed": "2026-03-31T12:00:00.000000Z", "order": nil, "lead_id": nil, "amount": "49.00",
		})
		if got := storetest.Scalar[string](t, s.Env, `SELECT CAST(transaction_id AS TEXT) FROM chargebacks`); got != id {
			t.Errorf("the chargeback is of %s", got)
		}
		s.Do(t, notice(t, apptest.Body{"event": "payment.refused", "merchant_transaction_id": "OLD-2", "reason_code": "AM04"})).Want(t, http.StatusOK, taken)
		wantEvents(t, s, "chargeback.created charged_back", "transaction.created approved", "transaction.status_changed charged_back was approved")
	})
}

func TestNotificationAnswersAnOpenQuestion(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		notifying(t, s)
		t.Run("of a payment without an answer", func(t *testing.T) {
			token := s.Create(t, throughTalkative())
			s.Pay(t, token, apptest.TimeoutApproved).Want(t, http.StatusInternalServerError, nil)
			reference := s.Ledger(t, token)[0].MerchantTransactionID
			s.Do(t, notice(t, apptest.Body{"event": "payment.settled", "merchant_transaction_id": reference})).Want(t, http.StatusOK, taken)
			s.WantStatus(t, token, "COMPLETED")
			s.WantEvents(t, token, apptest.Completed...)
		})
		t.Run("of a verification", func(t *testing.T) {
			token, _ := s.Awaiting(t, throughTalkative(), apptest.VerificationPage)
			reference := s.Ledger(t, token)[0].MerchantTransactionID
			s.Do(t, notice(t, apptest.Body{"event": "payment.charged_back", "merchant_transaction_id": reference})).Want(t, http.StatusOK, taken)
			s.WantStatus(t, token, "COMPLETED")
		})
	})
}

func TestNotificationIsRefused(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	notifying(t, s)
	_, id := paid(t, s, throughTalkative(), apptest.Approved)
	reference := wantTransaction(t, s, id, nil).Text(t, "merchant_transaction_id")
	before := s.Footprint(t)
	good := notice(t, apptest.Body{"event": "payment.settled", "merchant_transaction_id": "X-1"})
	t.Run("without the right signature", func(t *testing.T) {
		forged := good
		forged.Header = map[string]string{sandbox.SignatureHeader: sandbox.Sign([]byte(forged.Body.(string)), "guessed")}
		s.Do(t, forged).WantDetail(t, http.StatusUnauthorized, "Invalid signature")
		forged.Header = nil
		s.Do(t, forged).WantDetail(t, http.StatusUnauthorized, "Invalid signature")
		forged = good
		forged.Path = "/gateways/" + apptest.Gateway + "/notifications/"
		s.Do(t, forged).WantDetail(t, http.StatusUnauthorized, "Invalid signature")
	})
	t.Run("for a gateway that nobody has", func(t *testing.T) {
		for _, name := range []string{"nonsense", "019d0000-0000-7000-8000-00000000ffff", apptest.Profile} {
			lost := good
			lost.Path = "/gateways/" + name + "/notifications/"
			s.Do(t, lost).WantDetail(t, http.StatusNotFound, "Gateway not found")
		}
	})
	t.Run("when it cannot be understood", func(t *testing.T) {
		for _, body := range []apptest.Body{
			{"event": "payment.lost", "merchant_transaction_id": "X-1"},
			{"event": "payment.settled"},
			{"event": "payment.settled", "merchant_transaction_id": "X-1", "amount": "many"},
			{"event": "payment.settled", "merchant_transaction_id": "X-1", "currency": "???"},
		} {
			s.Do(t, notice(t, body)).WantDetail(t, http.StatusBadRequest, "The notification cannot be read.")
		}
	})
	t.Run("when it contradicts what is known", func(t *testing.T) {
		for _, body := range []apptest.Body{
			{"event": "payment.refused", "reason_code": "AM04"},
			{"event": "payment.settled", "amount": "48.00"},
			{"event": "payment.charged_back", "amount": "48.00"},
			{"event": "payment.settled", "currency": "CHF"},
		} {
			s.Do(t, notice(t, body.With(apptest.Body{"merchant_transaction_id": reference}))).Want(t, http.StatusOK, refused)
		}
	})
	if after := s.Footprint(t); after != before || s.Env.Count(t, "chargebacks") != 0 {
		t.Errorf("%s became %s", before, after)
	}
	wantTransaction(t, s, id, apptest.Fields{"status": "approved"})
}
