package webhook

import (
	"fmt"

	"github.com/gowebpki/jcs"

	"sepad/internal/payment"
	"sepad/internal/record"
)

// ChangePayload is the body of an event about what happened to a payment later:
// the record of what the event is about, as canonical JSON.
func ChangePayload(c payment.Change, e payment.Event) (string, error) {
	body, err := changeBody(c, e)
	if err != nil {
		return "", err
	}
	canonical, err := jcs.Transform(body)
	if err != nil {
		return "", fmt.Errorf("webhook: payload of %s: %w", e.Kind, err)
	}
	return string(canonical), nil
}

func changeBody(c payment.Change, e payment.Event) ([]byte, error) {
	if e.Kind == payment.EventChargebackCreated && c.Chargeback != nil {
		return record.Chargebacks.AppendJSON(nil, c.Chargeback), nil
	}
	t := &c.Transaction
	if c.Refund != nil && c.Refund.ID == e.TransactionID {
		t = c.Refund
	}
	switch e.Kind {
	case payment.EventTransactionCreated:
		return record.Transactions.AppendJSON(nil, t), nil
	case payment.EventTransactionStatusChanged:
		return appendChanged(nil, t, e), nil
	default:
		return nil, fmt.Errorf("webhook: a change does not report %s", e.Kind)
	}
}

// appendChanged writes a transaction with the status that it had before.
func appendChanged(dst []byte, t *payment.Transaction, e payment.Event) []byte {
	dst = record.Transactions.AppendJSON(dst, t)
	dst = append(dst[:len(dst)-1], `,"previous_status":`...)
	return append(record.AppendJSONText(dst, string(e.PreviousStatus)), '}')
}
