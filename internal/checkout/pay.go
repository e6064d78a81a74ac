package checkout

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"sepad/internal/clock"
	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/store"
)

// claimTries bounds how often a claim is made anew because a random reference
// was taken already.
const claimTries = 5

// maxSendWindow bounds how long after its claim a payment may still be sent.
const maxSendWindow = 5 * time.Second

// maxMargin is what is added to a silence for clocks that run a little apart.
const maxMargin = 2 * time.Second

// Payment is what a payer hands in.
type Payment struct {
	sepa.Masked
	Token             string
	Instrument        payment.Instrument
	TenantReferenceID *string
	Source            payment.Source
	ClientIP          netip.Addr
	// Acceptance is how the payer agreed to the mandate on the hosted page. It
	// is nil for the pay call, where the merchant keeps its own evidence.
	Acceptance *payment.Acceptance
	// Address and City are where the payer lives, for an account that needs it
	// and a lead of whom it is not known. Both are empty where nobody asked.
	Address, City string
	// CorrectsAddress tells that the address that is known came from this payer.
	CorrectsAddress bool
}

// residence is the lead with the address that the payer gives. What a merchant
// has told in full stands.
func (p Payment) residence(lead payment.Lead) payment.Lead {
	if p.Address != "" && p.City != "" && (p.CorrectsAddress || !lead.HasAddress()) {
		lead.Address, lead.City = p.Address, p.City
	}
	return lead
}

// Pay debits a session's customer: claim, submit, settle.
func (c *Checkout) Pay(ctx context.Context, in Payment) (Result, error) {
	found, err := c.Store.SessionByToken(ctx, in.Token)
	if err != nil {
		return Result{}, err
	}
	setup, err := c.Store.Setup(ctx, found.Session.TenantID, found.SetupVersion)
	if err != nil {
		return Result{}, err
	}
	client, account, err := c.Account(setup, found.Session.GatewayID)
	if err != nil {
		return Result{}, err
	}
	if err := found.Session.CheckPayable(c.now()); err != nil {
		return Result{}, err
	}
	if !account.Active {
		return Result{}, payment.Conflicting("The gateway of this session is not active.")
	}
	sendBefore := clock.Within(c.Own, c.sendWindow())
	claimed, err := c.claim(ctx, found, in)
	if err != nil {
		return Result{}, err
	}
	// From here on a customer who goes away must not stop us half-way.
	ctx = context.WithoutCancel(ctx)
	charge := c.charge(setup, account, in.residence(found.Lead), claimed, in)
	charge.SendBefore = sendBefore
	outcome, err := client.Submit(ctx, charge)
	if err != nil {
		return Result{}, c.askLater(ctx, client, claimed.Transaction)
	}
	return c.settleAndShow(ctx, setup, claimed.Debit, outcome)
}

// claim writes the attempt down before the gateway hears of it.
func (c *Checkout) claim(ctx context.Context, found store.Found, in Payment) (payment.Change, error) {
	var order *payment.Order
	var err error
	if found.Session.LastTransactionID != nil {
		if order, err = c.Store.Tenant(found.Session.TenantID).OrderOf(ctx, found.Session.ID); err != nil {
			return payment.Change{}, err
		}
	}
	sealed, err := c.Vault.Seal([]byte(in.Instrument.IBAN.Electronic()), store.BindIBAN(found.Session.TenantID, found.Session.MandateReference))
	if err != nil {
		return payment.Change{}, err
	}
	renewed, err := c.renewed(ctx, found.Session)
	if err != nil {
		return payment.Change{}, err
	}
	for range claimTries {
		var claimed payment.Change
		if claimed, err = c.claimOnce(ctx, found, order, in, sealed); !store.IsReferenceCollision(err) {
			claimed.Subscription = renewed
			return claimed, store.Refused(err)
		}
	}
	return payment.Change{}, err
}

