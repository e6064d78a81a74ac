package record

import (
	"encoding/json"

	"github.com/google/uuid"

	"sepad/internal/payment"
)

// debitBody is what one transaction shows beyond its line in a list.
type debitBody struct {
	SequenceType     *string      `json:"sequence_type"`
	AttemptNumber    int          `json:"attempt_number"`
	RefundOf         *uuid.UUID   `json:"refund_of"`
	RefundedAmount   string       `json:"refunded_amount"`
	RefundableAmount string       `json:"refundable_amount"`
	ErrorDetails     *declineBody `json:"error_details"`
	Order            *orderBody   `json:"order"`
}

type declineBody struct {
	Code           payment.DeclineCode `json:"code"`
	Message        string              `json:"message"`
	GatewayCode    *string             `json:"gateway_code"`
	GatewayMessage *string             `json:"gateway_message"`
}

type orderBody struct {
	ID          uuid.UUID           `json:"id"`
	OrderNumber string              `json:"order_number"`
	Status      payment.OrderStatus `json:"status"`
}

// AppendDebit writes a transaction with what hangs on it as one JSON object: the
// public record and, beyond it, its order, what can be refunded, and why it was
// refused.
func AppendDebit(dst []byte, d payment.Debit) []byte {
	t := d.Transaction
	body := debitBody{
		SequenceType: payment.Given(string(t.SequenceType)), AttemptNumber: t.Attempt.Number,
		RefundOf: t.RefundOf, RefundedAmount: t.RefundedMinor.String(), RefundableAmount: t.RefundableMinor().String(),
	}
	if o := d.Order; o != nil {
		body.Order = &orderBody{o.ID, o.Number, o.Status}
	}
	if d := t.Decline; d != nil {
		body.ErrorDetails = &declineBody{d.Code, d.Words(), payment.Given(d.GatewayCode), payment.Given(d.GatewayMessage)}
	}
	more, err := json.Marshal(body)
	if err != nil {
		panic(err) // it is made of texts and numbers
	}
	dst = Transactions.AppendJSON(dst, &t)
	return append(append(dst[:len(dst)-1], ','), more[1:]...)
}

// AppendSubscription writes a subscription as one JSON object: the public record
// and, beyond it, its mandate, why it has ended or when it will, and since when it is
// paused.
func AppendSubscription(dst []byte, s payment.Subscription) []byte {
	dst = Subscriptions.AppendJSON(dst, &s)
	dst = append(dst[:len(dst)-1], `,"mandate_reference_id":`...)
	dst = append(AppendJSONText(dst, s.MandateReference), `,"cancel_reason":`...)
	dst = append(appendTextOrNull(dst, string(s.CancelReason)), `,"cancel_code":`...)
	dst = append(appendTextOrNull(dst, s.CancelCode), `,"ends_on":`...)
	dst = append(ofDate(s.EndsOn).AppendJSON(dst), `,"paused_at":`...)
	return append(ofInstant(s.PausedAt).AppendJSON(dst), '}')
}

func appendTextOrNull(dst []byte, text string) []byte {
	if text == "" {
		return append(dst, "null"...)
	}
	return AppendJSONText(dst, text)
}
