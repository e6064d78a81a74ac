package dashboard

import (
	"net/http"

	"sepad/internal/payment"
	"sepad/internal/recon"
	"sepad/internal/web"
)

// matchingView is the form for a processor's file and, once it was sent, what comes of
// holding it against our records.
type matchingView struct {
	Gateways []option
	Kinds    []recon.ImportKind
	Report   *recon.Report
	// Cut lists of the report's lines are shown, all of them are counted.
	Most int
}

// mostMatched is how many lines of each kind a report shows.
const mostMatched = 200

// showMatching answers GET /dashboard/imports/matching/.
func (d *Dashboard) showMatching(w http.ResponseWriter, r *http.Request) error {
	return d.matching(w, r, nil)
}

func (d *Dashboard) matching(w http.ResponseWriter, r *http.Request, report *recon.Report) error {
	setups, err := d.setups(r.Context())
	if err != nil {
		return err
	}
	gateways := gatewayFilter.Options(&listQuery{Values: r.URL.Query(), setups: setups})
	return d.page(w, r, "matching", "Matching report", matchingView{Gateways: gateways, Kinds: recon.ImportKinds, Report: report, Most: mostMatched})
}

// match answers POST /dashboard/imports/matching/ with the report of a file; it settles
// nothing unless that is asked for.
func (d *Dashboard) match(w http.ResponseWriter, r *http.Request) error {
	upload, err := web.ReadUpload(w, r)
	if err != nil {
		return err
	}
	bad := payment.Fields{}
	req := recon.ImportRequest{GatewayID: readUUID("gateway_id", upload.Field("gateway_id"), bad), Kind: recon.ImportKind(upload.Field("kind")), File: upload.File}
	owner, kind, found, err := d.Store.RecordOwner(r.Context(), req.GatewayID)
	if err != nil {
		return err
	}
	if !found || kind != "gateway" {
		bad.Add("gateway_id", "Choose the gateway whose file it is.")
	}
	if req.Kind != recon.ImportTransactions && req.Kind != recon.ImportChargebacks {
		bad.Add("kind", "Say whether the file has transactions or chargebacks.")
	}
	if err := bad.Err(); err != nil {
		return err
	}
	req.TenantID = owner
	importer := recon.Importer{Store: d.Store, Checkout: d.Checkout}
	report, err := importer.Reconcile(r.Context(), req, upload.Field("apply") == "true")
	if err != nil {
		return err
	}
	return d.matching(w, r, &report)
}
