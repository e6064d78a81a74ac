package examplehttp

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"sepad/internal/gateway"
	"sepad/internal/payment"
)

// signatureHeader carries the hex HMAC-SHA256 of the body with the account's
// notification_secret.
const signatureHeader = "X-Example-Signature"

// notificationBody is a payment whose status has changed.
type notificationBody struct {
	answerBody
	Reference  string    `json:"reference"`
	Amount     int64     `json:"amount"`
	Currency   string    `json:"currency"`
	OccurredAt time.Time `json:"occurred_at"`
}

// ReceiveNotification checks and reads a notification.
func (a *Adapter) ReceiveNotification(_ context.Context, n gateway.Notification) ([]gateway.Notice, error) {
	if !hmac.Equal([]byte(n.Header.Get(signatureHeader)), []byte(sign(n.Body, a.secret))) {
		return nil, gateway.ErrForged
	}
	var body notificationBody
	if err := json.Unmarshal(n.Body, &body); err != nil || body.Amount <= 0 || body.OccurredAt.IsZero() {
		return nil, fmt.Errorf("%w: no JSON object of the expected form", gateway.ErrUnreadable)
	}
	return []gateway.Notice{{
		Transaction: payment.Transaction{
			MerchantTransactionID: body.Reference, GatewayReference: body.ID, Type: payment.Sale,
			AmountMinor: payment.Minor(body.Amount), Currency: body.Currency, ProcessedAt: body.OccurredAt.UTC(),
		},
		Outcome: outcomeOf(body.answerBody),
	}}, nil
}

func sign(body []byte, secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}
