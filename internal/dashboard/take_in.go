package dashboard

import (
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/recon"
	"sepad/internal/store"
	"sepad/internal/web"
)

const (
	importsPath = "/dashboard/imports/"
	// shownRejected is how many lines that were not taken a page lists.
	shownRejected = 200
)

// takeInView is where a processor's file is taken in, or what came of one.
type takeInView struct {
	Gateways []choice // by tenant and id
	Kinds    []choice
	Problems []string
	// Done is what was just taken in.
	Done     *store.Import
	Rejected []store.Rejection
	// More is how many lines are not listed.
	More int
}

// showTakeIn answers GET /dashboard/imports/new/.
func (d *Dashboard) showTakeIn(w http.ResponseWriter, r *http.Request) error {
	return d.takeIn(w, r, http.StatusOK, takeInView{})
}

func (d *Dashboard) takeIn(w http.ResponseWriter, r *http.Request, status int, shown takeInView) error {
	shown.Kinds = []choice{{string(recon.ImportTransactions), "transactions"}, {string(recon.ImportChargebacks), "chargebacks"}}
	tenants, err := d.Store.Tenants(r.Context())
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		of, err := d.Store.CurrentSetup(r.Context(), tenant.ID)
		if err != nil {
			return err
		}
		for _, account := range sorted(of.Gateways, func(g merchant.GatewayAccount) string { return g.Name }) {
			shown.Gateways = append(shown.Gateways, choice{account.ID.String(), tenant.Name + ": " + account.Name})
		}
	}
	return d.render(w, r, status, "take_in", d.view(r, "Take a file in", shown))
}

// takeFileIn answers POST /dashboard/imports/ when the file has been taken in. It is read
// as it arrives, so that how far the browser has sent it is how far it is taken in.
func (d *Dashboard) takeFileIn(w http.ResponseWriter, r *http.Request) error {
	upload, err := web.ReadUpload(w, r)
	if err != nil {
		return d.refuseFile(w, r, err)
	}
	request := recon.ImportRequest{
		Kind: recon.ImportKind(upload.Field("kind")), File: upload.File,
		IsDryRun: upload.Field("dry_run") == "true", SendsEvents: upload.Field("events") == "true",
	}
	bad := payment.Fields{}
	if request.Kind != recon.ImportTransactions && request.Kind != recon.ImportChargebacks {
		bad.Add("kind", "Say whether the file has transactions or chargebacks.")
	}
	if request.GatewayID, err = uuid.Parse(upload.Field("gateway_id")); err != nil {
		bad.Add("gateway_id", "Say which gateway the file is from.")
	} else {
		var isKnown bool
		if request.TenantID, _, isKnown, err = d.Store.RecordOwner(r.Context(), request.GatewayID); err != nil {
			return err
		}
		if !isKnown {
			bad.Add("gateway_id", "There is no such gateway.")
		}
	}
	if err := bad.Err(); err != nil {
		return d.refuseFile(w, r, err)
	}
	texts := request.KeepRejected(shownRejected)
	importer := recon.Importer{Store: d.Store, Checkout: d.Checkout}
	done, err := importer.Import(r.Context(), request)
	if err != nil {
		return d.refuseFile(w, r, err)
	}
	return d.tookIn(w, r, done, texts)
}

// refuseFile shows the form again with what was wrong; other errors are passed on.
func (d *Dashboard) refuseFile(w http.ResponseWriter, r *http.Request, err error) error {
	bad := badFields(err)
	if bad == nil {
		return err
	}
	return d.takeIn(w, r, http.StatusBadRequest, takeInView{Problems: sentences(bad)})
}

// tookIn shows what came of a file. The text of lines that were not taken is shown to who
// has sent them, and is not kept.
func (d *Dashboard) tookIn(w http.ResponseWriter, r *http.Request, done store.Import, texts map[int]string) error {
	rejected, err := d.Store.Tenant(done.TenantID).Rejections(r.Context(), done.ID, 0, shownRejected)
	if err != nil {
		return err
	}
	for i, line := range rejected {
		rejected[i].Text = texts[line.Line]
	}
	return d.takeIn(w, r, http.StatusOK, takeInView{Done: &done, Rejected: rejected, More: done.Counts.Rejected - len(rejected)})
}
