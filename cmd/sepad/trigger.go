package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/banking"
	"sepad/internal/billing"
	"sepad/internal/checkout"
	"sepad/internal/clock"
	"sepad/internal/config"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/jobs"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/setup"
	"sepad/internal/store"
)

type triggerCommand struct {
	Event string `arg:"" help:"The event, such as payment_session.completed; sepad trigger list names them all."`
	tenantFlag
	dataFlags
}

func (triggerCommand) Help() string {
	return "The real thing happens: a session is made and paid with a test account, a payment is refunded or charged back, a rebill is refused. " +
		"Where time must pass for it, the sandbox's clock is moved, and everything else that falls due happens too."
}

func (c *triggerCommand) Run(p *program) error {
	kinds := slices.Sorted(maps.Keys(triggers))
	if c.Event == "list" {
		for _, kind := range kinds {
			fmt.Fprintf(p.stdout, "%-28s %s\n", kind, triggers[kind].what)
		}
		return nil
	}
	story, known := triggers[payment.EventKind(c.Event)]
	if !known {
		return fmt.Errorf("%q cannot be made to happen: sepad trigger list names what can.%s", c.Event, merchant.DidYouMean(c.Event, texts(kinds)))
	}
	return c.use(p, func(st *store.Store, access config.Access) error {
		if err := onlySandbox(access); err != nil {
			return err
		}
		play, err := newPlay(p, st, access, c.Tenant)
		if err != nil {
			return err
		}
		if err := story.happen(play); err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "%s: %s\n", c.Event, story.what)
		return play.tellIfUnheard(payment.EventKind(c.Event))
	})
}

func texts(kinds []payment.EventKind) (all []string) {
	for _, kind := range kinds {
		all = append(all, string(kind))
	}
	return all
}

// triggers are what can be made to happen, and how.
var triggers = map[payment.EventKind]struct {
	what   string
	happen func(*play) error
}{
	payment.EventSessionCompleted: {"a session was paid", func(p *play) error { _, err := p.pay(payment.OneOff, sandbox.Approved); return err }},
	payment.EventSessionFailed: {"a session was refused for good", func(p *play) error {
		_, err := p.pay(payment.OneOff, sandbox.DeclinedFinal)
		return err
	}},
	payment.EventSessionExpired: {"a session was cancelled", func(p *play) error {
		token, err := p.session(payment.OneOff)
		if err == nil {
			_, err = p.work.Checkout.Cancel(p.ctx, p.setup.Tenant.ID, token)
		}
		return err
	}},
	payment.EventTransactionCreated: {"a session was paid", func(p *play) error { _, err := p.pay(payment.OneOff, sandbox.Approved); return err }},
	payment.EventTransactionStatusChanged: {"a payment was refunded", func(p *play) error {
		paid, err := p.pay(payment.OneOff, sandbox.Approved)
		if err == nil {
			_, err = p.work.Checkout.Refund(p.ctx, p.setup.Tenant.ID, paid.Transaction.ID, checkout.RefundRequest{}, store.RequestKey{})
		}
		return err
	}},
	payment.EventChargebackCreated: {"a payer took a payment back (MD06)", func(p *play) error {
		paid, err := p.pay(payment.OneOff, sandbox.Approved)
		if err == nil {
			_, err = p.work.Checkout.ChargeBack(p.ctx, p.setup.Tenant.ID, paid.Transaction.ID, payment.Chargeback{Source: payment.ChargebackManual, ReasonCode: "MD06"}, store.RequestKey{})
		}
		return err
	}},
	payment.EventSubscriptionCreated: {"a subscription has begun", func(p *play) error { _, err := p.pay(payment.Recurring, sandbox.Approved); return err }},
	payment.EventSubscriptionRenewed: {"a rebill was collected; the clock was moved by a month", func(p *play) error {
		return p.later(sandbox.Approved, nextMonth)
	}},
	payment.EventSubscriptionPastDue: {"a rebill was refused; the clock was moved by a month", func(p *play) error {
		return p.later(sandbox.RebillDeclined, nextMonth)
	}},
	payment.EventSubscriptionCancelled: {"a subscription was cancelled", func(p *play) error {
		return p.steer(func(id uuid.UUID) error {
			_, err := p.work.Cancel(p.ctx, p.setup.Tenant.ID, id, payment.CancelledByMerchant)
			return err
		})
	}},
	payment.EventSubscriptionChanged: {"a subscription was paused", func(p *play) error {
		return p.steer(func(id uuid.UUID) error {
			_, err := p.work.PauseSubscription(p.ctx, p.setup.Tenant.ID, id)
			return err
		})
	}},
}

