package sandbox

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"sepad/internal/gateway"
	"sepad/internal/payment"
	"sepad/internal/sepa"
)

// SignatureHeader carries the hex HMAC-SHA256 of a notification's body with the
// account's notification_secret.
const SignatureHeader = "X-Sandbox-Signature"

// What a notification reports.
const (
	eventSettled     = "payment.settled"
	eventRefused     = "payment.refused"
	eventChargedBack = "payment.charged_back"
)

// notificationBody is what the sandbox sends.
type notificationBody struct {
	Event                 string    `json:"event"`
	MerchantTransactionID string    `json:"merchant_transaction_id"`
	Reference             string    `json:"reference"`
	Type                  string    `json:"type"`
	Amount                string    `json:"amount"`
	Currency              string    `json:"currency"`
	OccurredAt            time.Time `json:"occurred_at"`
	ReasonCode            string    `json:"reason_code,omitempty"`
	Reason                string    `json:"reason,omitempty"`
}

// Announce gives what the sandbox reports of a payment whose time has come.
func (a *Adapter) Announce(ctx context.Context, merchantTransactionID string, at time.Time) (gateway.Notification, error) {
	e, found, err := a.ledger.Find(ctx, a.key(merchantTransactionID))
	if err == nil && !found {
		err = fmt.Errorf("sandbox: there is no payment %s", merchantTransactionID)
	}
	if err == nil && e.State == StatePending && !at.Before(e.SettlesAt) {
		e, err = move(ctx, a.ledger, e, e.Outcome.settledState(), e.SettlesAt)
	}
	if err != nil {
		return gateway.Notification{}, err
	}
	return a.signed(bodyOf(e))
}

func bodyOf(e Entry) notificationBody {
	body := notificationBody{
		Event: eventSettled, MerchantTransactionID: e.MerchantTransactionID, Reference: e.Reference, Type: string(e.Type),
		Amount: e.AmountMinor.String(), Currency: e.Currency, OccurredAt: e.DecidedAt,
	}
	switch {
	case e.State == StateDeclined:
		body.Event, body.ReasonCode, body.Reason = eventRefused, reasonCodes[e.Outcome], refusalWords[e.Outcome]
	case !e.ChargebackAt.IsZero():
		body.Event, body.OccurredAt, body.ReasonCode = eventChargedBack, e.ChargebackAt, returnCodes[e.Outcome]
	}
	return body
}

func (a *Adapter) signed(body notificationBody) (gateway.Notification, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return gateway.Notification{}, err
	}
	return gateway.Notification{Header: http.Header{SignatureHeader: {Sign(text, a.secret)}}, Body: text}, nil
}

// Sign is the signature of a notification's body.
func Sign(body []byte, secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// ReceiveNotification checks and reads a notification.
func (a *Adapter) ReceiveNotification(_ context.Context, n gateway.Notification) ([]gateway.Notice, error) {
	given := n.Header.Get(SignatureHeader)
	if !hmac.Equal([]byte(given), []byte(Sign(n.Body, a.secret))) {
		return nil, gateway.ErrForged
	}
	var body notificationBody
	if err := json.Unmarshal(n.Body, &body); err != nil {
		return nil, fmt.Errorf("%w: no JSON object of the expected form", gateway.ErrUnreadable)
	}
	amount, err := payment.ParseMinor(body.Amount)
	if err != nil || !payment.KnownCurrency(body.Currency) || body.OccurredAt.IsZero() {
		return nil, fmt.Errorf("%w: amount, currency or occurred_at is missing or wrong", gateway.ErrUnreadable)
	}
	notice := gateway.Notice{Transaction: payment.Transaction{
		MerchantTransactionID: body.MerchantTransactionID, GatewayReference: body.Reference,
		Type: typeOf(body.Type), AmountMinor: amount, Currency: body.Currency, ProcessedAt: body.OccurredAt.UTC(),
	}}
	err = readEvent(&notice, body)
	return []gateway.Notice{notice}, err
}

// typeOf takes a sale for granted where nothing is said.
func typeOf(text string) payment.TransactionType {
	switch t := payment.TransactionType(text); t {
	case payment.Rebill, payment.Refund, payment.Mandate:
		return t
	default:
		return payment.Sale
	}
}

// readEvent says what has happened to the payment.
func readEvent(n *gateway.Notice, body notificationBody) error {
	switch body.Event {
	case eventSettled:
		n.Outcome.Verdict = payment.VerdictApproved
	case eventRefused:
		n.Outcome.Verdict, n.Outcome.Decline = payment.VerdictDeclined, gateway.DeclineFor(body.ReasonCode, body.Reason)
	case eventChargedBack:
		reason := sepa.ReasonFor(body.ReasonCode)
		n.Chargeback = &payment.Chargeback{
			MerchantTransactionID: body.MerchantTransactionID, GatewayReference: body.Reference,
			AmountMinor: n.Transaction.AmountMinor, Currency: body.Currency, ReportedAt: body.OccurredAt.UTC(),
			ReasonCode: reason.Code, ReasonMessage: reason.Meaning, ReportType: "notification", ReportMessage: body.Reason,
		}
	default:
		return fmt.Errorf("%w: the event %q is not known", gateway.ErrUnreadable, body.Event)
	}
	return nil
}
