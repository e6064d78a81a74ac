package admin

import (
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/checkout"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/web"
)

// MandateBody is the evidence of a mandate, the newest agreement first.
type MandateBody struct {
	MandateReferenceID string           `json:"mandate_reference_id"`
	Acceptances        []acceptanceBody `json:"acceptances"`
}

// acceptanceBody is one agreement, and the payment that rests on it.
type acceptanceBody struct {
	TenantID              uuid.UUID                 `json:"tenant_id"`
	SessionID             uuid.UUID                 `json:"session_id"`
	TransactionID         uuid.UUID                 `json:"transaction_id"`
	MerchantTransactionID string                    `json:"merchant_transaction_id"`
	TransactionStatus     payment.TransactionStatus `json:"transaction_status"`
	AcceptedAt            string                    `json:"accepted_at"`
	AcceptanceMode        payment.AcceptanceMode    `json:"mandate_acceptance_mode"`
	Language              string                    `json:"language"`
	TextVersion           string                    `json:"text_version"`
	Text                  string                    `json:"text"`
	TextSHA256            string                    `json:"text_sha256"`
	ClientIP              *string                   `json:"client_ip"`
	UserAgent             *string                   `json:"user_agent"`
	IBANMasked            string                    `json:"iban_masked"`
	HolderName            string                    `json:"iban_holder_name"`
}

// MandateOf is the evidence as operators read it, here and on the command line.
func MandateOf(reference string, evidence []store.Evidence) MandateBody {
	body := MandateBody{MandateReferenceID: reference, Acceptances: make([]acceptanceBody, len(evidence))}
	for i, e := range evidence {
		t := e.Transaction
		body.Acceptances[i] = acceptanceBody{
			TenantID: t.TenantID, SessionID: e.SessionID, TransactionID: t.ID, MerchantTransactionID: t.MerchantTransactionID,
			TransactionStatus: t.Status, AcceptedAt: instantText(e.AcceptedAt), AcceptanceMode: e.Mode, Language: e.Language,
			TextVersion: e.TextVersion, Text: e.Text, TextSHA256: e.TextHash, ClientIP: payment.Given(e.ClientIP),
			UserAgent: payment.Given(e.UserAgent), IBANMasked: t.MaskedIBAN, HolderName: t.HolderName,
		}
	}
	return body
}

// showMandate answers GET /mandates/{reference}/.
func (a *Admin) showMandate(w http.ResponseWriter, r *http.Request) error {
	reference := r.PathValue("reference")
	evidence, err := a.Checkout.Evidence(r.Context(), reference, checkout.AdminAPI)
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, MandateOf(reference, evidence))
	return nil
}
