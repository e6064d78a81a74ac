package admin

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strconv"

	"github.com/google/uuid"

	"sepad/internal/banking"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/web"
)

// bankRoutes are those around files for merchants' banks and what banks answer.
func (a *Admin) bankRoutes() []web.Route {
	return []web.Route{
		{Method: "GET", Pattern: "/admin/v1/bank-files/", Handler: a.listBankFiles},
		{Method: "POST", Pattern: "/admin/v1/bank-files/", Handler: a.writeBankFiles},
		{Method: "GET", Pattern: "/admin/v1/bank-files/preview/", Handler: a.previewBankFile},
		{Method: "POST", Pattern: "/admin/v1/bank-files/adopt/", Handler: a.adoptBankFile},
		{Method: "GET", Pattern: "/admin/v1/bank-files/{id}/", Handler: a.showBankFile},
		{Method: "GET", Pattern: "/admin/v1/bank-files/{id}/content/", Handler: a.downloadBankFile},
		{Method: "GET", Pattern: "/admin/v1/bank-statements/", Handler: a.listBankStatements},
		{Method: "POST", Pattern: "/admin/v1/bank-statements/", Handler: a.readBankStatement},
		{Method: "GET", Pattern: "/admin/v1/bank-statements/{id}/", Handler: a.showBankStatement},
		{Method: "GET", Pattern: "/admin/v1/bank-entries/", Handler: a.listBankEntries},
		{Method: "POST", Pattern: "/admin/v1/bank-entries/{id}/assign/", Handler: a.assignBankEntry},
		{Method: "POST", Pattern: "/admin/v1/bank-connections/test/", Handler: a.testBankConnection},
		{Method: "POST", Pattern: "/admin/v1/bank-connections/resume/", Handler: a.resumeBank},
		{Method: "POST", Pattern: "/admin/v1/transactions/{id}/hold/", Handler: a.steerCollection(a.Banking.Hold)},
		{Method: "POST", Pattern: "/admin/v1/transactions/{id}/release/", Handler: a.steerCollection(a.Banking.Release)},
	}
}

// shownCollections is how many collections of a file one answer lists.
const shownCollections = 1000

// bankAccount finds the account that a gateway's id names.
func (a *Admin) bankAccount(r *http.Request, gatewayID uuid.UUID) (*banking.Account, error) {
	tenantID, _, found, err := a.Store.RecordOwner(r.Context(), gatewayID)
	if err == nil && found {
		account, err := a.Banking.AccountOf(r.Context(), tenantID, gatewayID)
		if !errors.Is(err, banking.ErrNoBank) {
			return account, err
		}
		found = false
	}
	if err == nil && !found {
		err = payment.Fields{"gateway_id": "There is no bank gateway of this id."}.Err()
	}
	return nil, err
}

// accountInBody reads {"gateway_id"}.
func (a *Admin) accountInBody(w http.ResponseWriter, r *http.Request) (*banking.Account, error) {
	object, err := web.DecodeObject(w, r)
	if err != nil {
		return nil, err
	}
	bad := payment.Fields{}
	id := web.NewReader(object, bad).UUID("gateway_id", web.Required)
	if err := bad.Err(); err != nil {
		return nil, err
	}
	return a.bankAccount(r, *id)
}

// listBankFiles answers GET /bank-files/.
func (a *Admin) listBankFiles(w http.ResponseWriter, r *http.Request) error {
	q := a.ask(r)
	search := listing.BankFileSearch{Common: q.common(), GatewayID: q.id("gateway_id"), State: store.BankFileState(q.text("state"))}
	return answer(w, r, q, func(ctx context.Context, s listing.Paging) (listing.Part[store.BankFile], error) {
		return listing.SearchBankFiles(ctx, a.Store, search, s)
	}, func(f store.BankFile) uuid.UUID { return f.ID }, BankFileOf)
}

// writeBankFiles answers POST /bank-files/: what waits is written now, outside of the daily cut-off.
func (a *Admin) writeBankFiles(w http.ResponseWriter, r *http.Request) error {
	account, err := a.accountInBody(w, r)
	if err != nil {
		return err
	}
	files, err := a.Banking.WriteNow(r.Context(), account, a.Checkout.Clock.Now())
	if err != nil {
		return err
	}
	list := listBody[BankFileBody]{Results: []BankFileBody{}}
	for _, file := range files {
		list.Results = append(list.Results, BankFileOf(file))
	}
	status := http.StatusCreated
	if len(files) == 0 {
		status = http.StatusOK
	}
	web.WriteJSON(w, r, status, list)
	return nil
}

