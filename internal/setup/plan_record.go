package setup

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/store"
)

// secretOverlap is how long a replaced signing secret goes on signing beside
// its successor, in real time.
const secretOverlap = 24 * time.Hour

// recordKind is what planning needs to know of a kind of record.
type recordKind[T any] struct {
	kind merchant.RecordKind
	key  func(T) (uuid.UUID, string)
	put  func(*store.Store, *store.Tx, uuid.UUID, T) error
	// complete fills in what a file leaves to the database.
	complete func(t *tenantPlan, wanted, stored T, isNew bool) (T, Change)
}

var (
	gateways = recordKind[merchant.GatewayAccount]{
		merchant.KindGateway, func(g merchant.GatewayAccount) (uuid.UUID, string) { return g.ID, g.Name },
		(*store.Store).PutGateway, completeGateway,
	}
	webhookProfiles = recordKind[merchant.WebhookProfile]{
		merchant.KindWebhookProfile, func(p merchant.WebhookProfile) (uuid.UUID, string) { return p.ID, p.Name },
		(*store.Store).PutWebhookProfile, completeProfile,
	}
	hostedPages = recordKind[merchant.HostedPage]{
		merchant.KindHostedPage, func(p merchant.HostedPage) (uuid.UUID, string) { return p.ID, p.Name },
		(*store.Store).PutHostedPage, completePage,
	}
	offers = recordKind[merchant.Offer]{
		merchant.KindOffer, func(o merchant.Offer) (uuid.UUID, string) { return o.ID, o.Name },
		(*store.Store).PutOffer, completeOffer,
	}
	campaigns = recordKind[merchant.Campaign]{
		merchant.KindCampaign, func(c merchant.Campaign) (uuid.UUID, string) { return c.ID, c.Name },
		(*store.Store).PutCampaign, completeCampaign,
	}
)

// planRecords compares every record, in the order of a resource file.
func (t *tenantPlan) planRecords(wanted merchant.FileTenant) error {
	if err := planKind(t, gateways, wanted.Gateways, t.stored.Gateways); err != nil {
		return err
	}
	if err := planKind(t, webhookProfiles, wanted.WebhookProfiles, t.stored.WebhookProfiles); err != nil {
		return err
	}
	if err := planKind(t, hostedPages, wanted.HostedPages, t.stored.HostedPages); err != nil {
		return err
	}
	if err := planKind(t, offers, wanted.Offers, t.stored.Offers); err != nil {
		return err
	}
	return planKind(t, campaigns, wanted.Campaigns, t.stored.Campaigns)
}

func planKind[T any](t *tenantPlan, of recordKind[T], entries []merchant.Entry[T], all map[uuid.UUID]T) error {
	for _, entry := range entries {
		id, name := of.key(entry.Record)
		stored, exists := all[id]
		if !exists {
			if err := t.checkOwner(entry.Line, entry.Path+".id", of.kind, id); err != nil {
				return err
			}
		}
		record, change := of.complete(t, entry.Record, stored, !exists)
		change.Kind, change.Name, change.ID = of.kind, name, id
		switch {
		case !exists:
			change.Action = Created
		case !reflect.DeepEqual(record, stored):
			change.Action = Changed
		default:
			change.Action = Unchanged
		}
		if t.add(change) {
			t.writes = append(t.writes, func(tx *store.Tx) error { return of.put(t.applier.Store, tx, t.id, record) })
		}
	}
	return nil
}

// checkOwner refuses an id that is new to the tenant but not to the database.
func (t *tenantPlan) checkOwner(line int, path string, kind merchant.RecordKind, id uuid.UUID) error {
	owner, storedKind, found, err := t.applier.Store.RecordOwner(t.ctx, id)
	if err != nil {
		return err
	}
	switch other := merchant.RecordKind(strings.ReplaceAll(storedKind, "_", " ")); {
	case found && owner != t.id:
		t.wrong(line, path, "This id is already taken by another tenant's %s.", other)
	case found && other != kind:
		t.wrong(line, path, "This id is already taken by the tenant's %s.", other)
	case found || kind == merchant.KindTenant:
	default:
		return t.checkNoTenant(line, path, id)
	}
	return nil
}

// checkNoTenant refuses the id of a tenant for something else.
func (t *tenantPlan) checkNoTenant(line int, path string, id uuid.UUID) error {
	_, err := t.applier.Store.Tenant(id).Tenant(t.ctx)
	if store.IsNotFound(err) {
		return nil
	}
	if err == nil {
		t.wrong(line, path, "This id is already taken by a tenant.")
	}
	return err
}

func completeGateway(_ *tenantPlan, wanted, stored merchant.GatewayAccount, _ bool) (merchant.GatewayAccount, Change) {
	wanted.Settings = settled(wanted.Settings, stored.Settings)
	return wanted, Change{}
}

func completePage(_ *tenantPlan, wanted, stored merchant.HostedPage, _ bool) (merchant.HostedPage, Change) {
	wanted.Content = settled(wanted.Content, stored.Content)
	return wanted, Change{}
}

func completeOffer(_ *tenantPlan, wanted, _ merchant.Offer, _ bool) (merchant.Offer, Change) {
	return wanted, Change{}
}

func completeCampaign(_ *tenantPlan, wanted, stored merchant.Campaign, _ bool) (merchant.Campaign, Change) {
	wanted.OfferOverrides = settled(wanted.OfferOverrides, stored.OfferOverrides)
	return wanted, Change{}
}

// completeProfile keeps the secret that a profile has, makes one where there is
// none, and lets a replaced one sign for a while longer.
func completeProfile(t *tenantPlan, wanted, stored merchant.WebhookProfile, isNew bool) (merchant.WebhookProfile, Change) {
	wanted.PreviousSecret, wanted.PreviousSecretUntil = stored.PreviousSecret, stored.PreviousSecretUntil
	switch {
	case isNew && wanted.SigningSecret.IsZero():
		wanted.SigningSecret = newSigningSecret()
		return wanted, Change{Secret: wanted.SigningSecret}
	case isNew || wanted.SigningSecret == stored.SigningSecret:
		return wanted, Change{}
	case wanted.SigningSecret.IsZero():
		wanted.SigningSecret = stored.SigningSecret
		return wanted, Change{}
	}
	wanted.PreviousSecret, wanted.PreviousSecretUntil = stored.SigningSecret, t.now.Add(secretOverlap)
	return wanted, Change{Note: fmt.Sprintf("The signing secret is replaced; the old one signs too until %s.",
		wanted.PreviousSecretUntil.Format(time.RFC3339))}
}

func newSigningSecret() merchant.Secret {
	raw := make([]byte, 32)
	rand.Read(raw)
	return merchant.Secret("whsec_" + base64.RawURLEncoding.EncodeToString(raw))
}

// settled gives the stored object where the file says the same in other types:
// a whole number may be written as 3 or as 3.0.
func settled[M ~map[string]any](wanted, stored M) M {
	left, leftErr := json.Marshal(map[string]any(wanted))
	right, rightErr := json.Marshal(map[string]any(stored))
	if leftErr == nil && rightErr == nil && bytes.Equal(left, right) {
		return stored
	}
	return wanted
}
