package admin_test

import (
	"net/http"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/store/storetest"
)

func TestFullRefund(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, id := sale(t, s, apptest.Approved)
		answer := s.Do(t, refunds(id, nil)).Want(t, http.StatusCreated, apptest.Fields{
			"status": "approved", "type": "sdd_refund", "source": "admin_refund", "amount": "49.00", "currency": "EUR",
			"tenant_reference_id": nil, "refund_of": id, "order.status": "REFUNDED", "error_details": nil,
			"merchant_transaction_id": apptest.Any, "adapter_unique_id": apptest.Any, "date_processed": apptest.Any,
		})
		original := wantTransaction(t, s, id, apptest.Fields{
			"status": "refunded", "order.status": "REFUNDED", "refunded_amount": "49.00", "refundable_amount": "0.00",
		})
		if answer.Text(t, "merchant_transaction_id") == original.Text(t, "merchant_transaction_id") {
			t.Error("the refund has the sale's reference")
		}
		for _, name := range []string{"order_id", "lead_id", "payment_gateway_id", "iban"} {
			if answer.Text(t, name) != original.Text(t, name) {
				t.Errorf("%s of the refund is not the sale's", name)
			}
		}
		wantEvents(t, s, "transaction.created approved", "transaction.status_changed refunded was approved")
		if got := givenBack(t, s); got != 49_00 {
			t.Errorf("the gateway gave back %s", got)
		}
		s.Do(t, refunds(id, nil)).Want(t, http.StatusConflict, nil)
		s.Do(t, refunds(id, apptest.Body{"amount": "0.01"})).WantBad(t, map[string]string{"amount": "At most 0.00 is left to refund."})
	})
}

func TestPartialRefunds(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, id := sale(t, s, apptest.Approved)
		s.Do(t, refunds(id, apptest.Body{"amount": "5.00"})).Want(t, http.StatusCreated, apptest.Fields{"amount": "5.00", "order.status": "COMPLETED"})
		wantTransaction(t, s, id, apptest.Fields{"status": "approved", "refunded_amount": "5.00", "refundable_amount": "44.00"})
		s.Do(t, refunds(id, apptest.Body{"amount": "44.01"})).WantBad(t, map[string]string{"amount": "At most 44.00 is left to refund."})
		for _, amount := range []any{"0", "-1.00", "1.001", "x", true} {
			s.Do(t, refunds(id, apptest.Body{"amount": amount})).WantBad(t, map[string]string{"amount": ""})
		}
		s.Do(t, refunds(id, nil)).Want(t, http.StatusCreated, apptest.Fields{"amount": "44.00", "order.status": "REFUNDED"})
		wantTransaction(t, s, id, apptest.Fields{"status": "refunded"})
		wantEvents(t, s, "transaction.created approved", "transaction.created approved", "transaction.status_changed refunded was approved")
	})
}

func TestRefundOfASubscription(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, id := paid(t, s, apptest.InCampaign(apptest.MonthlyCampaign), apptest.Approved)
		s.Do(t, refunds(id, apptest.Body{"amount": "9.99"})).Want(t, http.StatusCreated, apptest.Fields{"subscription_id": apptest.Any})
		if got := revenue(t, s); got != 20_00 {
			t.Errorf("the revenue is %d", got)
		}
	})
}

func TestRefundIsRefused(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	t.Run("for a transaction that nobody has", func(t *testing.T) {
		s.Do(t, refunds("019d0000-0000-7000-8000-00000000ffff", nil)).WantDetail(t, http.StatusNotFound, "Transaction not found")
		s.Do(t, refunds("nonsense", nil)).WantDetail(t, http.StatusNotFound, "Transaction not found")
	})
	t.Run("without the operator's token", func(t *testing.T) {
		_, id := sale(t, s, apptest.Approved)
		r := refunds(id, nil)
		r.Key = s.Key
		s.Do(t, r).Want(t, http.StatusUnauthorized, nil)
	})
	t.Run("for a declined payment", func(t *testing.T) {
		id := s.Pay(t, s.Create(t, apptest.Direct()), apptest.DeclinedInsufficientFunds).Text(t, "transaction.id")
		s.Do(t, refunds(id, nil)).WantDetail(t, http.StatusConflict, "A declined payment cannot be refunded.")
	})
	t.Run("for a pending payment", func(t *testing.T) {
		_, id := sale(t, s, apptest.PendingApproved)
		s.Do(t, refunds(id, nil)).WantDetail(t, http.StatusConflict, "A payment that has not been settled cannot be refunded.")
	})
	t.Run("for a mandate and for a refund", func(t *testing.T) {
		_, mandate := paid(t, s, apptest.InCampaign(apptest.FreeTrialCampaign), apptest.Approved)
		s.Do(t, refunds(mandate, nil)).WantDetail(t, http.StatusConflict, "Only a payment can be refunded.")
		_, id := sale(t, s, apptest.Approved)
		refund := s.Do(t, refunds(id, nil)).Text(t, "id")
		s.Do(t, refunds(refund, nil)).WantDetail(t, http.StatusConflict, "Only a payment can be refunded.")
	})
	t.Run("after a chargeback", func(t *testing.T) {
		_, id := sale(t, s, apptest.Approved)
		s.Do(t, operator(chargebacks, apptest.Body{"transaction_id": id})).Want(t, http.StatusCreated, nil)
		s.Do(t, refunds(id, nil)).WantDetail(t, http.StatusConflict, "The payment was charged back: nothing can be refunded any more.")
	})
}

