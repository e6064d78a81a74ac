package api

import (
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/web"
)

// evidenceBody is a mandate with the evidence, the newest agreement first.
type evidenceBody struct {
	MandateReferenceID string          `json:"mandate_reference_id"`
	SubscriptionID     *uuid.UUID      `json:"subscription_id"`
	Acceptances        []agreementBody `json:"acceptances"`
}

// agreementBody is what a payer agreed to, and the payment that rests on it.
type agreementBody struct {
	SessionID             uuid.UUID                 `json:"session_id"`
	TransactionID         uuid.UUID                 `json:"transaction_id"`
	MerchantTransactionID string                    `json:"merchant_transaction_id"`
	TransactionStatus     payment.TransactionStatus `json:"transaction_status"`
	AcceptedAt            *string                   `json:"accepted_at"`
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

// showMandate answers GET /mandates/{reference}/ (contract 4.12).
func (a *API) showMandate(w http.ResponseWriter, r *http.Request, caller store.Credential) error {
	reference := r.PathValue("reference")
	evidence, err := a.Checkout.EvidenceOf(r.Context(), caller.TenantID, reference)
	if err != nil {
		return err
	}
	body := evidenceBody{MandateReferenceID: reference, Acceptances: make([]agreementBody, len(evidence))}
	for i, e := range evidence {
		t := e.Transaction
		if body.SubscriptionID == nil {
			body.SubscriptionID = t.SubscriptionID
		}
		body.Acceptances[i] = agreementBody{
			SessionID: e.SessionID, TransactionID: t.ID, MerchantTransactionID: t.MerchantTransactionID, TransactionStatus: t.Status,
			AcceptedAt: instant(e.AcceptedAt), AcceptanceMode: e.Mode, Language: e.Language, TextVersion: e.TextVersion, Text: e.Text,
			TextSHA256: e.TextHash, ClientIP: payment.Given(e.ClientIP), UserAgent: payment.Given(e.UserAgent), IBANMasked: t.MaskedIBAN, HolderName: t.HolderName,
		}
	}
	web.WriteJSON(w, r, http.StatusOK, body)
	return nil
}
