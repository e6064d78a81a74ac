package admin

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/web"
)

// recordKind is a kind of record that a tenant sets up. Its fields are those of
// the resource file, and so are the rules: a call is a file of one record.
type recordKind struct {
	path string // in addresses
	list string // in the resource file
	none error  // the answer for one that the tenant does not have
	// all gives every record's fields.
	all func(*merchant.Setup) map[uuid.UUID]setup.Fields
	// kept are fields that are not shown and stay as they are unless changed.
	kept func(*merchant.Setup, uuid.UUID) setup.Fields
}

func notFound(what string) error {
	return &payment.Error{Kind: payment.NotFound, Detail: what + " not found"}
}

// fieldsOf turns records into their fields.
func fieldsOf[T any](records map[uuid.UUID]T, fields func(T) setup.Fields) map[uuid.UUID]setup.Fields {
	all := make(map[uuid.UUID]setup.Fields, len(records))
	for id, record := range records {
		all[id] = fields(record)
	}
	return all
}

func nothingKept(*merchant.Setup, uuid.UUID) setup.Fields { return nil }

var recordKinds = []recordKind{
	{
		path: "gateways", list: "gateways", none: notFound("Gateway"),
		all: func(s *merchant.Setup) map[uuid.UUID]setup.Fields { return fieldsOf(s.Gateways, setup.GatewayFields) },
		kept: func(s *merchant.Setup, id uuid.UUID) setup.Fields {
			return setup.Fields{"settings": map[string]any(s.Gateways[id].Settings)}
		},
	},
	{
		path: "webhook-profiles", list: "webhook_profiles", none: setup.ErrNoProfile, kept: nothingKept,
		all: func(s *merchant.Setup) map[uuid.UUID]setup.Fields { return fieldsOf(s.WebhookProfiles, profileFields) },
	},
	{
		path: "hosted-pages", list: "hosted_pages", none: notFound("Hosted page"), kept: nothingKept,
		all: func(s *merchant.Setup) map[uuid.UUID]setup.Fields {
			return fieldsOf(s.HostedPages, setup.HostedPageFields)
		},
	},
	{
		path: "offers", list: "offers", none: notFound("Offer"), kept: nothingKept,
		all: func(s *merchant.Setup) map[uuid.UUID]setup.Fields { return fieldsOf(s.Offers, setup.OfferFields) },
	},
	{
		path: "campaigns", list: "campaigns", none: notFound("Campaign"), kept: nothingKept,
		all: func(s *merchant.Setup) map[uuid.UUID]setup.Fields { return fieldsOf(s.Campaigns, setup.CampaignFields) },
	},
}

// recordRoutes are those of all kinds.
func (a *Admin) recordRoutes() (routes []web.Route) {
	for _, kind := range recordKinds {
		many := "/admin/v1/tenants/{tenant_id}/" + kind.path + "/"
		one := many + "{id}/"
		routes = append(routes,
			web.Route{Method: "GET", Pattern: many, Handler: a.guarded(a.listRecords(kind))},
			web.Route{Method: "POST", Pattern: many, Handler: a.guarded(a.createRecord(kind))},
			web.Route{Method: "GET", Pattern: one, Handler: a.guarded(a.showRecord(kind))},
			web.Route{Method: "PATCH", Pattern: one, Handler: a.guarded(a.changeRecord(kind))},
			web.Route{Method: "DELETE", Pattern: one, Handler: a.guarded(a.deactivateRecord(kind))})
	}
	return routes
}

// tenantSetup reads what the tenant of the path has set up.
func (a *Admin) tenantSetup(r *http.Request) (*merchant.Setup, error) {
	tenantID, err := pathID(r, "tenant_id", setup.ErrNoTenant)
	if err != nil {
		return nil, err
	}
	found, err := a.Checkout.SetupOf(r.Context(), tenantID)
	if store.IsNotFound(err) {
		return nil, setup.ErrNoTenant
	}
	return found, err
}

// record finds the record of the path with all its fields.
func (a *Admin) record(r *http.Request, kind recordKind) (*merchant.Setup, setup.Fields, error) {
	of, err := a.tenantSetup(r)
	if err != nil {
		return nil, nil, err
	}
	id, err := pathID(r, "id", kind.none)
	if err != nil {
		return nil, nil, err
	}
	fields, found := kind.all(of)[id]
	if !found {
		return nil, nil, kind.none
	}
	return of, fields, nil
}

func (a *Admin) listRecords(kind recordKind) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		of, err := a.tenantSetup(r)
		if err != nil {
			return err
		}
		return a.writeAll(w, r, kind.all(of))
	}
}

