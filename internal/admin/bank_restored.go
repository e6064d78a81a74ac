package admin

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/banking"
	"sepad/internal/payment"
	"sepad/internal/web"
)

// After a restore an account at a bank waits until somebody has made sure what the bank was sent since the backup.

// BankAdoptionsBody is what became of files that were taken in after a restore.
type BankAdoptionsBody struct {
	Results []bankAdoptionBody `json:"results"`
	// UnknownPayments are those of such files that have no transaction here, or not yet.
	UnknownPayments int `json:"unknown_payments"`
}

type bankAdoptionBody struct {
	Name      string `json:"name"`
	MessageID string `json:"message_id"`
	Count     int    `json:"count"`
	IsKnown   bool   `json:"is_known"`
}

// BankAdoptionsOf shows what became of them.
func BankAdoptionsOf(ctx context.Context, b *banking.Banking, account *banking.Account, adoptions []banking.Adoption) (body BankAdoptionsBody, err error) {
	body.Results = make([]bankAdoptionBody, len(adoptions))
	for i, one := range adoptions {
		body.Results[i] = bankAdoptionBody(one)
	}
	body.UnknownPayments, err = b.Checkout.Store.Tenant(account.Setup.Tenant.ID).CountAdopted(ctx, account.ID)
	return body, err
}

// adoptBankFile answers POST /bank-files/adopt/ with a file of ours that left after the backup.
func (a *Admin) adoptBankFile(w http.ResponseWriter, r *http.Request) error {
	upload, err := web.ReadUpload(w, r)
	if err != nil {
		return err
	}
	account, file, err := a.bankUpload(r, upload, payment.Fields{})
	if err != nil {
		return err
	}
	adoptions, err := a.Banking.Adopt(r.Context(), account, "upload", file)
	if err != nil {
		return err
	}
	body, err := BankAdoptionsOf(r.Context(), a.Banking, account, adoptions)
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusCreated, body)
	return nil
}

var errNotWaiting = &payment.Error{Kind: payment.Conflict, Detail: "The account does not wait after a restore."}

// bankResumedBody is an account that goes on.
type bankResumedBody struct {
	GatewayID uuid.UUID `json:"gateway_id"`
	// RestoredTo is the instant of the backup.
	RestoredTo string `json:"restored_to"`
}

// resumeBank answers POST /bank-connections/resume/ {"gateway_id"}: a person's word that every file since the backup is known.
func (a *Admin) resumeBank(w http.ResponseWriter, r *http.Request) error {
	account, err := a.accountInBody(w, r)
	if err != nil {
		return err
	}
	restoredTo, err := a.Banking.Resume(r.Context(), account)
	if err == nil && restoredTo.IsZero() {
		err = errNotWaiting
	}
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, bankResumedBody{GatewayID: account.ID, RestoredTo: instantText(restoredTo)})
	return nil
}
