package recon

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"sepad/internal/checkout"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// chargebackRest is what a line says of a chargeback beside what is compared. The bank's
// reason decides what follows for a subscription, its fee is in the totals; the payer stays
// in the file.
type chargebackRest struct {
	PaymentID     string         `json:"payment_id,omitempty"`
	TransactionAt time.Time      `json:"transaction_at,omitzero"`
	ReasonCode    string         `json:"reason_code,omitempty"`
	ReasonMessage string         `json:"reason_message,omitempty"`
	ReportType    string         `json:"report_type,omitempty"`
	ReportMessage string         `json:"report_message,omitempty"`
	ReportInfo    string         `json:"report_info,omitempty"`
	ARN           string         `json:"arn,omitempty"`
	BankFeeMinor  *payment.Minor `json:"bank_fee_minor,omitempty"`
}

// restOf writes it as the line has it beside our records, until it is recorded.
func restOf(c payment.Chargeback, paymentID string) (string, error) {
	text, err := json.Marshal(chargebackRest{
		paymentID, c.TransactionAt, c.ReasonCode, c.ReasonMessage, c.ReportType, c.ReportMessage, c.ReportInfo, c.ARN, c.BankFeeMinor,
	})
	return string(text), err
}

// reportedBy is the chargeback that a line reports.
func reportedBy(line *store.Compared) (c checkout.ReportedChargeback, err error) {
	var rest chargebackRest
	if err := json.Unmarshal([]byte(line.Rest), &rest); err != nil {
		return c, err
	}
	return checkout.ReportedChargeback{PaymentID: rest.PaymentID, Chargeback: payment.Chargeback{
		MerchantTransactionID: line.MerchantTransactionID, GatewayReference: line.GatewayReference,
		AmountMinor: line.AmountMinor, Currency: line.Currency, ReportedAt: line.ProcessedAt, TransactionAt: rest.TransactionAt,
		ReasonCode: rest.ReasonCode, ReasonMessage: rest.ReasonMessage, ReportType: rest.ReportType, ReportMessage: rest.ReportMessage,
		ReportInfo: rest.ReportInfo, ARN: rest.ARN, BankFeeMinor: rest.BankFeeMinor,
	}}, nil
}

// applyChargebacks records what the file reports as charged back, and says which
// lines have changed something.
func (r *running) applyChargebacks(ctx context.Context, lines []store.Mismatch) (done []bool, err error) {
	for batch := range slices.Chunk(lines, chargebackBatch) {
		report := checkout.ChargebackReport{GatewayID: r.GatewayID, Source: payment.ChargebackReconciled}
		for _, m := range batch {
			reported, err := reportedBy(m.File)
			if err != nil {
				return done, err
			}
			report.Chargebacks = append(report.Chargebacks, reported)
		}
		answers, err := r.Checkout.TakeChargebacks(ctx, r.setup, report)
		if err != nil {
			return done, err
		}
		for _, a := range answers {
			done = append(done, a.Refused == nil && a.Taken != payment.TakenUnchanged)
		}
	}
	return done, nil
}
