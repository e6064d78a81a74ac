package apptest

import (
	_ "embed"
	"fmt"
	"maps"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/gateway"
	"sepad/internal/gateway/adapters"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/gateway/sandbox/ledgerdb"
	"sepad/internal/merchant"
	"sepad/internal/setup"
	"sepad/internal/store"
)

//go:embed shop.yaml
var shopFile []byte

// The records of shop.yaml.
const (
	Shop  = "019d0000-0000-7000-8000-000000000001"
	Rival = "019d0000-0000-7000-8000-000000000002"

	Gateway       = "019d0000-0000-7000-8000-000000000010"
	PlainGateway  = "019d0000-0000-7000-8000-000000000011" // not in test mode, no descriptor
	ClosedGateway = "019d0000-0000-7000-8000-000000000012"
	RivalGateway  = "019d0000-0000-7000-8000-000000000110"

	Profile       = "019d0000-0000-7000-8000-000000000020" // the shop's default
	QuietProfile  = "019d0000-0000-7000-8000-000000000021" // wants completed sessions only
	ClosedProfile = "019d0000-0000-7000-8000-000000000022"
	RivalProfile  = "019d0000-0000-7000-8000-000000000120"

	Page       = "019d0000-0000-7000-8000-000000000030"
	PlainPage  = "019d0000-0000-7000-8000-000000000031"
	ClosedPage = "019d0000-0000-7000-8000-000000000032"
	RivalPage  = "019d0000-0000-7000-8000-000000000130"

	PosterOffer = "019d0000-0000-7000-8000-000000000040"

	HostedCampaign        = "019d0000-0000-7000-8000-000000000050" // 4 attempts
	ServerCampaign        = "019d0000-0000-7000-8000-000000000051" // IMPLICIT, 3 attempts
	MonthlyCampaign       = "019d0000-0000-7000-8000-000000000052"
	TrialCampaign         = "019d0000-0000-7000-8000-000000000053" // 14 days for 1.00
	FreeTrialCampaign     = "019d0000-0000-7000-8000-000000000054" // 2 weeks
	ShortCampaign         = "019d0000-0000-7000-8000-000000000055" // sessions of one hour
	OneTryCampaign        = "019d0000-0000-7000-8000-000000000056"
	QuietCampaign         = "019d0000-0000-7000-8000-000000000057"
	ClosedCampaign        = "019d0000-0000-7000-8000-000000000058"
	ClosedOfferCampaign   = "019d0000-0000-7000-8000-000000000059"
	ClosedGatewayCampaign = "019d0000-0000-7000-8000-00000000005a"
	RivalCampaign         = "019d0000-0000-7000-8000-000000000150"
)

// The accounts by what happens to their payments.
var (
	Approved                  = account(sandbox.Approved)
	DeclinedInsufficientFunds = account(sandbox.DeclinedInsufficientFunds)
	DeclinedMandateRejected   = account(sandbox.DeclinedMandateRejected)
	DeclinedFinal             = account(sandbox.DeclinedFinal)
	GatewayUnavailable        = account(sandbox.GatewayUnavailable)
	VerificationApproved      = account(sandbox.VerificationApproved)
	VerificationRejected      = account(sandbox.VerificationRejected)
	VerificationPage          = account(sandbox.VerificationPage)
	PendingApproved           = account(sandbox.PendingApproved)
	PendingDeclined           = account(sandbox.PendingDeclined)
	TimeoutApproved           = account(sandbox.TimeoutApproved)
	TimeoutLost               = account(sandbox.TimeoutLost)
	Slow                      = account(sandbox.Slow)
	Chargeback                = account(sandbox.Chargeback)
	ReturnedInsufficientFunds = account(sandbox.ReturnedInsufficientFunds)
	ReturnedMandateRejected   = account(sandbox.ReturnedMandateRejected)
	ReturnedAccountClosed     = account(sandbox.ReturnedAccountClosed)
	RebillAccountClosed       = account(sandbox.RebillAccountClosed)
	RebillDeclined            = account(sandbox.RebillDeclined)
	RebillDeclinedOnce        = account(sandbox.RebillDeclinedOnce)
)

func account(outcome sandbox.Outcome) string {
	for _, test := range sandbox.TestIBANs() {
		if test.Outcome == outcome {
			return test.IBAN
		}
	}
	panic("no test account is " + string(outcome))
}

// Body is a request body under construction; nil stands for null.
type Body map[string]any

// With gives the body with other fields in their place.
func (b Body) With(more Body) Body {
	all := maps.Clone(b)
	maps.Copy(all, more)
	return all
}

// Without gives the body with fields left out.
func (b Body) Without(names ...string) Body {
	all := maps.Clone(b)
	for _, name := range names {
		delete(all, name)
	}
	return all
}

// Names by which the log is searched for people.
const (
	FirstName  = "Zoëlinde"
	LastName   = "Quastenbrink"
	HolderName = FirstName + " " + LastName
	mailDomain = "kunde.example"
)

var people atomic.Int64

// Email is an address that nobody had before.
func Email() string { return fmt.Sprintf("person%d@%s", people.Add(1), mailDomain) }

// Lead is a person with an address of their own.
func Lead() Body {
	return Body{"first_name": FirstName, "last_name": LastName, "email": Email(), "country": "DE"}
}

// InCampaign asks for a session of a campaign for a new lead.
func InCampaign(id string) Body { return Body{"campaign_id": id, "lead": Lead()} }

// Direct asks for a one-off session in direct mode for a new lead.
func Direct() Body {
	return Body{"gateway_id": Gateway, "amount": "49.00", "currency": "EUR", "billing_type": "ONE_OFF", "lead": Lead()}
}

// Apply brings the database to a resource file, as an operator would.
func (s *Server) Apply(t testing.TB, text string) {
	t.Helper()
	kinds := adapters.All(ledgerdb.New(s.Env.Store.DB, s.Env.Vault), sandbox.Options{})
	maps.Copy(kinds, s.adapters)
	if err := apply(t, s, kinds, text); err != nil {
		t.Fatalf("apply a resource file: %v", err)
	}
}

func apply(t testing.TB, s *Server, kinds map[string]gateway.Kind, text string) error {
	t.Helper()
	applier := &setup.Applier{Store: s.Env.Store, Kinds: kinds, Environment: s.Environment, AllowTestGateways: true}
	file, err := applier.Rules().ParseFile("test.yaml", []byte(text))
	if err != nil {
		return err
	}
	_, err = applier.Apply(t.Context(), file, clock.Real{}.Now())
	return err
}

// NewKey makes an API key for a tenant.
func (s *Server) NewKey(t testing.TB, tenant, name string) string {
	t.Helper()
	_, text, err := setup.CreateKey(t.Context(), s.Env.Store, uuid.MustParse(tenant), name, merchant.DefaultScopes, s.Environment, clock.Real{}.Now(), store.RequestKey{})
	if err != nil {
		t.Fatalf("create a key: %v", err)
	}
	return text.Reveal()
}

// RevokeKey ends a key of a tenant by its name.
func (s *Server) RevokeKey(t testing.TB, tenant, name string) {
	t.Helper()
	if _, err := setup.RevokeKey(t.Context(), s.Env.Store, uuid.MustParse(tenant), name, clock.Real{}.Now()); err != nil {
		t.Fatalf("revoke a key: %v", err)
	}
}
