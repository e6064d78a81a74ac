package api_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/gateway"
	"sepad/internal/payment"
)

// scripted is a gateway that answers as a test tells it to. What is not told is
// approved.
type scripted struct {
	mu      sync.Mutex
	charges []gateway.Charge

	submit func(context.Context, gateway.Charge) (payment.Outcome, error)
	verify func(context.Context, gateway.Verification) (payment.Outcome, error)
	status func(context.Context, gateway.Lookup) (payment.Outcome, error)
}

var (
	errSilent    = errors.New("no answer")
	verifyFirst  = payment.Outcome{Verdict: payment.VerdictVerify, GatewayReference: "G-1", VerificationURL: "https://bank.example/v", VerificationReference: "V-1"}
	wasApproved  = payment.Outcome{Verdict: payment.VerdictApproved, GatewayReference: "G-1"}
	wasDeclined  = payment.Outcome{Verdict: payment.VerdictDeclined, Decline: payment.Decline{Code: payment.DoNotHonor}}
	neverArrived = payment.Outcome{Verdict: payment.VerdictLost}
)

func (g *scripted) Submit(ctx context.Context, c gateway.Charge) (payment.Outcome, error) {
	g.mu.Lock()
	g.charges = append(g.charges, c)
	answer := g.submit
	g.mu.Unlock()
	if answer == nil {
		return wasApproved, nil
	}
	return answer(ctx, c)
}

func (g *scripted) Verify(ctx context.Context, v gateway.Verification) (payment.Outcome, error) {
	g.mu.Lock()
	answer := g.verify
	g.mu.Unlock()
	if answer == nil {
		return wasApproved, nil
	}
	return answer(ctx, v)
}

func (g *scripted) Status(ctx context.Context, l gateway.Lookup) (payment.Outcome, error) {
	g.mu.Lock()
	answer := g.status
	g.mu.Unlock()
	if answer == nil {
		return wasApproved, nil
	}
	return answer(ctx, l)
}

// tell changes the script while the server runs.
func (g *scripted) tell(change func(*scripted)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change(g)
}

// hold has the next payment wait: under tells that it has arrived, and finish
// lets it be approved.
func (g *scripted) hold() (under <-chan struct{}, finish func()) {
	arrived, decided := make(chan struct{}, 1), make(chan struct{})
	g.tell(func(g *scripted) {
		g.charges = nil
		g.submit = func(context.Context, gateway.Charge) (payment.Outcome, error) {
			arrived <- struct{}{}
			<-decided
			return wasApproved, nil
		}
	})
	return arrived, func() { close(decided) }
}

// received are the payments that were submitted.
func (g *scripted) received() []gateway.Charge {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]gateway.Charge(nil), g.charges...)
}

const scriptedGateway = "019d0000-0000-7000-8000-0000000000f1"

// onScript is a one-off purchase at the scripted gateway.
func onScript() body { return apptest.Direct().With(body{"gateway_id": scriptedGateway}) }

// options gives the script an account of the shop.
func (g *scripted) options(kind gateway.Kind) apptest.Options {
	kind.Name, kind.DisplayName, kind.Currencies = "scripted", "Scripted", []string{"EUR"}
	kind.New = func(gateway.Account, gateway.Values) (gateway.Adapter, error) { return g, nil }
	return apptest.Options{Adapters: map[string]gateway.Kind{"scripted": kind}}
}

// eachScripted runs a test with a scripted gateway on each engine.
func eachScripted(t *testing.T, test func(t *testing.T, s *apptest.Server, g *scripted)) {
	t.Helper()
	// The engines run side by side, so that each has a script of its own.
	for _, engine := range engines {
		t.Run(engine.name, func(t *testing.T) {
			t.Parallel()
			g := &scripted{}
			s := apptest.Open(t, engine.open(t), g.options(gateway.Kind{}))
			addScripted(t, s, "")
			test(t, s, g)
		})
	}
}

// addScripted sets the account up.
func addScripted(t *testing.T, s *apptest.Server, more string) {
	t.Helper()
	s.Apply(t, `tenants: [{id: `+apptest.Shop+`, name: Bergladen,
    creditor: {name: Bergladen GmbH, address: "Hangweg 1, 83471 Berchtesgaden, DE", identifier: DE98ZZZ09999999999}, gateways: [{id: `+scriptedGateway+`, name: Scripted account, adapter: scripted`+more+`}]}]`)
}
