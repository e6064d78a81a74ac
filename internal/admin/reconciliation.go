package admin

import (
	"net/http"

	"sepad/internal/payment"
	"sepad/internal/recon"
	"sepad/internal/web"
)

const reconciliationsPath = "/admin/v1/reconciliations/"

// reconcile answers POST /reconciliations/ with the matching report of a
// processor's file, as JSON or, with format=csv, as a file.
func (a *Admin) reconcile(w http.ResponseWriter, r *http.Request) error {
	req, upload, err := readImport(w, r)
	if err != nil {
		return err
	}
	bad := payment.Fields{}
	apply, format := formBool(upload, "apply", bad), upload.Field("format")
	if format != "" && format != "json" && format != "csv" {
		bad.Add("format", "format must be json or csv.")
	}
	if err := bad.Err(); err != nil {
		return err
	}
	importer := recon.Importer{Store: a.Store, Checkout: a.Checkout}
	report, err := importer.Reconcile(r.Context(), req, apply)
	if err != nil {
		return err
	}
	if format != "csv" {
		web.WriteJSON(w, r, http.StatusOK, report)
		return nil
	}
	w.Header().Set("Content-Type", recon.CSV.ContentType())
	w.Header().Set("Content-Disposition", `attachment; filename="reconciliation_`+report.FirstDay+`_`+report.LastDay+`.csv"`)
	w.Header().Set("Cache-Control", "no-store")
	return report.WriteCSV(w)
}
