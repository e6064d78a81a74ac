package merchant

import (
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
)

// GatewayAccount is a tenant's account at a payment gateway.
type GatewayAccount struct {
	ID   uuid.UUID
	Name string
	// Adapter names the code that speaks to the gateway.
	Adapter string
	// TestMode tells that the account is at the gateway's own sandbox.
	TestMode bool
	// Descriptor is what the payer's bank statement shows, "" when not set.
	Descriptor string
	Settings   Settings
	Active     bool
}

// WebhookProfile is where and how a merchant is told of events.
type WebhookProfile struct {
	ID            uuid.UUID
	Name          string
	URL           string
	SigningSecret Secret
	// PreviousSecret signs too until PreviousSecretUntil, which is real time.
	PreviousSecret      Secret
	PreviousSecretUntil time.Time
	Events              []payment.EventKind
	// FullPayload adds the ids of all that an event is about, and the purchase's
	// metadata, to the fields of the contract.
	FullPayload bool
	// Default is used where neither session nor campaign names a profile.
	Default bool
	Active  bool
}

// How much the bodies of events hold, as a file and a call say it.
const (
	contractPayload = "contract"
	fullPayload     = "full"
)

// Wants tells whether the profile takes events of a kind.
func (p WebhookProfile) Wants(kind payment.EventKind) bool {
	return slices.Contains(p.Events, kind) || slices.Contains(p.Events, payment.EveryEvent)
}

// HostedPage is how a payment page looks and where it leads.
type HostedPage struct {
	ID                     uuid.UUID
	Name                   string
	Branding               Branding
	Content                map[string]any
	ShowProductName        bool
	ShowProductPrice       bool
	ShowProductDescription bool
	SuccessRedirectURL     *string
	FailureRedirectURL     *string
	Links                  Links
	Active                 bool
}

// Links are addresses of the merchant's own pages, each nil when not set.
type Links struct {
	// Shop is the way back, OtherPayment where one can pay by other means.
	Shop, OtherPayment      *string
	Terms, Privacy, Imprint *string
}

// Branding is a page's logo and colours, the latter as #rrggbb.
type Branding struct {
	LogoURL *string
	// LogoDarkURL takes the logo's place on dark screens.
	LogoDarkURL  *string
	PrimaryColor string
	AccentColor  string
}

// Offer is what can be bought.
type Offer struct {
	ID                 uuid.UUID
	Name               string
	Terms              payment.Terms
	ProductName        *string
	ProductDescription *string
	Active             bool
}

// Campaign sells an offer through a gateway.
type Campaign struct {
	ID        uuid.UUID
	Name      string
	OfferID   uuid.UUID
	GatewayID uuid.UUID
	// HostedPageID is nil where sessions are paid server to server.
	HostedPageID *uuid.UUID
	// WebhookProfileID is nil where the tenant's default is used.
	WebhookProfileID   *uuid.UUID
	MaxPaymentAttempts int
	AcceptanceMode     payment.AcceptanceMode
	// SessionTTL is how long a session lives; 0 takes the deployment's.
	SessionTTL time.Duration
	// Dunning is when a refused rebill is tried again; nil takes the deployment's.
	Dunning payment.Dunning
	// KeepsClaimed tells whether a subscription goes on when its payer took a payment
	// back; nil takes the deployment's.
	KeepsClaimed *bool
	// OfferOverrides change what the page shows, never what is collected.
	OfferOverrides map[string]any
	Active         bool
}

// Setup is all that one tenant has set up, by id.
type Setup struct {
	Tenant          Tenant
	Gateways        map[uuid.UUID]GatewayAccount
	WebhookProfiles map[uuid.UUID]WebhookProfile
	HostedPages     map[uuid.UUID]HostedPage
	Offers          map[uuid.UUID]Offer
	Campaigns       map[uuid.UUID]Campaign
	// Versions count how often each record was written, by id. The tenant's own
	// fields are a record too.
	Versions map[uuid.UUID]int64
}

// NewSetup is that of a tenant which has set up nothing yet.
func NewSetup(t Tenant) *Setup {
	return &Setup{
		Tenant: t, Gateways: map[uuid.UUID]GatewayAccount{}, WebhookProfiles: map[uuid.UUID]WebhookProfile{},
		HostedPages: map[uuid.UUID]HostedPage{}, Offers: map[uuid.UUID]Offer{}, Campaigns: map[uuid.UUID]Campaign{},
		Versions: map[uuid.UUID]int64{},
	}
}

// Clone gives a set-up whose records can be replaced without changing this one.
func (s *Setup) Clone() *Setup {
	return &Setup{
		Tenant: s.Tenant, Gateways: maps.Clone(s.Gateways), WebhookProfiles: maps.Clone(s.WebhookProfiles),
		HostedPages: maps.Clone(s.HostedPages), Offers: maps.Clone(s.Offers), Campaigns: maps.Clone(s.Campaigns),
		Versions: maps.Clone(s.Versions),
	}
}

// Has tells whether the tenant has a record of a kind, active or not.
func (s *Setup) Has(kind RecordKind, id uuid.UUID) (found bool) {
	switch kind {
	case KindGateway:
		_, found = s.Gateways[id]
	case KindWebhookProfile:
		_, found = s.WebhookProfiles[id]
	case KindHostedPage:
		_, found = s.HostedPages[id]
	case KindOffer:
		_, found = s.Offers[id]
	case KindCampaign:
		_, found = s.Campaigns[id]
	}
	return found
}

// Gateway finds an active gateway account.
func (s *Setup) Gateway(id uuid.UUID) (GatewayAccount, bool) {
	g := s.Gateways[id]
	return active(g, g.Active)
}

// WebhookProfile finds an active webhook profile.
func (s *Setup) WebhookProfile(id uuid.UUID) (WebhookProfile, bool) {
	p := s.WebhookProfiles[id]
	return active(p, p.Active)
}

// HostedPage finds an active hosted page.
func (s *Setup) HostedPage(id uuid.UUID) (HostedPage, bool) {
	p := s.HostedPages[id]
	return active(p, p.Active)
}

// Offer finds an active offer.
func (s *Setup) Offer(id uuid.UUID) (Offer, bool) {
	o := s.Offers[id]
	return active(o, o.Active)
}

// Campaign finds an active campaign.
func (s *Setup) Campaign(id uuid.UUID) (Campaign, bool) {
	c := s.Campaigns[id]
	return active(c, c.Active)
}

// DefaultWebhookProfile finds the active profile that is used where none is named.
func (s *Setup) DefaultWebhookProfile() (WebhookProfile, bool) {
	for _, p := range s.WebhookProfiles {
		if p.Default && p.Active {
			return p, true
		}
	}
	return WebhookProfile{}, false
}

// active hides a record that is switched off.
func active[T any](record T, on bool) (T, bool) {
	if !on {
		var none T
		return none, false
	}
	return record, true
}
