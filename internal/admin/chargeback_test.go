package admin_test

import (
	"net/http"
	"testing"
	"time"

	"sepad/internal/app/apptest"
)

func TestChargebackByHand(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		token := s.Create(t, apptest.InCampaign(apptest.MonthlyCampaign))
		paid := s.Pay(t, token, apptest.Approved, apptest.Body{"tenant_reference_id": "order-1"}).Want(t, http.StatusOK, nil)
		id := paid.Text(t, "transaction.id")
		original := wantTransaction(t, s, id, nil)
		today := original.Text(t, "date_processed")[:len(time.DateOnly)]
		recorded := s.Do(t, operator(chargebacks, apptest.Body{
			"transaction_id": id, "reason_code": "AM04", "report_date": today, "report_info": "by letter",
			"cb_bank_fee": "3.50", "arn": "ARN-1",
		})).Want(t, http.StatusCreated, apptest.Fields{
			"merchant_transaction_id": original.Text(t, "merchant_transaction_id"), "tenant_reference_id": "order-1",
			"status": "charged_back", "type": "chargeback", "amount": "29.99", "currency": "EUR",
			"report_date": today + "T00:00:00.000000Z", "transaction_date": original.Text(t, "date_processed"),
			"reason_code": "AM04", "reason_message": apptest.Any, "report_info": "by letter", "report_type": nil,
			"report_message": nil, "arn": "ARN-1", "iban": original.Text(t, "iban"), "bic": original.Text(t, "bic"),
			"email": apptest.Any, "country": "DE", "source": "manual", "cb_bank_fee": "3.50", "transaction_id": id,
			"lead_id": original.Text(t, "lead_id"), "payment_gateway_id": apptest.Gateway,
			"adapter_unique_id": original.Text(t, "adapter_unique_id"), "created_at": apptest.Any, "updated_at": apptest.Any,
		})
		s.Do(t, operator(chargebacks+recorded.Text(t, "id")+"/", nil)).Want(t, http.StatusOK, apptest.Fields{"id": recorded.Text(t, "id")})
		wantTransaction(t, s, id, apptest.Fields{"status": "charged_back", "order.status": "CHARGEDBACK", "refundable_amount": "0.00"})
		wantEvents(t, s, "chargeback.created charged_back", "transaction.status_changed charged_back was approved")
		if got := revenue(t, s); got != 0 {
			t.Errorf("the revenue is %d", got)
		}
		if got := status(t, s, "subscriptions"); got != "PAST_DUE" {
			t.Errorf("the subscription is %s: insufficient funds are a failed billing", got)
		}
		s.Do(t, operator(chargebacks, apptest.Body{"transaction_id": id})).WantDetail(t, http.StatusConflict, "The payment was charged back already.")
	})
}

func TestChargebackAfterARefund(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, id := paid(t, s, apptest.InCampaign(apptest.MonthlyCampaign), apptest.Approved)
		s.Do(t, refunds(id, nil)).Want(t, http.StatusCreated, nil)
		s.Do(t, operator(chargebacks, apptest.Body{"transaction_id": id})).Want(t, http.StatusCreated, apptest.Fields{"reason_code": nil})
		wantTransaction(t, s, id, apptest.Fields{"status": "charged_back", "order.status": "CHARGEDBACK", "refunded_amount": "29.99"})
		wantEvents(t, s, "transaction.created approved", "transaction.status_changed refunded was approved",
			"chargeback.created charged_back", "transaction.status_changed charged_back was refunded")
		if got := revenue(t, s); got != -29_99 {
			t.Errorf("the revenue is %d: the money left twice", got)
		}
	})
}

func TestChargebackIsRefused(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	_, id := sale(t, s, apptest.Approved)
	bad := map[string]apptest.Body{
		"transaction_id": {"transaction_id": "019d0000-0000-7000-8000-00000000ffff"},
		"amount":         {"transaction_id": id, "amount": "49.01"},
		"currency":       {"transaction_id": id, "currency": "CHF"},
		"report_date":    {"transaction_id": id, "report_date": "yesterday"},
		"cb_bank_fee":    {"transaction_id": id, "cb_bank_fee": "-1"},
	}
	for field, body := range bad {
		t.Run("for a bad "+field, func(t *testing.T) {
			s.Do(t, operator(chargebacks, body)).WantBad(t, map[string]string{field: ""})
		})
	}
	paidAt, err := time.Parse(time.RFC3339Nano, wantTransaction(t, s, id, nil).Text(t, "date_processed"))
	if err != nil {
		t.Fatal(err)
	}
	for when, days := range map[string]int{"the day before the payment": -1, "years before it": -3000, "days ahead": 3, "years ahead": 3000} {
		t.Run("for a report of "+when, func(t *testing.T) {
			date := paidAt.AddDate(0, 0, days).Format(time.DateOnly)
			s.Do(t, operator(chargebacks, apptest.Body{"transaction_id": id, "report_date": date})).WantBad(t, map[string]string{"report_date": ""})
		})
	}
	t.Run("without a transaction", func(t *testing.T) {
		s.Do(t, operator(chargebacks, apptest.Body{})).WantBad(t, map[string]string{"transaction_id": "transaction_id is required."})
	})
	t.Run("for a declined payment", func(t *testing.T) {
		declined := s.Pay(t, s.Create(t, apptest.Direct()), apptest.DeclinedInsufficientFunds).Text(t, "transaction.id")
		s.Do(t, operator(chargebacks, apptest.Body{"transaction_id": declined})).WantDetail(t, http.StatusConflict, "A declined payment cannot be charged back.")
	})
	t.Run("for a refund", func(t *testing.T) {
		refund := s.Do(t, refunds(id, apptest.Body{"amount": "1.00"})).Text(t, "id")
		s.Do(t, operator(chargebacks, apptest.Body{"transaction_id": refund})).WantDetail(t, http.StatusConflict, "Only a payment can be charged back.")
	})
	t.Run("and a chargeback that nobody has is not found", func(t *testing.T) {
		s.Do(t, operator(chargebacks+"nonsense/", nil)).WantDetail(t, http.StatusNotFound, "Chargeback not found")
		s.Do(t, operator(chargebacks+id+"/", nil)).WantDetail(t, http.StatusNotFound, "Chargeback not found")
	})
	if got := s.Env.Count(t, "chargebacks"); got != 0 {
		t.Errorf("%d chargebacks were recorded", got)
	}
}

func TestChargebackBeforeSettlement(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, id := paid(t, s, apptest.InCampaign(apptest.MonthlyCampaign), apptest.PendingApproved)
		s.Do(t, operator(chargebacks, apptest.Body{"transaction_id": id})).Want(t, http.StatusCreated, nil)
		wantTransaction(t, s, id, apptest.Fields{"status": "charged_back", "order.status": "CHARGEDBACK"})
		if got := revenue(t, s); got != 0 {
			t.Errorf("the revenue is %d", got)
		}
	})
}
