package setup

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/store"
)

// secretOverlap is how long a replaced signing secret goes on signing beside
// its successor, in real time.
const secretOverlap = 24 * time.Hour

// Kind is all that is to be known of a kind of record that tenants set up.
type Kind[T any] struct {
	kind     merchant.RecordKind
	all      func(*merchant.Setup) map[uuid.UUID]T
	identify func(T) (uuid.UUID, string)
	put      func(*store.Store, *store.Tx, uuid.UUID, T) error
	// fields are all that a change may leave out, those included that are never
	// shown; read is the way back.
	fields    func(T) merchant.Fields
	read      func(merchant.Rules, merchant.Fields) (T, error)
	switchOff func(T) T
	// complete fills in what an operator leaves to us; check notes what is wrong
	// with a record that is to be written.
	complete func(wanted, stored T, isNew bool, now time.Time) (T, Change)
	check    func(*tenantPlan, T)
}

// Put creates a record of a set-up by its fields, or changes those that are
// given. Its error names every bad field.
func (k Kind[T]) Put(rules merchant.Rules, s *merchant.Setup, id uuid.UUID, given merchant.Fields) error {
	fields := merchant.Fields{}
	if stored, exists := k.all(s)[id]; exists {
		fields = k.fields(stored)
	}
	maps.Copy(fields, given)
	record, err := k.read(rules, fields)
	if err != nil {
		return err
	}
	k.all(s)[id] = record
	return nil
}

// SwitchOff makes a record inactive; nothing that used it is lost.
func (k Kind[T]) SwitchOff(s *merchant.Setup, id uuid.UUID) {
	k.all(s)[id] = k.switchOff(k.all(s)[id])
}

// The kinds of records.
var (
	Gateways = Kind[merchant.GatewayAccount]{
		kind:      merchant.KindGateway,
		all:       func(s *merchant.Setup) map[uuid.UUID]merchant.GatewayAccount { return s.Gateways },
		identify:  func(g merchant.GatewayAccount) (uuid.UUID, string) { return g.ID, g.Name },
		put:       (*store.Store).PutGateway,
		fields:    gatewayFields,
		read:      merchant.Rules.ReadGateway,
		switchOff: func(g merchant.GatewayAccount) merchant.GatewayAccount { g.Active = false; return g },
		complete:  completeGateway,
		check:     (*tenantPlan).checkGateway,
	}
	WebhookProfiles = Kind[merchant.WebhookProfile]{
		kind:      merchant.KindWebhookProfile,
		all:       func(s *merchant.Setup) map[uuid.UUID]merchant.WebhookProfile { return s.WebhookProfiles },
		identify:  func(p merchant.WebhookProfile) (uuid.UUID, string) { return p.ID, p.Name },
		put:       (*store.Store).PutWebhookProfile,
		fields:    merchant.WebhookProfileFields,
		read:      merchant.Rules.ReadWebhookProfile,
		switchOff: func(p merchant.WebhookProfile) merchant.WebhookProfile { p.Active = false; return p },
		complete:  completeProfile,
		check:     (*tenantPlan).checkProfile,
	}
	HostedPages = Kind[merchant.HostedPage]{
		kind:      merchant.KindHostedPage,
		all:       func(s *merchant.Setup) map[uuid.UUID]merchant.HostedPage { return s.HostedPages },
		identify:  func(p merchant.HostedPage) (uuid.UUID, string) { return p.ID, p.Name },
		put:       (*store.Store).PutHostedPage,
		fields:    merchant.HostedPageFields,
		read:      merchant.Rules.ReadHostedPage,
		switchOff: func(p merchant.HostedPage) merchant.HostedPage { p.Active = false; return p },
		complete:  completePage,
		check:     (*tenantPlan).checkPage,
	}
	Offers = Kind[merchant.Offer]{
		kind:      merchant.KindOffer,
		all:       func(s *merchant.Setup) map[uuid.UUID]merchant.Offer { return s.Offers },
		identify:  func(o merchant.Offer) (uuid.UUID, string) { return o.ID, o.Name },
		put:       (*store.Store).PutOffer,
		fields:    merchant.OfferFields,
		read:      merchant.Rules.ReadOffer,
		switchOff: func(o merchant.Offer) merchant.Offer { o.Active = false; return o },
		complete:  completeOffer,
		check:     (*tenantPlan).checkOffer,
	}
	Campaigns = Kind[merchant.Campaign]{
		kind:      merchant.KindCampaign,
		all:       func(s *merchant.Setup) map[uuid.UUID]merchant.Campaign { return s.Campaigns },
		identify:  func(c merchant.Campaign) (uuid.UUID, string) { return c.ID, c.Name },
		put:       (*store.Store).PutCampaign,
		fields:    merchant.CampaignFields,
		read:      merchant.Rules.ReadCampaign,
		switchOff: func(c merchant.Campaign) merchant.Campaign { c.Active = false; return c },
		complete:  completeCampaign,
		check:     (*tenantPlan).checkCampaign,
	}
)

