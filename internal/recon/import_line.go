package recon

import (
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/sepa"
)

// maxCell bounds a text of a file in code points.
const maxCell = 500

// cellReader reads the cells of a line and keeps the first thing that is wrong.
type cellReader struct {
	*line
	wrong error
}

func (r *cellReader) say(name, sentence string) {
	if r.wrong == nil {
		r.wrong = errors.New(name + " " + sentence + ".")
	}
}

// text reads a cell that may be empty.
func (r *cellReader) text(name string) string {
	raw := r.field(name)
	if len(raw) == 0 {
		return ""
	}
	text := unguarded(decodeText(raw))
	switch {
	case len(text) <= maxCell && isPlain(text): // as nearly all are
	case strings.ContainsFunc(text, unicode.IsControl):
		r.say(name, "may not contain control characters")
	case utf8.RuneCountInString(text) > maxCell:
		r.say(name, "may have at most 500 characters")
	}
	return text
}

// words reads a cell that is kept in the open, in which a processor may have named an account.
func (r *cellReader) words(name string) string { return sepa.MaskIBANs(r.text(name)) }

// isPlain tells texts of nothing but letters, digits and signs that every keyboard has.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// reference reads a cell that names something.
func (r *cellReader) reference(name string) string {
	const longest = 255
	text := r.text(name)
	switch {
	case len(text) <= longest && isPlain(text):
	case utf8.RuneCountInString(text) > longest:
		r.say(name, "may have at most 255 characters")
	case strings.ContainsFunc(text, isUnseen):
		r.say(name, "may not contain characters that cannot be seen")
	}
	return text
}

// isUnseen tells characters by which two names differ that look alike.
func isUnseen(r rune) bool { return unicode.Is(unicode.Cf, r) }

// amount reads money. Processors write what goes back with a minus, or without.
func (r *cellReader) amount(name string, mayBeNegative bool) payment.Minor {
	text := r.text(name)
	amount, negative, err := parseAmount(text)
	switch {
	case text == "":
		r.say(name, "is required")
	case err != nil:
		r.say(name, err.Error())
	case negative && !mayBeNegative:
		r.say(name, "is below zero in a sale")
	}
	return amount
}

func (r *cellReader) currency(name string) string {
	code := strings.ToUpper(r.text(name))
	if !payment.KnownCurrency(code) {
		r.say(name, "must be an ISO 4217 currency code")
	}
	return code
}

// instant reads a time, the zero one where the cell is empty and need not be.
func (r *cellReader) instant(name string, isNeeded bool) time.Time {
	text := r.text(name)
	if text == "" {
		if isNeeded {
			r.say(name, "is required")
		}
		return time.Time{}
	}
	at, err := parseInstant(text)
	switch {
	case err != nil:
		r.say(name, err.Error())
	case at.Before(earliest) || at.After(r.latest):
		r.say(name, "is no day on which this can have been: "+payment.DateOf(at).String())
	}
	return at
}

// earliest is before every direct debit and every mandate that is still good.
var earliest = time.Date(1970, time.January, 1, 0, 0, 0, 0, time.UTC)

// farthest is how far ahead of our clock a file's may run.
const farthest = 366 * 24 * time.Hour

// iban reads an account number and keeps what may be shown of it.
func (r *cellReader) iban(name string) (masked, country string) {
	text := r.text(name)
	if len(text) >= 2 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'A' && text[1] <= 'Z' {
		country = text[:2]
	}
	return sepa.MaskText(text), country
}

// readCompared reads what is compared of a line of a transactions file.
func (l *line) readCompared() (payment.Transaction, error) {
	r := cellReader{line: l}
	t := r.compared()
	return t, r.wrong
}

func (r *cellReader) compared() payment.Transaction {
	t := payment.Transaction{
		MerchantTransactionID: r.reference("merchant_transaction_id"),
		GatewayReference:      r.reference("adapter_unique_id"), ProcessorID: r.reference("transaction_id"),
		Type: r.transactionType(), Currency: r.currency("currency"), ProcessedAt: r.instant("date_processed", true),
	}
	if t.MerchantTransactionID == "" {
		r.say("merchant_transaction_id", "is required")
	}
	if t.GatewayReference == "" { // many files have one id, under either name
		t.GatewayReference, t.ProcessorID = t.ProcessorID, ""
	}
	t.Status = r.status()
	t.AmountMinor = r.amount("amount", t.Type == payment.Refund)
	return t
}

// readTransaction reads all of such a line.
func (l *line) readTransaction() (payment.Transaction, error) {
	r := cellReader{line: l}
	t := r.compared()
	t.BIC, t.Email, t.HolderName = r.words("bic"), r.words("customer_email_csv"), r.words("customer_name_csv")
	t.MandateReference, t.MandateAt = r.text("mandate_reference_id"), r.instant("mandate_date", false)
	t.MaskedIBAN, t.IBANCountry = r.iban("iban")
	return t, r.wrong
}

func (r *cellReader) status() payment.TransactionStatus {
	text := r.text("status")
	status, known := r.statuses[text]
	if !known {
		status, known = r.statuses[strings.ToLower(text)]
	}
	if !known {
		r.say("status", "is none that is known")
	}
	return status
}

// transactionType reads the standardized type, and our own finer ones.
func (r *cellReader) transactionType() payment.TransactionType {
	switch text := payment.TransactionType(strings.ToLower(r.text("type"))); text {
	case "":
		return payment.Sale
	case payment.Sale, payment.Rebill, payment.Refund, payment.Mandate, "other_type":
		return text
	default:
		r.say("type", "is none that is known")
		return ""
	}
}

// readChargeback reads a line of a chargebacks file. The second text is the
// processor's id of the payment, where the line has one of its own.
func (l *line) readChargeback() (payment.Chargeback, string, error) {
	r := cellReader{line: l}
	c := payment.Chargeback{
		MerchantTransactionID: r.reference("merchant_transaction_id"), GatewayReference: r.reference("adapter_unique_id"),
		AmountMinor: r.amount("amount", true), Currency: r.currency("currency"),
		ReportedAt: r.instant("report_date", true), TransactionAt: r.instant("transaction_date", false),
		ReasonCode: r.words("reason_code"), ReasonMessage: r.words("reason_message"), ReportType: r.words("report_type"),
		ReportMessage: r.words("report_message"), ReportInfo: r.words("report_info"), ARN: r.words("arn"),
		BIC: r.words("bic"), Email: r.words("email"), Country: r.words("country"),
	}
	c.MaskedIBAN, _ = r.iban("iban")
	if r.text("cb_bank_fee") != "" {
		fee := r.amount("cb_bank_fee", true)
		c.BankFeeMinor = &fee
	}
	if c.ReasonMessage == "" && c.ReasonCode != "" {
		c.ReasonMessage = sepa.ReasonFor(c.ReasonCode).Meaning
	}
	// In our own exports this column is our id, which tells nothing here.
	paymentID := r.reference("transaction_id")
	if _, err := uuid.Parse(paymentID); err == nil {
		paymentID = ""
	}
	if c.MerchantTransactionID == "" && c.GatewayReference == "" && paymentID == "" {
		r.say("merchant_transaction_id", "is required where no processor's id is given")
	}
	if c.AmountMinor == 0 {
		r.say("amount", "must be more than 0")
	}
	return c, paymentID, r.wrong
}
