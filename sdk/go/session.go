package sepad

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Lead is who pays.
type Lead struct {
	FirstName  string `json:"first_name"`
	LastName   string `json:"last_name"`
	Email      string `json:"email"`
	Country    string `json:"country"`
	Address    string `json:"address,omitempty"`
	City       string `json:"city,omitempty"`
	PostalCode string `json:"postal_code,omitempty"`
	Phone      string `json:"phone,omitempty"`
}

// SessionRequest is what a session is made from: a campaign, or a price and a gateway.
type SessionRequest struct {
	// IdempotencyKey names the request, such as your order's number; "" has one made, so
	// that a repeat after a lost answer is the same session.
	IdempotencyKey string `json:"-"`

	CampaignID string `json:"campaign_id,omitempty"`
	Lead       Lead   `json:"lead"`

	Amount            string `json:"amount,omitempty"`
	Currency          string `json:"currency,omitempty"`
	BillingType       string `json:"billing_type,omitempty"`
	BillingFrequency  string `json:"billing_frequency,omitempty"`
	TrialIntervalUnit string `json:"trial_interval_unit,omitempty"`
	TrialPeriod       int    `json:"trial_period,omitempty"`
	TrialPrice        string `json:"trial_price,omitempty"`

	GatewayID          string `json:"gateway_id,omitempty"`
	MaxPaymentAttempts int    `json:"max_payment_attempts,omitempty"`
	WebhookProfileID   string `json:"webhook_profile_id,omitempty"`
	HostedPageID       string `json:"hosted_page_id,omitempty"`
	CustomerIP         string `json:"customer_ip,omitempty"`

	SessionOptions
}

// SessionOptions are what a merchant may say of one session.
type SessionOptions struct {
	TenantReferenceID  string            `json:"tenant_reference_id,omitempty"`
	ReturnURL          string            `json:"return_url,omitempty"`
	SuccessRedirectURL string            `json:"success_redirect_url,omitempty"`
	FailureRedirectURL string            `json:"failure_redirect_url,omitempty"`
	ProductName        string            `json:"product_name,omitempty"`
	ProductDescription string            `json:"product_description,omitempty"`
	Language           string            `json:"language,omitempty"`
	Metadata           map[string]string `json:"metadata,omitempty"`
}

// CreatedSession is a new session.
type CreatedSession struct {
	SessionToken string `json:"session_token"`
	Status       string `json:"status"`
	PaymentURL   string `json:"payment_url"`
}

const sessions = "/api/v1/payment-sessions/"

// CreateSession makes a session.
func (c *Client) CreateSession(ctx context.Context, in SessionRequest) (created CreatedSession, err error) {
	return created, c.do(ctx, call{method: http.MethodPost, path: sessions, body: in, answer: &created, header: keyed(in.IdempotencyKey)})
}

// Session is what a form shows.
type Session struct {
	SessionToken      string         `json:"session_token"`
	Status            string         `json:"status"`
	Amount            string         `json:"amount"`
	Currency          string         `json:"currency"`
	AttemptsRemaining int            `json:"attempts_remaining"`
	Campaign          map[string]any `json:"campaign"`
	Offer             Offer          `json:"offer"`
	Lead              Lead           `json:"lead"`
}

// Offer is what is bought.
type Offer struct {
	Name               string `json:"name"`
	Price              string `json:"price"`
	Currency           string `json:"currency"`
	BillingType        string `json:"billing_type"`
	ProductName        string `json:"product_name"`
	ProductDescription string `json:"product_description"`
}

// Session reads one.
func (c *Client) Session(ctx context.Context, token string) (s Session, err error) {
	return s, c.get(ctx, sessions+segment(token), &s)
}

// CancelSession ends a session, by its token or id.
func (c *Client) CancelSession(ctx context.Context, token string) error {
	return c.do(ctx, call{method: http.MethodPost, path: sessions + segment(token) + "cancel/"})
}

// Statuses of a result.
const (
	Completed            = "completed"
	AwaitingVerification = "awaiting_verification"
	Declined             = "declined"
	Failed               = "failed"
)

