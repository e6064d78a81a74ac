package admin

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/web"
)

// recordKind is a kind of record that a tenant sets up. Its fields are those of
// the resource file, and so are the rules.
type recordKind struct {
	path string // in addresses
	none error  // the answer for one that the tenant does not have
	// all gives every record's fields as they are shown.
	all func(*merchant.Setup) map[uuid.UUID]merchant.Fields
	// put creates a record or changes the fields that are given.
	put       func(merchant.Rules, *merchant.Setup, uuid.UUID, merchant.Fields) error
	switchOff func(*merchant.Setup, uuid.UUID)
}

func notFound(what string) error {
	return &payment.Error{Kind: payment.NotFound, Detail: what + " not found"}
}

var (
	errNoGateway = notFound("Gateway")
	errNoProfile = notFound("Webhook profile")
)

var recordKinds = []recordKind{
	{
		path: "gateways", none: errNoGateway, put: setup.Gateways.Put, switchOff: setup.Gateways.SwitchOff,
		all: func(s *merchant.Setup) map[uuid.UUID]merchant.Fields {
			return merchant.AllFields(s.Gateways, merchant.GatewayFields)
		},
	},
	{
		path: "webhook-profiles", none: errNoProfile, put: setup.WebhookProfiles.Put, switchOff: setup.WebhookProfiles.SwitchOff,
		all: func(s *merchant.Setup) map[uuid.UUID]merchant.Fields {
			return merchant.AllFields(s.WebhookProfiles, profileFields)
		},
	},
	{
		path: "hosted-pages", none: notFound("Hosted page"), put: setup.HostedPages.Put, switchOff: setup.HostedPages.SwitchOff,
		all: func(s *merchant.Setup) map[uuid.UUID]merchant.Fields {
			return merchant.AllFields(s.HostedPages, merchant.HostedPageFields)
		},
	},
	{
		path: "offers", none: notFound("Offer"), put: setup.Offers.Put, switchOff: setup.Offers.SwitchOff,
		all: func(s *merchant.Setup) map[uuid.UUID]merchant.Fields {
			return merchant.AllFields(s.Offers, merchant.OfferFields)
		},
	},
	{
		path: "campaigns", none: notFound("Campaign"), put: setup.Campaigns.Put, switchOff: setup.Campaigns.SwitchOff,
		all: func(s *merchant.Setup) map[uuid.UUID]merchant.Fields {
			return merchant.AllFields(s.Campaigns, merchant.CampaignFields)
		},
	},
}

// recordRoutes are those of all kinds.
func (a *Admin) recordRoutes() (routes []web.Route) {
	for _, kind := range recordKinds {
		many := "/admin/v1/tenants/{tenant_id}/" + kind.path + "/"
		one := many + "{id}/"
		routes = append(routes,
			web.Route{Method: "GET", Pattern: many, Handler: a.listRecords(kind)},
			web.Route{Method: "POST", Pattern: many, Handler: a.createRecord(kind)},
			web.Route{Method: "GET", Pattern: one, Handler: a.showRecord(kind)},
			web.Route{Method: "PATCH", Pattern: one, Handler: a.changeRecord(kind)},
			web.Route{Method: "DELETE", Pattern: one, Handler: a.deactivateRecord(kind)})
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

// recordIDs are those of the path.
func recordIDs(r *http.Request, none error) (tenantID, id uuid.UUID, err error) {
	if tenantID, err = pathID(r, "tenant_id", setup.ErrNoTenant); err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	id, err = pathID(r, "id", none)
	return tenantID, id, err
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
func (a *Admin) writeAll(w http.ResponseWriter, r *http.Request, records map[uuid.UUID]merchant.Fields) error {
	q := a.ask(r)
	if err := q.err(); err != nil {
		return err
	}
	ids := slices.SortedFunc(maps.Keys(records), func(x, y uuid.UUID) int { return bytes.Compare(y[:], x[:]) })
	web.WriteJSON(w, r, http.StatusOK, pageOf(q.page, q.page.cut(ids), func(id uuid.UUID) uuid.UUID { return id },
		func(id uuid.UUID) merchant.Fields { return records[id] }))
	return nil
}

func (a *Admin) showRecord(kind recordKind) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		of, err := a.tenantSetup(r)
		if err != nil {
			return err
		}
		id, err := pathID(r, "id", kind.none)
		if err != nil {
			return err
		}
		fields, found := kind.all(of)[id]
		if !found {
			return kind.none
		}
		writeRecord(w, r, http.StatusOK, of, id, fields)
		return nil
	}
}

// newRecord is a record that was just made, as it is shown.
type newRecord struct {
	of     *merchant.Setup
	id     uuid.UUID
	fields merchant.Fields
}

// createRecord makes a record, with an id of its own unless the call gives one.
func (a *Admin) createRecord(kind recordKind) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		tenantID, err := pathID(r, "tenant_id", setup.ErrNoTenant)
		if err != nil {
			return err
		}
		fields, request, err := a.readNew(w, r)
		if err != nil {
			return err
		}
		choseSecret := fields["signing_secret"] != nil
		id, err := newRecordID(fields)
		if err != nil {
			return err
		}
		made, err := store.Once(r.Context(), a.Store, request,
			func(id uuid.UUID) (newRecord, error) {
				of, err := a.tenantSetup(r)
				if err != nil {
					return newRecord{}, err
				}
				return newRecord{of, id, kind.all(of)[id]}, nil
			},
			func() (newRecord, error) {
				of, _, err := a.Applier.Under(request, id).Change(r.Context(), tenantID, a.Real.Now(), func(s *merchant.Setup) error {
					if _, taken := kind.all(s)[id]; taken {
						return payment.Fields{"id": "This id is already taken."}.Err()
					}
					return kind.put(a.Applier.Rules(), s, id, fields)
				})
				if err != nil {
					return newRecord{}, err
				}
				return newRecord{of, id, kind.all(of)[id]}, nil
			})
		if err != nil {
			return err
		}
		isAsMade := made.of.Versions[made.id] == 1 // a repeat is not told what others have chosen since
		if profile, isProfile := made.of.WebhookProfiles[made.id]; isProfile && isAsMade && !choseSecret {
			made.fields["signing_secret"] = profile.SigningSecret.Reveal() // which was made for it, and is shown nowhere else
		}
		writeRecord(w, r, http.StatusCreated, made.of, made.id, made.fields)
		return nil
	}
}

