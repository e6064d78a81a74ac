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
	Object          string                `json:"object"`
	SessionToken    string                `json:"session_token"`
	Status          *payment.ResultStatus `json:"status"`
	Livemode        bool                  `json:"livemode"`
	CreatedAt       *string               `json:"created_at"`
	ProcessedAt     *string               `json:"processed_at"`
	OrderNumber     *string               `json:"order_number"`
	VerificationURL *string               `json:"verification_url"`
	Error           *string               `json:"error"`
	RetryAllowed    *bool                 `json:"retry_allowed"`
	Amount          *string               `json:"amount"`
	Currency        *string               `json:"currency"`
	Transaction     *transactionBody      `json:"transaction"`
	Order           *orderBody            `json:"order"`
	Subscription    *subscriptionBody     `json:"subscription"`
	Lead            idBody                `json:"lead"`
	PaymentMethod   paymentMethodBody     `json:"payment_method"`
	SEPA            sepaBody              `json:"sepa"`
	Adapter         adapterBody           `json:"adapter"`
	PaymentGateway  gatewayBody           `json:"payment_gateway"`
	ErrorDetails    *errorDetailsBody     `json:"error_details"`
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
		Object: "payment_session.result", SessionToken: r.Session.Token, Status: payment.Given(r.Status), Livemode: r.Livemode,
		CreatedAt: instant(t.CreatedAt), ProcessedAt: instant(t.ProcessedAt), RetryAllowed: r.RetryAllowed,
		Amount: payment.Given(t.AmountMinor.String()), Currency: payment.Given(t.Currency), Transaction: transactionOf(t),
		Subscription: subscriptionOf(r.Subscription), Lead: idBody{r.Session.LeadID}, PaymentMethod: methodOf(t),
		SEPA:           sepaBody{MandateReference: payment.Given(r.Session.MandateReference), SequenceType: payment.Given(t.SequenceType)},
		Adapter:        adapterBody{r.AdapterName},
		PaymentGateway: gatewayBody{r.Gateway.ID, r.Gateway.Name, payment.Given(r.Gateway.Descriptor), r.Gateway.TestMode},
		ErrorDetails:   errorDetailsOf(t.Decline),
	}
	if o := r.Order; o != nil {
		body.OrderNumber, body.Order = payment.Given(o.Number), &orderBody{o.ID, o.Number, o.Status}
	}
	if r.Session.RenewsID != nil && r.Status != payment.ResultCompleted {
		body.Subscription = nil // it is another purchase's, and has got nothing from this session yet
	}
	if r.Status == payment.ResultAwaiting {
		body.VerificationURL = payment.Given(t.VerificationURL)
	}
	if t.Decline != nil {
		body.Error = payment.Given(t.Decline.Words())
	}
	return body
}

// transactionOf is null where nobody has tried to pay yet.
func transactionOf(t payment.Transaction) *transactionBody {
	if t.ID == uuid.Nil {
		return nil
	}
	return &transactionBody{t.ID, t.MerchantTransactionID, payment.Given(t.GatewayReference), t.TenantReferenceID, t.Status, t.Type}
}

func methodOf(t payment.Transaction) paymentMethodBody {
	return paymentMethodBody{
		"sepa_debit", payment.Given(t.IBANLast4()), payment.Given(t.IBANCountry), payment.Given(t.BIC), payment.Given(t.BankName), payment.Given(t.HolderName),
	}
}

func errorDetailsOf(d *payment.Decline) *errorDetailsBody {
	if d == nil {
		return nil
	}
	return &errorDetailsBody{d.Code, d.Words(), payment.Given(d.GatewayCode), payment.Given(d.GatewayMessage)}
}

func subscriptionOf(s *payment.Subscription) *subscriptionBody {
	if s == nil {
		return nil
	}
	return &subscriptionBody{s.ID, s.Status, payment.Given(s.Frequency), payment.Given(s.NextBillingDate.String())}
}

// instant is ISO 8601 in UTC; none is null.
func instant(at time.Time) *string {
	if at.IsZero() {
		return nil
	}
	return payment.Given(at.UTC().Format("2006-01-02T15:04:05.000000Z"))
}
