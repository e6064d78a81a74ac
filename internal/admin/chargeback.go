package admin

import (
	"net/http"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/record"
	"sepad/internal/sepa"
	"sepad/internal/store"
	"sepad/internal/web"
)

// maxReportText bounds what is noted about a chargeback.
const maxReportText = 500

// createChargeback answers POST /chargebacks/: an operator records by hand what
// no gateway has reported.
func (a *Admin) createChargeback(w http.ResponseWriter, r *http.Request) error {
	object, err := web.DecodeObject(w, r)
	if err != nil {
		return err
	}
	bad := payment.Fields{}
	transactionID, report := readChargeback(web.NewReader(object, bad), bad)
	key := a.requestKey(r, object.Source(), bad)
	if err := bad.Err(); err != nil {
		return err
	}
	tenantID, err := a.Store.TransactionOwner(r.Context(), transactionID)
	if payment.KindOf(err) == payment.NotFound {
		return payment.Fields{"transaction_id": "There is no transaction with this id."}.Err()
	}
	if err != nil {
		return err
	}
	recorded, err := a.Checkout.ChargeBack(r.Context(), tenantID, transactionID, report, key)
	if err != nil {
		return err
	}
	web.WriteBody(w, http.StatusCreated, appendOwned(nil, record.Chargebacks, &recorded, tenantID))
	return nil
}

func readChargeback(in *web.Reader, bad payment.Fields) (transactionID uuid.UUID, report payment.Chargeback) {
	if id := in.UUID("transaction_id", web.Required); id != nil {
		transactionID = *id
	}
	report = payment.Chargeback{
		Source: payment.ChargebackManual, ReasonCode: in.Text("reason_code", web.MaxLength(maxReportText)),
		ReasonMessage: in.Text("reason_message", web.MaxLength(maxReportText)),
		ReportType:    in.Text("report_type", web.MaxLength(maxReportText)),
		ReportMessage: in.Text("report_message", web.MaxLength(maxReportText)),
		ReportInfo:    in.Text("report_info", web.MaxLength(maxReportText)),
		ARN:           in.Text("arn", web.MaxLength(maxReportText)),
		Currency:      in.Currency("currency"), BankFeeMinor: in.Amount("cb_bank_fee", web.AllowZero),
	}
	if amount := in.Amount("amount"); amount != nil {
		report.AmountMinor = *amount
	}
	if report.ReasonMessage == "" && report.ReasonCode != "" {
		report.ReasonMessage = sepa.ReasonFor(report.ReasonCode).Meaning
	}
	if text := in.Text("report_date"); text != "" {
		report.ReportedAt = readReportDate("report_date", text, bad)
	}
	return transactionID, report
}

// readReportDate takes a time or a day, which begins at midnight UTC.
func readReportDate(name, text string, bad payment.Fields) time.Time {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC()
		}
	}
	bad.Add(name, name+" must be a date such as 2026-03-31 or a time such as 2026-03-31T12:00:00Z.")
	return time.Time{}
}

// showChargeback answers GET /chargebacks/{id}/.
func (a *Admin) showChargeback(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id", store.ErrNoChargeback)
	if err != nil {
		return err
	}
	tenantID, err := a.Store.ChargebackOwner(r.Context(), id)
	if err != nil {
		return err
	}
	found, err := a.Store.Tenant(tenantID).Chargeback(r.Context(), id)
	if err != nil {
		return err
	}
	web.WriteBody(w, http.StatusOK, appendOwned(nil, record.Chargebacks, &found, tenantID))
	return nil
}