// changeRecord changes the fields that are given.
func (a *Admin) changeRecord(kind recordKind) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		tenantID, id, err := recordIDs(r, kind.none)
		if err != nil {
			return err
		}
		fields, err := readFields(w, r)
		if err != nil {
			return err
		}
		of, err := a.changeOne(r, tenantID, id, func(s *merchant.Setup) error {
			if _, found := kind.all(s)[id]; !found {
				return kind.none
			}
			if named, ok := fields["id"]; ok && named != id.String() {
				return payment.Fields{"id": "An id cannot be changed."}.Err()
			}
			return kind.put(a.Applier.Rules(), s, id, fields)
		})
		if err != nil {
			return err
		}
		writeRecord(w, r, http.StatusOK, of, id, kind.all(of)[id])
		return nil
	}
}

// deactivateRecord switches a record off; nothing that used it is lost.
func (a *Admin) deactivateRecord(kind recordKind) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		tenantID, id, err := recordIDs(r, kind.none)
		if err != nil {
			return err
		}
		_, err = a.changeOne(r, tenantID, id, func(s *merchant.Setup) error {
			if _, found := kind.all(s)[id]; !found {
				return kind.none
			}
			kind.switchOff(s, id)
			return nil
		})
		if err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
}

// readFields reads a body whose fields the resource file's rules judge. Numbers
// stay the text that was written.
func readFields(w http.ResponseWriter, r *http.Request) (merchant.Fields, error) {
	object, err := web.DecodeObject(w, r)
	if err != nil {
		return nil, err
	}
	return decodeFields(object.Source())
}

func decodeFields(source string) (merchant.Fields, error) {
	fields := merchant.Fields{}
	decoder := json.NewDecoder(strings.NewReader(source))
	decoder.UseNumber()
	return fields, decoder.Decode(&fields)
}

// readNew reads the fields of something new, and the name of the call that makes it.
func (a *Admin) readNew(w http.ResponseWriter, r *http.Request) (merchant.Fields, store.RequestKey, error) {
	object, err := web.DecodeObject(w, r)
	if err != nil {
		return nil, store.RequestKey{}, err
	}
	bad := payment.Fields{}
	request := a.requestKey(r, object.Source(), bad)
	if err := bad.Err(); err != nil {
		return nil, store.RequestKey{}, err
	}
	fields, err := decodeFields(object.Source())
	return fields, request, err
}

// newRecordID takes the id that a call gives, or makes one.
func newRecordID(fields merchant.Fields) (uuid.UUID, error) {
	named, ok := fields["id"]
	if !ok || named == nil {
		id := payment.NewID()
		fields["id"] = id.String()
		return id, nil
	}
	text, _ := named.(string)
	id, err := uuid.Parse(text)
	if err != nil {
		return uuid.Nil, payment.Fields{"id": "id must be a UUID."}.Err()
	}
	return id, nil
}
