package record

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/payment"
)

// The names of the contract, in its order.
var (
	transactionNames = strings.Fields(`id adapter_unique_id merchant_transaction_id transaction_id tenant_reference_id status
		type amount currency date_processed iban bic customer_email_csv customer_name_csv mandate_reference_id mandate_date
		source order_id subscription_id lead_id payment_gateway_id created_at updated_at`)
	chargebackNames = strings.Fields(`id adapter_unique_id merchant_transaction_id tenant_reference_id status type amount
		currency report_date transaction_date reason_code reason_message report_type report_message report_info arn iban bic
		email country source cb_bank_fee transaction_id lead_id payment_gateway_id created_at updated_at`)
	subscriptionNames = strings.Fields(`id status billing_amount currency billing_frequency start_date next_billing_date
		last_billing_date cancelled_at trial_end_date billing_anchor_date successful_billing_count failed_billing_count
		total_revenue order_id lead_id offer_id payment_gateway_id created_at updated_at`)
)

// The names that must never be seen.
var (
	hiddenInTransactions = strings.Fields(`raw_data import_error import_session origin_adapter_status origin_adapter_txn_type
		card_holder card_number card_brand adapter adapter_id`)
	hiddenInChargebacks = strings.Fields(`raw_data import_error import_session origin_adapter_cb_status origin_adapter_cb_type
		adapter adapter_id card_holder card_number card_brand remote_ip reference_transaction_id reference_transaction_type
		order_id transition merchant terminal`)
	hiddenInSubscriptions = strings.Fields(`payment_details_token edit_history metadata error_reason billing_frequency_days`)
)

func TestColumns(t *testing.T) {
	t.Parallel()
	t.Run("transaction", func(t *testing.T) {
		t.Parallel()
		checkColumns(t, Transactions, transactionNames, hiddenInTransactions, fullTransaction())
	})
	t.Run("chargeback", func(t *testing.T) {
		t.Parallel()
		checkColumns(t, Chargebacks, chargebackNames, hiddenInChargebacks, fullChargeback())
	})
	t.Run("subscription", func(t *testing.T) {
		t.Parallel()
		checkColumns(t, Subscriptions, subscriptionNames, hiddenInSubscriptions, fullSubscription())
	})
}

func checkColumns[T any](t *testing.T, columns Columns[T], names, hidden []string, full T) {
	t.Helper()
	var got []string
	var empty T
	for _, column := range columns {
		got = append(got, column.Name)
		if slices.Contains(hidden, column.Name) {
			t.Errorf("%s must never be exposed", column.Name)
		}
		if kind := column.Value(&full).Kind(); kind != column.Kind {
			t.Errorf("%s of a full record is of kind %d, declared %d", column.Name, kind, column.Kind)
		}
		if kind := column.Value(&empty).Kind(); kind != column.Kind && kind != Null {
			t.Errorf("%s of an empty record is of kind %d, declared %d", column.Name, kind, column.Kind)
		}
	}
	if !slices.Equal(got, names) {
		t.Errorf("columns are\n%v\nwant\n%v", got, names)
	}
}

// Not parallel: what others allocate meanwhile would be counted too.
func TestRecordsAreWrittenWithoutAllocating(t *testing.T) {
	tx, cb, sub := fullTransaction(), fullChargeback(), fullSubscription()
	buffer := make([]byte, 0, 4096)
	if n := testing.AllocsPerRun(100, func() {
		buffer = Transactions.AppendJSON(buffer[:0], &tx)
		buffer = Chargebacks.AppendJSON(buffer[:0], &cb)
		buffer = Subscriptions.AppendJSON(buffer[:0], &sub)
	}); n != 0 {
		t.Errorf("three records allocate %v times", n)
	}
}

func BenchmarkTransactionJSON(b *testing.B) {
	tx := fullTransaction()
	buffer := make([]byte, 0, 4096)
	for b.Loop() {
		buffer = Transactions.AppendJSON(buffer[:0], &tx)
	}
	b.SetBytes(int64(len(buffer)))
}

func id(last byte) uuid.UUID {
	fixed := uuid.MustParse("018f0000-0000-7000-8000-000000000000")
	fixed[15] = last
	return fixed
}

func ptr[T any](value T) *T { return &value }

func fullTransaction() payment.Transaction {
	return payment.Transaction{
		ID: id(1), OrderID: ptr(id(2)), SubscriptionID: ptr(id(3)), LeadID: ptr(id(4)), GatewayID: id(5),
		MerchantTransactionID: "TXN-20260331-ABCDEFGH", TenantReferenceID: ptr("order-17"), GatewayReference: "GW-1",
		Status: payment.TransactionApproved, Type: payment.Rebill, AmountMinor: 2999, Currency: "EUR", Source: payment.SourceAPI,
		MaskedIBAN: "******************3000", BIC: "COBADEFFXXX", HolderName: "Ana Müller", Email: "ana@example.org",
		MandateReference: "MND-ABCDEFGHIJKL", MandateAt: at, ProcessedAt: at, CreatedAt: at, UpdatedAt: at,
	}
}

func fullChargeback() payment.Chargeback {
	return payment.Chargeback{
		ID: id(1), GatewayID: id(5), TransactionID: ptr(id(2)), LeadID: ptr(id(4)), MerchantTransactionID: "TXN-20260331-ABCDEFGH",
		TenantReferenceID: ptr("order-17"), GatewayReference: "CB-1", AmountMinor: 2999, Currency: "EUR", ReportedAt: at, TransactionAt: at,
		ReasonCode: "MD06", ReasonMessage: "Refund request", ReportType: "R", ReportMessage: "M", ReportInfo: "I", ARN: "74",
		MaskedIBAN: "******************3000", BIC: "COBADEFFXXX", Email: "ana@example.org", Country: "DE",
		Source: payment.ChargebackManual, BankFeeMinor: ptr(payment.Minor(350)), CreatedAt: at, UpdatedAt: at,
	}
}

func fullSubscription() payment.Subscription {
	return payment.Subscription{
		ID: id(1), OrderID: id(2), LeadID: id(4), OfferID: ptr(id(6)), GatewayID: id(5), Status: payment.SubscriptionActive,
		AmountMinor: 2999, Currency: "EUR", Frequency: payment.Monthly, StartedAt: at, NextBillingDate: payment.DateOf(at),
		TrialEndDate: payment.DateOf(at), AnchorDate: payment.DateOf(at), LastBilledAt: at, CancelledAt: at,
		SuccessfulCount: 3, FailedCount: 1, RevenueMinor: 8997, CreatedAt: at, UpdatedAt: at,
	}
}