func TestRefundThatTheGatewayRefuses(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, id := sale(t, s, apptest.RebillAccountClosed)
		s.Do(t, refunds(id, nil)).Want(t, http.StatusCreated, apptest.Fields{
			"status": "declined", "error_details.code": "account_closed", "error_details.gateway_code": "AC04", "order.status": "COMPLETED",
		})
		wantTransaction(t, s, id, apptest.Fields{"status": "approved", "refundable_amount": "49.00"})
		wantEvents(t, s)
	})
}

func TestRefundThatSettlesLater(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, id := sale(t, s, apptest.PendingApproved)
		s.Advance(t, 25*time.Hour)
		refund := s.Do(t, refunds(id, nil)).Want(t, http.StatusCreated, apptest.Fields{"status": "pending", "order.status": "COMPLETED"}).Text(t, "id")
		wantTransaction(t, s, id, apptest.Fields{"status": "approved", "refunded_amount": "0.00", "refundable_amount": "0.00"})
		s.Do(t, refunds(id, nil)).Want(t, http.StatusConflict, nil)
		s.Advance(t, 25*time.Hour)
		wantTransaction(t, s, refund, apptest.Fields{"status": "approved"})
		wantTransaction(t, s, id, apptest.Fields{"status": "refunded", "order.status": "REFUNDED"})
		wantEvents(t, s, "transaction.status_changed approved was pending", "transaction.created pending",
			"transaction.status_changed approved was pending", "transaction.status_changed refunded was approved")
	})
}

func TestRefundWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		token := s.Create(t, apptest.Direct())
		s.Pay(t, token, apptest.TimeoutApproved).Want(t, http.StatusInternalServerError, nil)
		s.LookUp(t)
		id := storetest.Scalar[string](t, s.Env, `SELECT CAST(id AS TEXT) FROM transactions`)
		s.Do(t, refunds(id, nil)).Want(t, http.StatusInternalServerError, nil)
		s.LookUp(t)
		wantTransaction(t, s, id, apptest.Fields{"status": "refunded", "order.status": "REFUNDED", "refunded_amount": "49.00"})
		if got := len(refundEntries(t, s)); got != 1 {
			t.Errorf("the gateway got %d refunds", got)
		}
		wantEvents(t, s, "transaction.created approved", "transaction.status_changed refunded was approved")
	})
}

func TestRefundsAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, id := sale(t, s, apptest.Approved)
		answers := s.AtOnce(t, refunds(id, apptest.Body{"amount": "10.00"}).Times(12)...)
		if got := len(answers[http.StatusCreated]); got != 4 {
			t.Errorf("%d of 12 refunds of 10.00 went through for 49.00", got)
		}
		if refused := len(answers[http.StatusBadRequest]) + len(answers[http.StatusConflict]); refused != 8 {
			t.Errorf("the others were answered %v", answers)
		}
		if got := givenBack(t, s); got != 40_00 {
			t.Errorf("the gateway gave back %s", got)
		}
		wantTransaction(t, s, id, apptest.Fields{"status": "approved", "refunded_amount": "40.00", "refundable_amount": "9.00"})
	})
}

func TestRefundAndChargebackAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, id := sale(t, s, apptest.Approved)
		chargeback := operator(chargebacks, apptest.Body{"transaction_id": id, "reason_code": "MD06"})
		answers := s.AtOnce(t, append(refunds(id, nil).Times(3), chargeback.Times(3)...)...)
		refunded := 0
		for _, answer := range answers[http.StatusCreated] {
			if answer.Get(t, "type") == "sdd_refund" {
				refunded++
			}
		}
		if created := len(answers[http.StatusCreated]); refunded > 1 || created != refunded+1 {
			t.Errorf("%d refunds among %d created records", refunded, created)
		}
		if got := int(givenBack(t, s)); got != refunded*49_00 {
			t.Errorf("%d refunds, and %d given back", refunded, got)
		}
		wantTransaction(t, s, id, apptest.Fields{"status": "charged_back", "order.status": "CHARGEDBACK"})
		if got := s.Env.Count(t, "chargebacks"); got != 1 {
			t.Errorf("%d chargebacks", got)
		}
		s.Do(t, refunds(id, nil)).Want(t, http.StatusConflict, nil)
	})
}