// writeAll answers with a page of records that are all at hand, the newest first.
func (a *Admin) writeAll(w http.ResponseWriter, r *http.Request, records map[uuid.UUID]setup.Fields) error {
	bad := payment.Fields{}
	page := a.readPage(r, bad)
	if err := bad.Err(); err != nil {
		return err
	}
	ids := slices.SortedFunc(maps.Keys(records), func(x, y uuid.UUID) int { return bytes.Compare(y[:], x[:]) })
	web.WriteJSON(w, r, http.StatusOK, pageOf(page, page.cut(ids), func(id uuid.UUID) uuid.UUID { return id },
		func(id uuid.UUID) setup.Fields { return records[id] }))
	return nil
}

func (a *Admin) showRecord(kind recordKind) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		_, fields, err := a.record(r, kind)
		if err != nil {
			return err
		}
		web.WriteJSON(w, r, http.StatusOK, fields)
		return nil
	}
}

// createRecord makes a record, with an id of its own unless the call gives one.
func (a *Admin) createRecord(kind recordKind) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		of, err := a.tenantSetup(r)
		if err != nil {
			return err
		}
		fields, err := readFields(w, r)
		if err != nil {
			return err
		}
		id, err := newRecordID(fields)
		if err != nil {
			return err
		}
		if _, taken := kind.all(of)[id]; taken {
			return payment.Fields{"id": "This id is already taken."}.Err()
		}
		changes, err := a.Applier.PutRecord(r.Context(), of.Tenant.ID, kind.list, fields, a.Real.Now())
		if err != nil {
			return err
		}
		return a.writeRecord(w, r, http.StatusCreated, kind, id, changes)
	}
}

// changeRecord changes the fields that are given.
func (a *Admin) changeRecord(kind recordKind) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		of, stored, err := a.record(r, kind)
		if err != nil {
			return err
		}
		fields, err := readFields(w, r)
		if err != nil {
			return err
		}
		id := stored["id"].(uuid.UUID)
		if given, ok := fields["id"]; ok && given != id.String() {
			return payment.Fields{"id": "An id cannot be changed."}.Err()
		}
		changes, err := a.putOver(r, of, kind, stored, fields)
		if err != nil {
			return err
		}
		return a.writeRecord(w, r, http.StatusOK, kind, id, changes)
	}
}

// deactivateRecord switches a record off; nothing that used it is lost.
func (a *Admin) deactivateRecord(kind recordKind) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		of, stored, err := a.record(r, kind)
		if err != nil {
			return err
		}
		if _, err := a.putOver(r, of, kind, stored, setup.Fields{"active": false}); err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
}

// putOver writes a record with some fields changed.
func (a *Admin) putOver(r *http.Request, of *merchant.Setup, kind recordKind, stored, changed setup.Fields) ([]setup.Change, error) {
	fields := kind.kept(of, stored["id"].(uuid.UUID))
	if fields == nil {
		fields = setup.Fields{}
	}
	maps.Copy(fields, stored)
	delete(fields, previousSecretUntil) // which is told and not set
	maps.Copy(fields, changed)
	return a.Applier.PutRecord(r.Context(), of.Tenant.ID, kind.list, fields, a.Real.Now())
}

// writeRecord answers with a record as it now stands, and with the secret that
// was made for it, this once.
func (a *Admin) writeRecord(w http.ResponseWriter, r *http.Request, status int, kind recordKind, id uuid.UUID, changes []setup.Change) error {
	of, err := a.tenantSetup(r)
	if err != nil {
		return err
	}
	fields := kind.all(of)[id]
	for _, change := range changes {
		if change.ID == id && !change.Secret.IsZero() {
			fields["signing_secret"] = change.Secret.Reveal()
		}
	}
	web.WriteJSON(w, r, status, fields)
	return nil
}

// readFields reads a body whose fields the resource file's rules judge. Numbers
// stay the text that was written.
func readFields(w http.ResponseWriter, r *http.Request) (setup.Fields, error) {
	object, err := web.DecodeObject(w, r)
	if err != nil {
		return nil, err
	}
	fields := setup.Fields{}
	decoder := json.NewDecoder(bytes.NewReader([]byte(object.Source())))
	decoder.UseNumber()
	return fields, decoder.Decode(&fields)
}

// newRecordID takes the id that a call gives, or makes one.
func newRecordID(fields setup.Fields) (uuid.UUID, error) {
	given, ok := fields["id"]
	if !ok || given == nil {
		id := payment.NewID()
		fields["id"] = id.String()
		return id, nil
	}
	text, _ := given.(string)
	id, err := uuid.Parse(text)
	if err != nil {
		return uuid.Nil, payment.Fields{"id": "id must be a UUID."}.Err()
	}
	return id, nil
}
