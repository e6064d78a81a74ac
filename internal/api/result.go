package api

import (
	"time"

	"github.com/google/uuid"

	"sepad/internal/checkout"
	"sepad/internal/payment"
)

// resultBody is the envelope of pay and verify (contract 2.9). Every key is there
// in every answer; what has no source is null.
type resultBody struct {
	Object          string               `json:"object"`
	SessionToken    string               `json:"session_token"`
	Status          payment.ResultStatus `json:"status"`
	Livemode        bool                 `json:"livemode"`
	CreatedAt       *string              `json:"created_at"`
	ProcessedAt     *string              `json:"processed_at"`
	OrderNumber     *string              `json:"order_number"`
	VerificationURL *string              `json:"verification_url"`
	Error           *string              `json:"error"`
	RetryAllowed    *bool                `json:"retry_allowed"`
	Amount          *string              `json:"amount"`
	Currency        *string              `json:"currency"`
	Transaction     transactionBody      `json:"transaction"`
	Order           orderBody            `json:"order"`
	Subscription    *subscriptionBody    `json:"subscription"`
	Lead            idBody               `json:"lead"`
	PaymentMethod   paymentMethodBody    `json:"payment_method"`
	SEPA            sepaBody             `json:"sepa"`
	Adapter         adapterBody          `json:"adapter"`
	PaymentGateway  gatewayBody          `json:"payment_gateway"`
	ErrorDetails    *errorDetailsBody    `json:"error_details"`
}

type transactionBody struct {
	ID                    uuid.UUID                 `json:"id"`
	MerchantTransactionID string                    `json:"merchant_transaction_id"`
	GatewayReference      *string                   `json:"gateway_reference"`
	TenantReferenceID     *string                   `json:"tenant_reference_id"`
	Status                payment.TransactionStatus `json:"status"`
	Type                  payment.TransactionType   `json:"type"`
}

type orderBody struct {
	ID          uuid.UUID           `json:"id"`
	OrderNumber string              `json:"order_number"`
	Status      payment.OrderStatus `json:"status"`
}

type subscriptionBody struct {
	ID               uuid.UUID                  `json:"id"`
	Status           payment.SubscriptionStatus `json:"status"`
	BillingFrequency *payment.BillingFrequency  `json:"billing_frequency"`
	NextBillingDate  *string                    `json:"next_billing_date"`
}

type idBody struct {
	ID uuid.UUID `json:"id"`
}

type paymentMethodBody struct {
	Type        string  `json:"type"`
	IBANLast4   *string `json:"iban_last4"`
	IBANCountry *string `json:"iban_country"`
	BIC         *string `json:"bic"`
	BankName    *string `json:"bank_name"`
	HolderName  *string `json:"holder_name"`
}

type sepaBody struct {
	MandateReference *string               `json:"mandate_reference"`
	SequenceType     *payment.SequenceType `json:"sequence_type"`
	// CreditorIdentifier is reserved by the contract and always null.
	CreditorIdentifier *string `json:"creditor_identifier"`
}

type adapterBody struct {
	Name string `json:"name"`
}

type gatewayBody struct {
	ID         uuid.UUID `json:"id"`
	Name       string    `json:"name"`
	Descriptor *string   `json:"descriptor"`
	TestMode   bool      `json:"test_mode"`
}

type errorDetailsBody struct {
	Code           payment.DeclineCode `json:"code"`
	Message        string              `json:"message"`
	GatewayCode    *string             `json:"gateway_code"`
	GatewayMessage *string             `json:"gateway_message"`
}

func resultOf(r checkout.Result) resultBody {
	t := r.Transaction
	body := resultBody{
		Object: "payment_session.result", SessionToken: r.Session.Token, Status: r.Status, Livemode: r.Livemode,
		CreatedAt: instant(t.CreatedAt), ProcessedAt: instant(t.ProcessedAt), OrderNumber: given(r.Order.Number),
		RetryAllowed: r.RetryAllowed, Amount: given(t.AmountMinor.String()), Currency: given(t.Currency),
		Transaction: transactionBody{
			t.ID, t.MerchantTransactionID, given(t.GatewayReference), t.TenantReferenceID, t.Status, t.Type,
		},
		Order: orderBody{r.Order.ID, r.Order.Number, r.Order.Status}, Subscription: subscriptionOf(r.Subscription),
		Lead: idBody{*t.LeadID},
		PaymentMethod: paymentMethodBody{
			"sepa_debit", given(t.IBANLast4()), given(t.IBANCountry), given(t.BIC), given(t.BankName), given(t.HolderName),
		},
		SEPA:           sepaBody{MandateReference: given(t.MandateReference), SequenceType: given(t.SequenceType)},
		Adapter:        adapterBody{r.AdapterName},
		PaymentGateway: gatewayBody{r.Gateway.ID, r.Gateway.Name, given(r.Gateway.Descriptor), r.Gateway.TestMode},
	}
	if r.Status == payment.ResultAwaiting {
		body.VerificationURL = given(t.VerificationURL)
	}
	if d := t.Decline; d != nil {
		body.Error = given(d.Words())
		body.ErrorDetails = &errorDetailsBody{d.Code, d.Words(), given(d.GatewayCode), given(d.GatewayMessage)}
	}
	return body
}

func subscriptionOf(s *payment.Subscription) *subscriptionBody {
	if s == nil {
		return nil
	}
	return &subscriptionBody{s.ID, s.Status, given(s.Frequency), given(s.NextBillingDate.String())}
}

// instant is ISO 8601 in UTC; none is null.
func instant(at time.Time) *string {
	if at.IsZero() {
		return nil
	}
	return given(at.UTC().Format("2006-01-02T15:04:05.000000Z"))
}
