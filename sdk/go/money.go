package sepad

import (
	"context"
	"net/http"
	"time"
)

// Transaction is a payment, a rebill or a refund.
type Transaction struct {
	ID                    string    `json:"id"`
	MerchantTransactionID string    `json:"merchant_transaction_id"`
	TenantReferenceID     string    `json:"tenant_reference_id"`
	Status                string    `json:"status"`
	Type                  string    `json:"type"`
	Amount                string    `json:"amount"`
	Currency              string    `json:"currency"`
	DateProcessed         time.Time `json:"date_processed"`
	IBAN                  string    `json:"iban"`
	BIC                   string    `json:"bic"`
	Email                 string    `json:"customer_email_csv"`
	Name                  string    `json:"customer_name_csv"`
	MandateReferenceID    string    `json:"mandate_reference_id"`
	Source                string    `json:"source"`
	OrderID               string    `json:"order_id"`
	SubscriptionID        string    `json:"subscription_id"`
	LeadID                string    `json:"lead_id"`
	PaymentGatewayID      string    `json:"payment_gateway_id"`
	CreatedAt             time.Time `json:"created_at"`
	UpdatedAt             time.Time `json:"updated_at"`

	// These are there in Client.Transaction and Client.Refund alone, where DateProcessed is
	// zero as long as the gateway has not answered.
	SequenceType     string   `json:"sequence_type"`
	RefundOf         string   `json:"refund_of"`
	RefundedAmount   string   `json:"refunded_amount"`
	RefundableAmount string   `json:"refundable_amount"`
	ErrorDetails     *Decline `json:"error_details"`
	Order            *Order   `json:"order"`

	// PreviousStatus is there in the event transaction.status_changed alone.
	PreviousStatus string `json:"previous_status"`
}

// Transaction reads one.
func (c *Client) Transaction(ctx context.Context, id string) (t Transaction, err error) {
	return t, c.get(ctx, "/api/v1/transactions/"+segment(id), &t)
}

// RefundRequest is how much is given back; without an amount all that is left.
type RefundRequest struct {
	// IdempotencyKey names the refund, such as the number of your own record of it: after an error nobody knows whether it was
	// made, and with the same key it is made once. "" has one made for this call alone, so that the next call is another refund.
	IdempotencyKey string `json:"-"`
	Amount         string `json:"amount,omitempty"`
}

// Refund gives a payment back. The answer is the refund's own transaction.
func (c *Client) Refund(ctx context.Context, transactionID string, in RefundRequest) (t Transaction, err error) {
	path := "/api/v1/transactions/" + segment(transactionID) + "refunds/"
	return t, c.do(ctx, call{method: http.MethodPost, path: path, body: in, answer: &t, header: keyed(in.IdempotencyKey)})
}

// Chargeback is a payment that a bank took back.
type Chargeback struct {
	ID                    string    `json:"id"`
	MerchantTransactionID string    `json:"merchant_transaction_id"`
	TenantReferenceID     string    `json:"tenant_reference_id"`
	Amount                string    `json:"amount"`
	Currency              string    `json:"currency"`
	ReportDate            time.Time `json:"report_date"`
	ReasonCode            string    `json:"reason_code"`
	ReasonMessage         string    `json:"reason_message"`
	TransactionID         string    `json:"transaction_id"`
	LeadID                string    `json:"lead_id"`
	CreatedAt             time.Time `json:"created_at"`
	UpdatedAt             time.Time `json:"updated_at"`
}