// gatewayFields have the adapter's settings too: they stay unless others are given.
func gatewayFields(g merchant.GatewayAccount) merchant.Fields {
	fields := merchant.GatewayFields(g)
	fields["settings"] = map[string]any(g.Settings)
	return fields
}

func completeGateway(wanted, stored merchant.GatewayAccount, _ bool, _ time.Time) (merchant.GatewayAccount, Change) {
	wanted.Settings = sameOr(wanted.Settings, stored.Settings)
	return wanted, Change{}
}

func completePage(wanted, stored merchant.HostedPage, _ bool, _ time.Time) (merchant.HostedPage, Change) {
	wanted.Content = sameOr(wanted.Content, stored.Content)
	return wanted, Change{}
}

func completeOffer(wanted, _ merchant.Offer, _ bool, _ time.Time) (merchant.Offer, Change) {
	return wanted, Change{}
}

func completeCampaign(wanted, stored merchant.Campaign, _ bool, _ time.Time) (merchant.Campaign, Change) {
	wanted.OfferOverrides = sameOr(wanted.OfferOverrides, stored.OfferOverrides)
	return wanted, Change{}
}

// completeProfile keeps the secret that a profile has, makes one where there is
// none, and lets a replaced one sign for a while longer.
func completeProfile(wanted, stored merchant.WebhookProfile, isNew bool, now time.Time) (merchant.WebhookProfile, Change) {
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
	wanted.PreviousSecret, wanted.PreviousSecretUntil = stored.SigningSecret, now.Add(secretOverlap)
	return wanted, Change{Note: fmt.Sprintf("The signing secret is replaced; the old one signs too until %s.",
		wanted.PreviousSecretUntil.Format(time.RFC3339))}
}

// RotateSecret gives a profile of a set-up another signing secret. The old one
// signs too for a day of real time.
func RotateSecret(s *merchant.Setup, id uuid.UUID) {
	profile := s.WebhookProfiles[id]
	profile.SigningSecret = newSigningSecret()
	s.WebhookProfiles[id] = profile
}

// newSigningSecret makes a secret as Standard Webhooks writes it, whose libraries take nothing else.
func newSigningSecret() merchant.Secret {
	raw := make([]byte, 32)
	rand.Read(raw)
	return merchant.Secret("whsec_" + base64.StdEncoding.EncodeToString(raw))
}

// sameOr gives the stored object where the wanted one says the same in other
// types: a whole number may be written as 3 or as 3.0.
func sameOr[M ~map[string]any](wanted, stored M) M {
	left, leftErr := json.Marshal(map[string]any(wanted))
	right, rightErr := json.Marshal(map[string]any(stored))
	if leftErr == nil && rightErr == nil && bytes.Equal(left, right) {
		return stored
	}
	return wanted
}
