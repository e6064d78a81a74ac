package dashboard

import (
	"errors"
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/banking"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/web"
)

// bankTakeInView is where a bank's file from a portal is taken in, or what came of one.
type bankTakeInView struct {
	Gateways []choice
	Problems []string
	// Readings are what became of the file that was just sent, one for each message in it.
	Readings []banking.Reading
	IsDryRun bool
}

// showBankTakeIn answers GET /dashboard/bank-statements/new/.
func (d *Dashboard) showBankTakeIn(w http.ResponseWriter, r *http.Request) error {
	return d.bankTakeIn(w, r, http.StatusOK, bankTakeInView{})
}

func (d *Dashboard) bankTakeIn(w http.ResponseWriter, r *http.Request, status int, shown bankTakeInView) error {
	setups, err := d.setups(r.Context())
	if err != nil {
		return err
	}
	for _, of := range setups {
		for _, account := range sorted(of.Gateways, func(g merchant.GatewayAccount) string { return g.Name }) {
			_, err := d.Banking.AccountOf(r.Context(), of.Tenant.ID, account.ID)
			switch isNone := errors.Is(err, banking.ErrNoBank) || !account.Active; { // which may be half set up
			case err == nil:
				shown.Gateways = append(shown.Gateways, choice{account.ID.String(), of.Tenant.Name + ": " + account.Name})
			case !isNone:
				return err
			}
		}
	}
	return d.render(w, r, status, "bank_take_in", d.view(r, "Take a bank's file in", shown))
}

// takeBankFileIn answers POST /dashboard/bank-statements/ when the file has been read.
func (d *Dashboard) takeBankFileIn(w http.ResponseWriter, r *http.Request) error {
	upload, err := web.ReadUpload(w, r)
	if err != nil {
		return d.refuseBankFile(w, r, err)
	}
	account, err := d.bankNamed(r, upload.Field("gateway_id"))
	if err != nil {
		return d.refuseBankFile(w, r, err)
	}
	file, err := banking.HandIn(upload.File)
	if errors.Is(err, banking.ErrTooLarge) {
		err = payment.Fields{"file": "A bank's file has at most 256 MiB."}.Err()
	}
	if err != nil {
		return d.refuseBankFile(w, r, err)
	}
	shown := bankTakeInView{IsDryRun: upload.Field("dry_run") == "true"}
	if shown.Readings, err = d.Banking.ReadFile(r.Context(), account, "upload", file, shown.IsDryRun); err != nil {
		return d.refuseBankFile(w, r, err)
	}
	return d.bankTakeIn(w, r, http.StatusOK, shown)
}

// bankNamed finds the account that a form names.
func (d *Dashboard) bankNamed(r *http.Request, text string) (*banking.Account, error) {
	noBank := payment.Fields{"gateway_id": "Say which bank gateway the file is from."}.Err()
	id, err := uuid.Parse(text)
	if err != nil {
		return nil, noBank
	}
	owner, _, found, err := d.Store.RecordOwner(r.Context(), id)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, noBank
	}
	account, err := d.Banking.AccountOf(r.Context(), owner, id)
	if errors.Is(err, banking.ErrNoBank) {
		err = noBank
	}
	return account, err
}

// refuseBankFile shows the form again with what was wrong; other errors are passed on.
func (d *Dashboard) refuseBankFile(w http.ResponseWriter, r *http.Request, err error) error {
	bad := badFields(err)
	if bad == nil {
		return err
	}
	return d.bankTakeIn(w, r, http.StatusBadRequest, bankTakeInView{Problems: sentences(bad)})
}