func (c *Checkout) claimOnce(ctx context.Context, found store.Found, order *payment.Order, in Payment, sealed string) (payment.Change, error) {
	now, lead := c.now(), in.residence(found.Lead)
	claimed, err := payment.Begin(found.Session, lead, order, payment.Submission{
		Instrument: in.Instrument, TenantReferenceID: in.TenantReferenceID, Source: in.Source,
	}, now)
	if err != nil {
		return payment.Change{}, err
	}
	claimed.Transaction.Attempt.Silence = c.silence()
	return claimed, c.Store.Write(ctx, now, func(tx *store.Tx) error {
		if lead != found.Lead {
			tx.MoveLead(found.Session.TenantID, found.Lead, lead)
		}
		tx.ClaimAttempt(claimed, sealed)
		if in.Acceptance != nil {
			tx.RecordAcceptance(claimed.Transaction, *in.Acceptance)
		}
		return nil
	})
}

// sendWindow is how long a sender may take from before its claim until it sends,
// by its own clock. It needs no more time than the gateway has, so that short
// settings make it short.
func (c *Checkout) sendWindow() time.Duration { return min(maxSendWindow, c.GatewayTimeout) }

// silence is how long nobody else asks about an attempt, by the database's clock
// and from when it is written: the sender's window, the time in which what it sent
// may still arrive, and a margin for clocks that do not run alike. From its end on
// others ask the gateway what became of the payment, and rely on its answer.
func (c *Checkout) silence() time.Duration { return c.silenceAfter(c.sendWindow()) }

func (c *Checkout) silenceAfter(sendWindow time.Duration) time.Duration {
	return sendWindow + c.GatewayTimeout + min(maxMargin, c.GatewayTimeout/10)
}

func (c *Checkout) charge(setup *merchant.Setup, account merchant.GatewayAccount, lead payment.Lead, claimed payment.Change, in Payment) gateway.Charge {
	t := claimed.Transaction
	charge := gateway.Charge{
		MerchantTransactionID: t.MerchantTransactionID, IdempotencyKey: t.ID.String(),
		AmountMinor: t.AmountMinor, Currency: t.Currency, Type: t.Type, SequenceType: t.SequenceType,
		Instrument: in.Instrument, Lead: lead, MandateReference: t.MandateReference, MandateAt: t.MandateAt,
		Descriptor: account.Descriptor, MerchantName: setup.Tenant.Name, CustomerIP: claimed.Session.CustomerIP,
		ReturnURL: c.PaymentURL(claimed.Session.Token), At: t.CreatedAt,
	}
	if claimed.Session.Options.ReturnURL != "" && t.Source == payment.SourceAPI {
		charge.ReturnURL += "return/"
	}
	if charge.CustomerIP == "" && in.ClientIP.IsValid() {
		charge.CustomerIP = in.ClientIP.String()
	}
	return charge
}

// askLater leaves the attempt open and has the gateway asked soon. When even
// that cannot be written, the claim's own date stands. It also stands at a
// gateway across a network: what was sent may arrive there after the connection
// broke, as long as the gateway's time runs, and until then "never got it" is
// not the last word.
func (c *Checkout) askLater(ctx context.Context, client *gateway.Client, next payment.Transaction) error {
	wait := c.LookupSchedule[0]
	if client.Kind().Real {
		wait = max(wait, next.Attempt.Silence)
	}
	next.Attempt.LookupCount, next.Attempt.Silence = 1, c.LookupSchedule[0]
	wakeAt := c.Real.Now().Add(wait) // whether it is time then, the row says
	err := c.Store.Write(ctx, c.now(), func(tx *store.Tx) error {
		if client.Kind().Real {
			tx.PostponeLookupFurther(next)
		} else {
			tx.PostponeLookup(next)
		}
		return tx.Enqueue(LookupJob{}, wakeAt)
	})
	if err != nil && !errors.Is(err, store.ErrStale) {
		c.Logger.ErrorContext(ctx, "an unknown outcome could not be scheduled", "transaction_id", next.ID, "error", err)
	}
	return errUnknownOutcome
}

// settleAndShow settles a payment and dresses what has become of it.
func (c *Checkout) settleAndShow(ctx context.Context, setup *merchant.Setup, d payment.Debit, o payment.Outcome) (Result, error) {
	settled, err := c.settle(ctx, setup, d, o)
	if err != nil {
		return Result{}, err
	}
	return c.result(setup, settled)
}
