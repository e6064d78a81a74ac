// Package checkout tells what happens to a payment session, from its creation to
// its end. Each use case is a file that reads from top to bottom.
//
//	create.go   a merchant's request becomes a session
//	retrieve.go what a page or a merchant's form shows of it
//	evidence.go what a payer agreed to, for the day on which a bank asks
//	pay.go      claim – submit – settle
//	verify.go   the same around the question whether a mandate was verified
//	standing.go what has become of a session, for its merchant
//	cancel.go   the merchant gives up
//	due.go      what time brings: expiry, and settlement of pending payments
//	recover.go  what became of a payment whose outcome is not known
//	refund.go   a payment is given back: claim – submit – settle once more
//	rebill.go   what became of a subscription's rebill (package billing sends it)
//	announce.go when a payment will be collected, and that payers are told
//	chargeback.go   the payer's bank took a payment back; chargeback_report.go: as
//	                a processor reports it, one or thousands
//	notification.go what gateways report by themselves
//
// The rule behind pay and verify: what is about to be asked of a gateway is
// written down first, the gateway is called outside any transaction, and its
// answer is written with everything that follows from it in one. A crash in
// between leaves an open attempt, and an open attempt is resolved by asking,
// never by trying again.
package checkout

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/store"
	"sepad/internal/vault"
)

// Checkout holds what the use cases share.
type Checkout struct {
	Store    *store.Store
	Vault    *vault.Vault
	Gateways *gateway.Pool
	// Announcements finds what gateways that live in this program have to report by
	// an instant of the service's time.
	Announcements func(ctx context.Context, now time.Time, limit int) ([]gateway.Announcement, error)
	// NextAnnouncement is when after an instant they have something to report next,
	// and false when they never will.
	NextAnnouncement func(ctx context.Context, after time.Time) (time.Time, bool, error)
	Banks            sepa.Banks
	// Clock is the service's time, Real the world's as this machine shows it. Neither
	// is for what processes agree on: that is the database's clock. Own is this
	// process's steady time, by which it keeps its own promises.
	Clock  clock.Clock
	Real   clock.Clock
	Own    clock.Clock
	Logger *slog.Logger

	Environment merchant.Environment
	// PublicURL is where payers reach us, without a slash at its end.
	PublicURL string
	// SessionTTL is how long a session lives where its campaign says nothing.
	SessionTTL time.Duration
	// KeepSubscriptions leaves a subscription as it is when the payer took one of
	// its payments back; otherwise it is cancelled.
	KeepSubscriptions bool
	// Dunning is when a refused rebill is tried again, where its campaign says
	// nothing.
	Dunning payment.Dunning
	// Aside are the records that background work could not do.
	Aside Aside
	// Patience ends background work on one record that takes longer, as where somebody
	// holds its row. 0 is the usual.
	Patience time.Duration
	// GatewayTimeout is how long a gateway may take to answer.
	GatewayTimeout time.Duration
	// LookupSchedule says how long to wait before each question about an
	// unknown outcome; the last wait repeats.
	LookupSchedule []time.Duration

	agreed agreedClock
}

// DefaultSessionTTL is how long a session lives unless told otherwise.
const DefaultSessionTTL = 24 * time.Hour

// DefaultLookupSchedule is patient with gateways and quick with payers.
func DefaultLookupSchedule() []time.Duration {
	return []time.Duration{5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}
}

// PaymentURL is where a payer finds the hosted page of a session.
func (c *Checkout) PaymentURL(token string) string { return c.PublicURL + "/pay/" + token + "/" }

// Account finds a gateway of a tenant, ready to be called.
func (c *Checkout) Account(setup *merchant.Setup, id uuid.UUID) (*gateway.Client, merchant.GatewayAccount, error) {
	account := setup.Gateways[id]
	client, err := c.Gateways.Client(account.Adapter, gateway.Account{
		ID: account.ID, TenantID: setup.Tenant.ID, Name: account.Name, Descriptor: account.Descriptor,
		TestMode: account.TestMode, Settings: account.Settings,
	})
	return client, account, err
}

// SetupOf reads the present set-up of a tenant, for work that no call started.
func (c *Checkout) SetupOf(ctx context.Context, tenantID uuid.UUID) (*merchant.Setup, error) {
	version, err := c.Store.SetupVersion(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	return c.Store.Setup(ctx, tenantID, version)
}

// livemode is true only where money really moves.
func (c *Checkout) livemode(client *gateway.Client, account merchant.GatewayAccount) bool {
	return c.Environment == merchant.Production && !account.TestMode && client.Kind().Real
}

// now is the service's time.
func (c *Checkout) now() time.Time { return c.Clock.Now() }

var errUnknownOutcome = &payment.Error{
	Kind:   payment.OutcomeUnknown,
	Detail: "The payment provider has not confirmed the outcome. It is being asked; do not submit the payment again.",
}
