package dashboard

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"sepad/internal/banking"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/web"
)

// bankFileView is a file for a bank with what is in it, and how the bank's words agree
// with our records.
type bankFileView struct {
	objectView
	Entries []store.BankFileEntry
	// IsCut tells that there are more.
	IsCut    bool
	Matching banking.Matching
	// Download is where the file can be had, "" while it is being written or for who may not.
	Download string
}

// shownEntries is how many payments of a file a page lists.
const shownEntries = 500

const bankContentPath = bankFilesPath + "{id}/content/"

func (d *Dashboard) findBankFile(r *http.Request) (store.BankFile, names, error) {
	tenantID, id, n, err := d.named(r, func(r *http.Request, id uuid.UUID) (uuid.UUID, error) { return d.Store.BankFileOwner(r.Context(), id) })
	if err != nil {
		return store.BankFile{}, n, err
	}
	file, err := d.Store.Tenant(tenantID).BankFile(r.Context(), id)
	return file, n, err
}

// showBankFile answers GET /dashboard/bank-files/{id}/.
func (d *Dashboard) showBankFile(w http.ResponseWriter, r *http.Request) error {
	f, n, err := d.findBankFile(r)
	if err != nil {
		return err
	}
	shown := bankFileView{objectView: objectView{
		List: "bank-files", ListTitle: "Bank files", Title: f.Name, Status: status(f.State), Headline: f.SumMinor.String() + " " + euro, Note: f.Problem,
		Facts: said([]fact{
			{"Kind", text(string(f.Kind))},
			{"Payments", text(strconv.Itoa(f.Count))},
			{"Earliest due", text(f.DueDate)},
			{"Collects", text(strings.TrimSpace(f.CreditorName + " " + f.CreditorIdentifier))},
			{"Gateway", text(n.of(f.GatewayID))},
			{"Format", text(f.Format)},
			{"Message", text(f.MessageID)},
			{"Size", text(fmt.Sprintf("%d bytes", f.SizeBytes))},
			{"Begun", when(f.CreatedAt)},
			{"Last change", when(f.UpdatedAt)},
			{"Tenant", text(n.of(f.TenantID))},
			{"Id", text(f.ID.String())},
		}),
	}}
	if f.State.IsWritten() && may(r, http.MethodGet, bankContentPath) {
		shown.Download = bankFilesPath + f.ID.String() + "/content/"
	}
	entries, err := d.Store.Tenant(f.TenantID).BankFileEntries(r.Context(), f.ID, 0, shownEntries+1)
	if err != nil {
		return err
	}
	shown.Entries, shown.IsCut = entries[:min(len(entries), shownEntries)], len(entries) > shownEntries
	if shown.Matching, err = d.Banking.Match(r.Context(), f); err != nil {
		return err
	}
	return d.page(w, r, "bank_file", f.Name, shown)
}

// downloadBankFile answers GET /dashboard/bank-files/{id}/content/ with the very bytes,
// for a bank's portal.
func (d *Dashboard) downloadBankFile(w http.ResponseWriter, r *http.Request) error {
	f, _, err := d.findBankFile(r)
	if err != nil {
		return err
	}
	file := &web.Download{ResponseWriter: w, Request: r, ContentType: "application/xml", Name: f.Name}
	err = d.Banking.Download(r.Context(), f, file)
	if err != nil && file.HasBegun {
		return errors.Join(http.ErrAbortHandler, err) // half of it is gone already
	}
	return err
}

const assignPath = bankLinesPath + "{id}/assign/"

// showBankLine answers GET /dashboard/bank-entries/{id}/.
func (d *Dashboard) showBankLine(w http.ResponseWriter, r *http.Request) error {
	tenantID, id, n, err := d.named(r, d.bankLineOwner)
	if err != nil {
		return err
	}
	l, err := d.Store.Tenant(tenantID).BankLine(r.Context(), id)
	if err != nil {
		return err
	}
	shown := objectView{
		List: "bank-entries", ListTitle: "Entries of banks", Title: "Entry of " + n.of(l.GatewayID), Status: status(l.Result), Headline: lineAmount(l).Text,
		Facts: said([]fact{
			{"Booked", text(l.BookingDate)},
			{"Kind", text(l.Kind)},
			{"Message", text(l.Source)},
			{"Reference", text(l.Reference)},
			{"Reason", text(l.Reason)},
			{"What it says", text(d.Banking.Text(r.Context(), l))},
			{"Charges", money(l.ChargesMinor, l.Currency)},
			{"What became of it", text(l.Note)},
			{"Gateway", text(n.of(l.GatewayID))},
			{"Tenant", text(n.of(tenantID))},
			{"Id", text(id.String())},
		}),
		Related: []fact{{"Answer", cell{Text: "All entries of the file", Href: bankLinesPath + "?statement_id=" + l.StatementID.String()}}},
	}
	if l.TransactionID != nil {
		shown.Related = append(shown.Related, fact{"Payment", to("transactions", *l.TransactionID, "Payment")})
	}
	if l.IsOpen() {
		shown.Note = "It belongs to nothing that is known here: a person has to say what it is."
		shown.add(r, assignPath, action{
			Title: "Assign to a payment", Path: bankLinesPath + id.String() + "/assign/", Button: "Assign", Sure: "Assign " + lineAmount(l).Text + " to this payment?",
			Sentence: "Says that this entry of " + lineAmount(l).Text + " belongs to a payment of a bank file, and does to it what the entry says: money that came settles it, " +
				"money that went back is a chargeback with its reason. The merchant is told by an event, and it cannot be taken back.",
			Fields: []field{{Name: "payment", Label: "Payment", Hint: "Its id, or its reference such as TXN-20260101-AB12CD34.", Required: true}},
		})
	}
	return d.page(w, r, "object", shown.Title, shown)
}

func (d *Dashboard) bankLineOwner(r *http.Request, id uuid.UUID) (uuid.UUID, error) {
	return d.Store.BankLineOwner(r.Context(), id)
}

// paymentNamed finds the payment that a person means by its id or its reference.
func (d *Dashboard) paymentNamed(r *http.Request, tenantID uuid.UUID, typed string) (uuid.UUID, error) {
	typed = strings.TrimSpace(typed)
	if id, err := uuid.Parse(typed); err == nil {
		return id, nil
	}
	noPayment := payment.Fields{"payment": "There is no payment of this id or reference."}.Err()
	if typed == "" {
		return uuid.Nil, noPayment
	}
	search := listing.TransactionSearch{Common: listing.Common{TenantID: tenantID}, MerchantTransactionID: strings.ToUpper(typed)}
	found, err := listing.SearchTransactions(r.Context(), d.Store, search, listing.Paging{Limit: 1})
	if err != nil {
		return uuid.Nil, err
	}
	if len(found.Rows) == 0 {
		return uuid.Nil, noPayment
	}
	return found.Rows[0].Transaction.ID, nil
}

// assignBankLine answers POST /dashboard/bank-entries/{id}/assign/.
func (d *Dashboard) assignBankLine(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	tenantID, id, _, err := d.named(r, d.bankLineOwner)
	if err != nil {
		return err
	}
	paymentID, err := d.paymentNamed(r, tenantID, form.Get("payment"))
	if err != nil {
		return err
	}
	if _, err := d.Banking.Assign(r.Context(), tenantID, id, paymentID); err != nil {
		return err
	}
	return d.redirect(w, r, bankLinesPath+id.String()+"/", "The entry is assigned.")
}