// Result is what became of a payment. Status is "" while nobody knows, or before the
// first attempt.
type Result struct {
	SessionToken    string        `json:"session_token"`
	Status          string        `json:"status"`
	Livemode        bool          `json:"livemode"`
	VerificationURL string        `json:"verification_url"`
	RetryAllowed    bool          `json:"retry_allowed"`
	Amount          string        `json:"amount"`
	Currency        string        `json:"currency"`
	Transaction     *Payment      `json:"transaction"`
	Order           *Order        `json:"order"`
	Subscription    *Billing      `json:"subscription"`
	PaymentMethod   PaymentMethod `json:"payment_method"`
	SEPA            struct {
		MandateReference string `json:"mandate_reference"`
		SequenceType     string `json:"sequence_type"`
	} `json:"sepa"`
	ErrorDetails *Decline `json:"error_details"`

	// These are there in Client.Result alone.
	SessionID         string            `json:"session_id"`
	SessionStatus     string            `json:"session_status"`
	PaymentInFlight   bool              `json:"payment_in_flight"`
	TenantReferenceID string            `json:"tenant_reference_id"`
	Metadata          map[string]string `json:"metadata"`
	Attempts          []map[string]any  `json:"attempts"`
}

// Payment is the transaction of a result.
type Payment struct {
	ID                    string `json:"id"`
	MerchantTransactionID string `json:"merchant_transaction_id"`
	GatewayReference      string `json:"gateway_reference"`
	TenantReferenceID     string `json:"tenant_reference_id"`
	Status                string `json:"status"`
	Type                  string `json:"type"`
}

// Order is the purchase.
type Order struct {
	ID          string `json:"id"`
	OrderNumber string `json:"order_number"`
	Status      string `json:"status"`
}

// Billing is the subscription of a result.
type Billing struct {
	ID               string `json:"id"`
	Status           string `json:"status"`
	BillingFrequency string `json:"billing_frequency"`
	NextBillingDate  string `json:"next_billing_date"`
}

// PaymentMethod is the account, masked.
type PaymentMethod struct {
	IBANLast4   string `json:"iban_last4"`
	IBANCountry string `json:"iban_country"`
	BIC         string `json:"bic"`
	BankName    string `json:"bank_name"`
	HolderName  string `json:"holder_name"`
}

// Decline says why nothing was collected.
type Decline struct {
	Code           string `json:"code"`
	Message        string `json:"message"`
	GatewayCode    string `json:"gateway_code"`
	GatewayMessage string `json:"gateway_message"`
}

// PayRequest is what a payer hands in.
type PayRequest struct {
	IBAN              string `json:"iban"`
	HolderName        string `json:"iban_holder_name"`
	TenantReferenceID string `json:"tenant_reference_id,omitempty"`
}

// Result asks what became of a session.
func (c *Client) Result(ctx context.Context, token string) (r Result, err error) {
	return r, c.get(ctx, sessions+segment(token)+"result/", &r)
}

// Pay pays a session. A payment is sent once: where the answer is lost, or is a 500, the
// service is asked until it knows what became of it, or the context ends.
func (c *Client) Pay(ctx context.Context, token string, in PayRequest) (Result, error) {
	return c.settle(ctx, token, "pay/", in)
}

// Verify finishes a payment whose payer has confirmed the mandate at the bank. The id
// may be "".
func (c *Client) Verify(ctx context.Context, token, verificationID string) (Result, error) {
	body := map[string]string{}
	if verificationID != "" {
		body["verification_id"] = verificationID
	}
	return c.settle(ctx, token, "verify/", body)
}

// askEvery is the pause between questions about an outcome that nobody knows yet.
const askEvery = 2 * time.Second

func (c *Client) settle(ctx context.Context, token, verb string, body any) (r Result, err error) {
	sent := c.do(ctx, call{method: http.MethodPost, path: sessions + segment(token) + verb, body: body, answer: &r, isOnce: true})
	if status := StatusOf(sent); sent == nil || status != 0 && status < http.StatusInternalServerError {
		return r, sent
	}
	for {
		if r, err = c.Result(ctx, token); err != nil {
			return r, errors.Join(sent, err)
		}
		switch {
		case !r.PaymentInFlight && r.Status == "":
			return r, sent // it has never arrived
		case !r.PaymentInFlight:
			return r, nil
		}
		if err := c.wait(ctx, askEvery); err != nil {
			return r, errors.Join(sent, err)
		}
	}
}

// IBANCheck is what is known of an account number.
type IBANCheck struct {
	Valid    bool   `json:"valid"`
	BankName string `json:"bank_name"`
	BIC      string `json:"bic"`
	Error    string `json:"error"`
}

// ValidateIBAN checks an account number.
func (c *Client) ValidateIBAN(ctx context.Context, iban string) (check IBANCheck, err error) {
	return check, c.do(ctx, call{method: http.MethodPost, path: "/api/v1/iban-validate/", body: map[string]string{"iban": iban}, answer: &check})
}
