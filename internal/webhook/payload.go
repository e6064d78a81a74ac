package webhook

import (
	"fmt"

	"github.com/gowebpki/jcs"

	"sepad/internal/payment"
	"sepad/internal/record"
)

// Payload is the body of an event that a settlement reports: canonical JSON
// (RFC 8785), so that a receiver may check the bytes it got or write them anew.
func Payload(s payment.Settlement, e payment.Event) (string, error) {
	var body []byte
	switch e.Kind {
	case payment.EventSessionCompleted:
		body = appendCompleted(nil, s)
	case payment.EventTransactionCreated:
		body = record.Transactions.AppendJSON(nil, &s.Transaction)
	case payment.EventTransactionStatusChanged:
		body = appendChanged(nil, &s.Transaction, e)
	default:
		return "", fmt.Errorf("webhook: a settlement does not report %s", e.Kind)
	}
	canonical, err := jcs.Transform(body)
	if err != nil {
		return "", fmt.Errorf("webhook: payload of %s: %w", e.Kind, err)
	}
	return string(canonical), nil
}

// appendCompleted writes what a merchant needs to fulfil an order (contract 6.2).
func appendCompleted(dst []byte, s payment.Settlement) []byte {
	fields := [...]struct{ name, text string }{
		{"session_token", s.Session.Token},
		{"status", string(s.Session.Status)},
		{"order_number", s.Order.Number},
		{"amount", s.Transaction.AmountMinor.String()},
		{"currency", s.Transaction.Currency},
		{"email", s.Lead.Email},
	}
	dst = append(dst, '{')
	for _, f := range fields {
		dst = append(record.AppendJSONText(dst, f.name), ':')
		dst = append(record.AppendJSONText(dst, f.text), ',')
	}
	dst = append(dst, `"tenant_reference_id":`...)
	if s.Transaction.TenantReferenceID == nil {
		return append(dst, "null}"...)
	}
	return append(record.AppendJSONText(dst, *s.Transaction.TenantReferenceID), '}')
}