// previewBankFile answers GET /bank-files/preview/?gateway_id=….
func (a *Admin) previewBankFile(w http.ResponseWriter, r *http.Request) error {
	q := a.ask(r)
	id := q.id("gateway_id")
	if id == uuid.Nil {
		q.bad.Add("gateway_id", "gateway_id is required.")
	}
	if err := q.err(); err != nil {
		return err
	}
	account, err := a.bankAccount(r, id)
	if err != nil {
		return err
	}
	preview, err := a.Banking.Preview(r.Context(), account, a.Checkout.Clock.Now())
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, BankPreviewOf(preview))
	return nil
}

// readAfter reads the position behind which a list is shown, 0 for all of it.
func readAfter(r *http.Request) (int, error) {
	text := r.URL.Query().Get("after")
	if text == "" {
		return 0, nil
	}
	after, err := strconv.ParseInt(text, 10, 32) // what a position is in the database
	if err != nil || after < 0 {
		return 0, payment.Fields{"after": "after must be the position of an entry."}.Err()
	}
	return int(after), nil
}

func (a *Admin) findBankFile(r *http.Request) (store.BankFile, error) {
	id, err := pathID(r, "id", store.ErrNoBankFile)
	if err != nil {
		return store.BankFile{}, err
	}
	tenantID, err := a.Store.BankFileOwner(r.Context(), id)
	if err != nil {
		return store.BankFile{}, err
	}
	return a.Store.Tenant(tenantID).BankFile(r.Context(), id)
}

// showBankFile answers GET /bank-files/{id}/ with its collections from after a position on.
func (a *Admin) showBankFile(w http.ResponseWriter, r *http.Request) error {
	file, err := a.findBankFile(r)
	if err != nil {
		return err
	}
	after, err := readAfter(r)
	if err != nil {
		return err
	}
	body, err := BankFileDetail(r.Context(), a.Banking, file, after, shownCollections)
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, body)
	return nil
}

// downloadBankFile answers GET /bank-files/{id}/content/ with the very bytes.
func (a *Admin) downloadBankFile(w http.ResponseWriter, r *http.Request) error {
	file, err := a.findBankFile(r)
	if err != nil {
		return err
	}
	out := &web.Download{ResponseWriter: w, Request: r, ContentType: "application/xml", Name: file.Name}
	err = a.Banking.Download(r.Context(), file, out)
	if err != nil && out.HasBegun {
		return errors.Join(http.ErrAbortHandler, err) // half of it is gone already
	}
	return err
}

// listBankStatements answers GET /bank-statements/.
func (a *Admin) listBankStatements(w http.ResponseWriter, r *http.Request) error {
	q := a.ask(r)
	search := listing.BankStatementSearch{Common: q.common(), GatewayID: q.id("gateway_id")}
	return answer(w, r, q, func(ctx context.Context, s listing.Paging) (listing.Part[store.BankStatement], error) {
		return listing.SearchBankStatements(ctx, a.Store, search, s)
	}, func(s store.BankStatement) uuid.UUID { return s.ID }, bankStatementOf)
}

var errAnswerTooLarge = &web.StatusError{Status: http.StatusRequestEntityTooLarge, Detail: "A bank's file has at most 256 MiB."}

// readBankStatement answers POST /bank-statements/ when the file has been taken in.
func (a *Admin) readBankStatement(w http.ResponseWriter, r *http.Request) error {
	upload, err := web.ReadUpload(w, r)
	if err != nil {
		return err
	}
	bad := payment.Fields{}
	isDryRun := formBool(upload, "dry_run", bad)
	account, file, err := a.bankUpload(r, upload, bad)
	if err != nil {
		return err
	}
	readings, err := a.Banking.ReadFile(r.Context(), account, "upload", file, isDryRun)
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusCreated, listBody[BankReadingBody]{Results: BankReadingsOf(readings)})
	return nil
}

