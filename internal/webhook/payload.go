package webhook

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/record"
)

// Payload is the body of an event that a change reports: canonical JSON (RFC
// 8785), so that a receiver may check the bytes it got or write them anew.
func Payload(c payment.Change, e payment.Event) (string, error) {
	body, err := payloadBody(c, e)
	return canonicalOf(body, e, err)
}

// FullPayload is Payload with the ids of all that the event is about, and the
// purchase's metadata.
func FullPayload(c payment.Change, e payment.Event, metadata payment.Metadata) (string, error) {
	body, err := payloadBody(c, e)
	if err == nil {
		body, err = appendFull(body, c, e, metadata)
	}
	return canonicalOf(body, e, err)
}

func canonicalOf(body []byte, e payment.Event, err error) (string, error) {
	if err != nil {
		return "", err
	}
	text, err := canonical(body)
	if err != nil {
		return "", fmt.Errorf("webhook: payload of %s: %w", e.Kind, err)
	}
	return string(text), nil
}

// payloadBody is the record of what the event is about.
func payloadBody(c payment.Change, e payment.Event) ([]byte, error) {
	t := &c.Transaction
	if c.Refund != nil && c.Refund.ID == e.TransactionID {
		t = c.Refund
	}
	if e.Status != "" { // more may have happened to it since
		then := *t
		then.Status, then.UpdatedAt = e.Status, t.UpdatedAt.Add(-laterWords(c, e)*time.Microsecond)
		t = &then
	}
	switch {
	case isSessionEvent(e.Kind) && c.Session != nil:
		return appendSession(nil, c), nil
	case isSubscriptionEvent(e.Kind) && c.Subscription != nil:
		return appendSubscription(nil, c, e), nil
	case e.Kind == payment.EventMandateLapsed && c.Subscription != nil:
		return json.Marshal(lapsedBody(c.Subscription))
	case e.Kind == payment.EventChargebackCreated && c.Chargeback != nil:
		return record.Chargebacks.AppendJSON(nil, c.Chargeback), nil
	case e.Kind == payment.EventTransactionCreated:
		return record.Transactions.AppendJSON(nil, t), nil
	case e.Kind == payment.EventTransactionStatusChanged:
		return appendChanged(nil, t, e), nil
	case e.Kind == payment.EventCollectionAnnounced && !c.Plan.DueDate.IsZero():
		return json.Marshal(announcedBody(t, c.Plan))
	default:
		return nil, fmt.Errorf("webhook: the change does not report %s", e.Kind)
	}
}

// laterWords is how many further events of the same change tell of the same transaction. Whoever
// compares what is told by its instant takes the last of them for the latest.
func laterWords(c payment.Change, e payment.Event) (later time.Duration) {
	isLater := false
	for _, other := range c.Events {
		if isLater && other.Status != "" && other.TransactionID == e.TransactionID {
			later++
		}
		isLater = isLater || other.Key == e.Key
	}
	return later
}

func isSessionEvent(kind payment.EventKind) bool {
	return kind == payment.EventSessionCompleted || kind == payment.EventSessionFailed || kind == payment.EventSessionExpired
}

// appendSession writes what a merchant needs to fulfil an order, or to give it up
// (contract 6.2). A session that nobody tried to pay has no order.
func appendSession(dst []byte, c payment.Change) []byte {
	fields := [...]struct{ name, text string }{
		{"session_token", c.Session.Token},
		{"status", string(c.Session.Status)},
		{"amount", c.Transaction.AmountMinor.String()},
		{"currency", c.Transaction.Currency},
		{"email", c.Transaction.Email},
	}
	dst = append(dst, '{')
	for _, f := range fields {
		dst = append(record.AppendJSONText(dst, f.name), ':')
		dst = append(record.AppendJSONText(dst, f.text), ',')
	}
	dst = append(dst, `"order_number":`...)
	if c.Order == nil {
		dst = append(dst, "null"...)
	} else {
		dst = record.AppendJSONText(dst, c.Order.Number)
	}
	dst = append(dst, `,"tenant_reference_id":`...)
	if c.Transaction.TenantReferenceID == nil {
		return append(dst, "null}"...)
	}
	return append(record.AppendJSONText(dst, *c.Transaction.TenantReferenceID), '}')
}

// appendChanged writes a transaction with the status that it had before.
func appendChanged(dst []byte, t *payment.Transaction, e payment.Event) []byte {
	dst = record.Transactions.AppendJSON(dst, t)
	dst = append(dst[:len(dst)-1], `,"previous_status":`...)
	return append(record.AppendJSONText(dst, string(e.PreviousStatus)), '}')
}

// announced is what a merchant needs to write to the payer before a collection.
type announced struct {
	TransactionID         uuid.UUID  `json:"transaction_id"`
	MerchantTransactionID string     `json:"merchant_transaction_id"`
	TenantReferenceID     *string    `json:"tenant_reference_id"`
	SubscriptionID        *uuid.UUID `json:"subscription_id"`
	Amount                string     `json:"amount"`
	Currency              string     `json:"currency"`
	DueDate               string     `json:"due_date"`
	CreditorName          string     `json:"creditor_name"`
	CreditorIdentifier    string     `json:"creditor_identifier"`
	MandateReference      string     `json:"mandate_reference_id"`
	IBAN                  string     `json:"iban"`
}

func announcedBody(t *payment.Transaction, plan payment.Plan) announced {
	return announced{
		TransactionID: t.ID, MerchantTransactionID: t.MerchantTransactionID, TenantReferenceID: t.TenantReferenceID,
		SubscriptionID: t.SubscriptionID, Amount: t.AmountMinor.String(), Currency: t.Currency, DueDate: plan.DueDate.String(),
		CreditorName: plan.CreditorName, CreditorIdentifier: plan.CreditorIdentifier,
		MandateReference: t.MandateReference, IBAN: t.MaskedIBAN,
	}
}

// personalFields are those of a payload, at any depth, that name a person.
var personalFields = map[string]bool{
	"customer_email_csv": true, "customer_name_csv": true, "email": true, "iban": true, "bic": true,
	"report_message": true, "report_info": true, "gateway_message": true, "metadata": true,
}

// WithoutPerson is a payload in which everything that names a person is empty.
func WithoutPerson(payload string) (string, error) {
	var body any
	decoder := json.NewDecoder(strings.NewReader(payload))
	decoder.UseNumber()
	if err := decoder.Decode(&body); err != nil {
		return "", fmt.Errorf("webhook: %w", err)
	}
	forget(body)
	written, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	text, err := canonical(written)
	return string(text), err
}

// forget empties what names a person: texts stay texts, and null stays null.
func forget(value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			if !personalFields[name] {
				forget(inner)
				continue
			}
			switch inner.(type) {
			case nil:
			case map[string]any:
				v[name] = map[string]any{}
			default:
				v[name] = ""
			}
		}
	case []any:
		for _, inner := range v {
			forget(inner)
		}
	}
}