// nextMonth is when a monthly subscription has been billed once.
const nextMonth = 32 * 24 * time.Hour

// play is a tenant's sandbox with somebody who makes things happen.
type play struct {
	*program
	setup   *merchant.Setup
	work    *billing.Billing
	movable *clock.Movable
}

func newPlay(p *program, st *store.Store, access config.Access, which string) (*play, error) {
	tenant, err := setup.FindTenant(p.ctx, st, which)
	if err != nil {
		return nil, err
	}
	movable := clock.NewMovable(clock.Real{}, st.ClockOffset)
	if err := movable.Refresh(p.ctx); err != nil {
		return nil, err
	}
	work := &billing.Billing{Checkout: useCases(st, access, movable)}
	of, err := work.Checkout.SetupOf(p.ctx, tenant.ID)
	return &play{program: p, setup: of, work: work, movable: movable}, err
}

// session makes one for somebody new, through the first account at the sandbox.
func (p *play) session(billingType payment.BillingType) (token string, err error) {
	for _, account := range p.setup.Gateways {
		if account.Adapter != "sandbox" || !account.Active {
			continue
		}
		amount, currency := payment.Minor(29_99), "EUR"
		request := checkout.CreateRequest{
			GatewayID: &account.ID, AmountMinor: &amount, Currency: &currency, BillingType: &billingType,
			Lead: payment.Lead{FirstName: "Trigger", LastName: "Sepad", Email: strings.ToLower(uuid.NewString()) + "@trigger.example", Country: "DE"},
		}
		if billingType != payment.OneOff {
			monthly := payment.Monthly
			request.Frequency = &monthly
		}
		created, err := p.work.Checkout.Create(p.ctx, p.setup, request, payment.Fields{})
		return created.Token, err
	}
	return "", errors.New("the tenant has no active gateway with the adapter sandbox")
}

// pay makes a session and pays it from a test account.
func (p *play) pay(billingType payment.BillingType, outcome sandbox.Outcome) (result checkout.Result, err error) {
	token, err := p.session(billingType)
	if err != nil {
		return result, err
	}
	for _, account := range sandbox.TestIBANs() {
		if account.Outcome == outcome {
			iban, err := sepa.ParseIBAN(account.IBAN)
			if err != nil {
				return result, err
			}
			bank, _ := sepa.EmbeddedBanks(iban)
			return p.work.Checkout.Pay(p.ctx, checkout.Payment{
				Token: token, Source: payment.SourceAPI, Instrument: payment.Instrument{IBAN: iban, HolderName: "Trigger Sepad", Bank: bank},
			})
		}
	}
	return result, fmt.Errorf("no test account is %s", outcome)
}

// steer begins a subscription and does something to it.
func (p *play) steer(do func(id uuid.UUID) error) error {
	paid, err := p.pay(payment.Recurring, sandbox.Approved)
	if err != nil {
		return err
	}
	return do(paid.Subscription.ID)
}

// later begins a subscription and lets time pass.
func (p *play) later(outcome sandbox.Outcome, by time.Duration) error {
	if _, err := p.pay(payment.Recurring, outcome); err != nil {
		return err
	}
	banks := &banking.Banking{Checkout: p.work.Checkout, Logger: p.work.Checkout.Logger}
	_, err := jobs.Advance(p.ctx, p.work, banks, p.movable, by)
	return err
}

// tellIfUnheard says why nobody will get the event.
func (p *play) tellIfUnheard(kind payment.EventKind) error {
	profile, found := p.setup.DefaultWebhookProfile()
	switch {
	case !found:
		fmt.Fprintf(p.stderr, "%s has no default webhook profile: nothing is sent.\n", p.setup.Tenant.Name)
	case !profile.Wants(kind):
		fmt.Fprintf(p.stderr, "The webhook profile %s does not ask for %s: add it to its events, or set events: [\"*\"].\n", profile.Name, kind)
	}
	return nil
}

// signingSecret is what a tenant's events are signed with where nobody names a profile.
func signingSecret(p *program, st *store.Store, tenantID uuid.UUID) (string, error) {
	version, err := st.SetupVersion(p.ctx, tenantID)
	if err != nil {
		return "", err
	}
	of, err := st.Setup(p.ctx, tenantID, version)
	if err != nil {
		return "", err
	}
	profile, found := of.DefaultWebhookProfile()
	if !found {
		return "", fmt.Errorf("%s has no default webhook profile, whose secret would sign", of.Tenant.Name)
	}
	return profile.SigningSecret.Reveal(), nil
}