// bankUpload receives the file of a form, for the account that its gateway_id names.
func (a *Admin) bankUpload(r *http.Request, upload *web.Upload, bad payment.Fields) (*banking.Account, *os.File, error) {
	gatewayID := formID(upload, "gateway_id", bad)
	if err := bad.Err(); err != nil {
		return nil, nil, err
	}
	account, err := a.bankAccount(r, gatewayID)
	if err != nil {
		return nil, nil, err
	}
	file, err := banking.HandIn(upload.File)
	if errors.Is(err, banking.ErrTooLarge) {
		err = errAnswerTooLarge
	}
	return account, file, err
}

// showBankStatement answers GET /bank-statements/{id}/ with its entries from after a position on.
func (a *Admin) showBankStatement(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id", store.ErrNoBankStatement)
	if err != nil {
		return err
	}
	tenantID, err := a.Store.BankStatementOwner(r.Context(), id)
	if err != nil {
		return err
	}
	found, err := a.Store.Tenant(tenantID).BankStatement(r.Context(), id)
	if err != nil {
		return err
	}
	after, err := readAfter(r)
	if err != nil {
		return err
	}
	lines, err := a.Store.Tenant(tenantID).BankLines(r.Context(), id, after, shownCollections)
	if err != nil {
		return err
	}
	body := bankStatementDetail{bankStatementBody: bankStatementOf(found), Entries: make([]BankEntryBody, len(lines))}
	for i, line := range lines {
		body.Entries[i] = BankEntryOf(r.Context(), a.Banking, line)
	}
	web.WriteJSON(w, r, http.StatusOK, body)
	return nil
}

// listBankEntries answers GET /bank-entries/.
func (a *Admin) listBankEntries(w http.ResponseWriter, r *http.Request) error {
	q := a.ask(r)
	search := listing.BankLineSearch{Common: listing.Common{TenantID: q.id("tenant_id")}, GatewayID: q.id("gateway_id"), StatementID: q.id("statement_id")}
	switch text := q.text("matched"); text {
	case "":
	case "true", "false":
		matched := text == "true"
		search.Matched = &matched
	default:
		q.bad.Add("matched", "matched must be true or false.")
	}
	return answer(w, r, q, func(ctx context.Context, s listing.Paging) (listing.Part[store.BankLine], error) {
		return listing.SearchBankLines(ctx, a.Store, search, s)
	}, func(l store.BankLine) uuid.UUID { return l.ID }, func(l store.BankLine) BankEntryBody {
		return BankEntryOf(r.Context(), a.Banking, l)
	})
}

// assignBankEntry answers POST /bank-entries/{id}/assign/ {"transaction_id"}.
func (a *Admin) assignBankEntry(w http.ResponseWriter, r *http.Request) error {
	object, err := web.DecodeObject(w, r)
	if err != nil {
		return err
	}
	bad := payment.Fields{}
	transactionID := web.NewReader(object, bad).UUID("transaction_id", web.Required)
	if err := bad.Err(); err != nil {
		return err
	}
	id, err := pathID(r, "id", store.ErrNoBankLine)
	if err != nil {
		return err
	}
	tenantID, err := a.Store.BankLineOwner(r.Context(), id)
	if err != nil {
		return err
	}
	line, err := a.Banking.Assign(r.Context(), tenantID, id, *transactionID)
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, BankEntryOf(r.Context(), a.Banking, line))
	return nil
}

// testBankConnection answers POST /bank-connections/test/ {"gateway_id"}: what goes wrong is told in words.
func (a *Admin) testBankConnection(w http.ResponseWriter, r *http.Request) error {
	account, err := a.accountInBody(w, r)
	if err != nil {
		return err
	}
	body := struct {
		OK      bool    `json:"ok"`
		Problem *string `json:"problem"`
	}{OK: true}
	if err := a.Banking.Test(r.Context(), account); err != nil {
		text := err.Error()
		body.OK, body.Problem = false, &text
	}
	web.WriteJSON(w, r, http.StatusOK, body)
	return nil
}

// steerCollection answers POST /transactions/{id}/hold/ and /release/ with the transaction.
func (a *Admin) steerCollection(steer func(ctx context.Context, tenantID, id uuid.UUID) error) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		id, err := pathID(r, "id", store.ErrNoTransaction)
		if err != nil {
			return err
		}
		tenantID, err := a.Store.TransactionOwner(r.Context(), id)
		if err != nil {
			return err
		}
		if err := steer(r.Context(), tenantID, id); err != nil {
			return err
		}
		return a.writeTransaction(w, r, http.StatusOK, tenantID, id)
	}
}
