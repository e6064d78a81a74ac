package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/recon"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/web"
)

// shownRejections is how many lines that were not taken an answer lists; all of
// them are in the CSV.
const shownRejections = 1000

type importBody struct {
	ID            uuid.UUID       `json:"id"`
	TenantID      uuid.UUID       `json:"tenant_id"`
	GatewayID     uuid.UUID       `json:"gateway_id"`
	Kind          string          `json:"kind"`
	Status        string          `json:"status"`
	DryRun        bool            `json:"dry_run"`
	Counts        countsBody      `json:"counts"`
	RejectedLines []rejectionBody `json:"rejected_lines,omitzero"`
	CreatedAt     string          `json:"created_at"`
	UpdatedAt     string          `json:"updated_at"`
}

type countsBody struct {
	New       int `json:"new"`
	Updated   int `json:"updated"`
	Unchanged int `json:"unchanged"`
	Rejected  int `json:"rejected"`
}

type rejectionBody struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
	// Text is the line itself, for who has sent the file: it may name a person and is not kept.
	Text string `json:"text,omitempty"`
}

// readImport reads the form of an import or a reconciliation up to its file.
func readImport(w http.ResponseWriter, r *http.Request) (recon.ImportRequest, *web.Upload, error) {
	upload, err := web.ReadUpload(w, r)
	if err != nil {
		return recon.ImportRequest{}, nil, err
	}
	bad := payment.Fields{}
	req := recon.ImportRequest{
		TenantID: formID(upload, "tenant_id", bad), GatewayID: formID(upload, "gateway_id", bad),
		Kind: recon.ImportKind(upload.Field("kind")), File: upload.File,
		IsDryRun: formBool(upload, "dry_run", bad), SendsEvents: formBool(upload, "events", bad),
	}
	if req.Kind != recon.ImportTransactions && req.Kind != recon.ImportChargebacks {
		bad.Add("kind", "kind must be transactions or chargebacks.")
	}
	return req, upload, bad.Err()
}

func formID(u *web.Upload, name string, bad payment.Fields) uuid.UUID {
	text := u.Field(name)
	id, err := uuid.Parse(text)
	switch {
	case text == "":
		bad.Add(name, name+" is required.")
	case err != nil:
		bad.Add(name, name+" must be a UUID.")
	}
	return id
}

func formBool(u *web.Upload, name string, bad payment.Fields) bool {
	switch u.Field(name) {
	case "", "false":
		return false
	case "true":
		return true
	default:
		bad.Add(name, name+" must be true or false.")
		return false
	}
}

// createImport answers POST /imports/ when the file has been taken in.
func (a *Admin) createImport(w http.ResponseWriter, r *http.Request) error {
	req, _, err := readImport(w, r)
	if err != nil {
		return err
	}
	bad := payment.Fields{}
	form := fmt.Sprint(req.TenantID, req.GatewayID, req.Kind, req.IsDryRun, req.SendsEvents)
	req.Key = a.requestKey(r, form, bad)
	if err := bad.Err(); err != nil {
		return err
	}
	texts := req.KeepRejected(shownRejections)
	importer := recon.Importer{Store: a.Store, Checkout: a.Checkout}
	done, err := importer.Import(r.Context(), req)
	if err != nil {
		return err
	}
	return a.writeImport(w, r, http.StatusCreated, done, texts)
}

// listImports answers GET /imports/.
func (a *Admin) listImports(w http.ResponseWriter, r *http.Request) error {
	q := a.ask(r)
	search := listing.ImportSearch{
		Common: q.common(), GatewayID: q.id("gateway_id"), Kind: string(readOneOf(q.parameters, "kind", recon.ImportKinds, q.bad)),
		Status: readOneOf(q.parameters, "status", store.ImportStatuses, q.bad),
	}
	return answer(w, r, q, func(ctx context.Context, s listing.Paging) (listing.Part[store.Import], error) {
		return listing.SearchImports(ctx, a.Store, search, s)
	}, func(i store.Import) uuid.UUID { return i.ID }, importOf)
}

// importOf shows an import without its lines.
func importOf(i store.Import) importBody {
	return importBody{
		ID: i.ID, TenantID: i.TenantID, GatewayID: i.GatewayID, Kind: i.Kind, Status: string(i.Status), DryRun: i.IsDryRun,
		Counts:    countsBody{i.Counts.New, i.Counts.Updated, i.Counts.Unchanged, i.Counts.Rejected},
		CreatedAt: instantText(i.CreatedAt), UpdatedAt: instantText(i.UpdatedAt),
	}
}

func (a *Admin) writeImport(w http.ResponseWriter, r *http.Request, status int, i store.Import, texts map[int]string) error {
	rejected, err := a.Store.Tenant(i.TenantID).Rejections(r.Context(), i.ID, 0, shownRejections)
	if err != nil {
		return err
	}
	body := importOf(i)
	body.RejectedLines = make([]rejectionBody, len(rejected))
	for n, line := range rejected {
		body.RejectedLines[n] = rejectionBody{line.Line, line.Reason, texts[line.Line]}
	}
	web.WriteJSON(w, r, status, body)
	return nil
}

// findImport finds the import of a path.
func (a *Admin) findImport(r *http.Request) (store.Import, error) {
	id, err := pathID(r, "id", store.ErrNoImport)
	if err != nil {
		return store.Import{}, err
	}
	tenantID, err := a.Store.ImportOwner(r.Context(), id)
	if err != nil {
		return store.Import{}, err
	}
	return a.Store.Tenant(tenantID).Import(r.Context(), id)
}

// showImport answers GET /imports/{id}/.
func (a *Admin) showImport(w http.ResponseWriter, r *http.Request) error {
	found, err := a.findImport(r)
	if err != nil {
		return err
	}
	return a.writeImport(w, r, http.StatusOK, found, nil)
}

// listRejected answers GET /imports/{id}/rejected/ with a CSV of every line that
// was not taken, read and written page by page.
func (a *Admin) listRejected(w http.ResponseWriter, r *http.Request) error {
	if err := a.ask(r).err(); err != nil {
		return err
	}
	found, err := a.findImport(r)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="rejected_`+found.ID.String()+`.csv"`)
	w.Header().Set("Cache-Control", "no-store")
	text, after := []byte("line,reason\r\n"), 0
	for {
		if _, err := w.Write(text); err != nil {
			return errors.Join(http.ErrAbortHandler, err) // the reader has gone
		}
		rejected, err := a.Store.Tenant(found.TenantID).Rejections(r.Context(), found.ID, after, shownRejections)
		if err != nil || len(rejected) == 0 {
			return err
		}
		text = text[:0]
		for _, line := range rejected {
			text = append(strconv.AppendInt(text, int64(line.Line), 10), ',')
			text = append(recon.AppendCSVText(text, line.Reason), "\r\n"...)
			after = line.Line
		}
	}
}