// Subscription is a purchase that is billed again.
type Subscription struct {
	ID                     string    `json:"id"`
	Status                 string    `json:"status"`
	BillingAmount          string    `json:"billing_amount"`
	Currency               string    `json:"currency"`
	BillingFrequency       string    `json:"billing_frequency"`
	StartDate              time.Time `json:"start_date"`
	NextBillingDate        string    `json:"next_billing_date"`
	TrialEndDate           string    `json:"trial_end_date"`
	BillingAnchorDate      string    `json:"billing_anchor_date"`
	SuccessfulBillingCount int       `json:"successful_billing_count"`
	FailedBillingCount     int       `json:"failed_billing_count"`
	TotalRevenue           string    `json:"total_revenue"`
	OrderID                string    `json:"order_id"`
	LeadID                 string    `json:"lead_id"`
	CreatedAt              time.Time `json:"created_at"`
	UpdatedAt              time.Time `json:"updated_at"`

	// These are not there in lists.
	MandateReferenceID string     `json:"mandate_reference_id"`
	CancelReason       string     `json:"cancel_reason"`
	CancelCode         string     `json:"cancel_code"`
	EndsOn             string     `json:"ends_on"`
	PausedAt           *time.Time `json:"paused_at"`

	// TransactionID is there in events alone: the collection by which it came to be so.
	TransactionID string `json:"transaction_id"`
}

const subscriptions = "/api/v1/subscriptions/"

// Subscription reads one.
func (c *Client) Subscription(ctx context.Context, id string) (s Subscription, err error) {
	return s, c.get(ctx, subscriptions+segment(id), &s)
}

// CancelAt is when a subscription ends.
type CancelAt string

const (
	Now       CancelAt = "now"
	PeriodEnd CancelAt = "period_end"
)

// CancelSubscription ends a subscription. A repeat of one that has ended is a 409.
func (c *Client) CancelSubscription(ctx context.Context, id string, at CancelAt) (Subscription, error) {
	return c.steer(ctx, id, "cancel/", map[string]CancelAt{"at": at})
}

// PauseSubscription has nothing billed until ResumeSubscription.
func (c *Client) PauseSubscription(ctx context.Context, id string) (Subscription, error) {
	return c.steer(ctx, id, "pause/", struct{}{})
}

// ResumeSubscription goes on with the next period that begins.
func (c *Client) ResumeSubscription(ctx context.Context, id string) (Subscription, error) {
	return c.steer(ctx, id, "resume/", struct{}{})
}

// Terms are what is to change; what is "" stays.
type Terms struct {
	Amount          string `json:"amount,omitempty"`
	NextBillingDate string `json:"next_billing_date,omitempty"`
}

// ChangeSubscription gives a subscription another price or another day.
func (c *Client) ChangeSubscription(ctx context.Context, id string, to Terms) (Subscription, error) {
	return c.steer(ctx, id, "change/", to)
}

func (c *Client) steer(ctx context.Context, id, verb string, body any) (s Subscription, err error) {
	return s, c.do(ctx, call{method: http.MethodPost, path: subscriptions + segment(id) + verb, body: body, answer: &s})
}

// NewMandate makes a session in which the payer gives another account.
func (c *Client) NewMandate(ctx context.Context, subscriptionID string, options SessionOptions) (created CreatedSession, err error) {
	path := subscriptions + segment(subscriptionID) + "new-mandate/"
	return created, c.do(ctx, call{method: http.MethodPost, path: path, body: options, answer: &created, header: keyed("")})
}

// Mandate is what a payer agreed to.
type Mandate struct {
	MandateReferenceID string       `json:"mandate_reference_id"`
	SubscriptionID     string       `json:"subscription_id"`
	Acceptances        []Acceptance `json:"acceptances"`
}

// Acceptance is one agreement.
type Acceptance struct {
	SessionID     string    `json:"session_id"`
	TransactionID string    `json:"transaction_id"`
	AcceptedAt    time.Time `json:"accepted_at"`
	Language      string    `json:"language"`
	Text          string    `json:"text"`
	TextSHA256    string    `json:"text_sha256"`
	ClientIP      string    `json:"client_ip"`
	UserAgent     string    `json:"user_agent"`
	IBANMasked    string    `json:"iban_masked"`
	HolderName    string    `json:"iban_holder_name"`
}

// Mandate reads the evidence of a mandate.
func (c *Client) Mandate(ctx context.Context, reference string) (m Mandate, err error) {
	return m, c.get(ctx, "/api/v1/mandates/"+segment(reference), &m)
}
