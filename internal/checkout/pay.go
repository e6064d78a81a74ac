package checkout

import (
	"context"
	"errors"
	"net/netip"
	"time"

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
	claimed, err := c.claim(ctx, found, in)
	if err != nil {
		return Result{}, err
	}
	// From here on a customer who goes away must not stop us half-way.
	ctx = context.WithoutCancel(ctx)
	outcome, err := client.Submit(ctx, c.charge(setup, account, found.Lead, claimed, in))
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
	sealed, err := c.Vault.Seal([]byte(in.Instrument.IBAN.Electronic()), PurposeIBAN(found.Session.TenantID))
	if err != nil {
		return payment.Change{}, err
	}
	for range claimTries {
		var claimed payment.Change
		if claimed, err = c.claimOnce(ctx, found, order, in, sealed); !store.IsReferenceCollision(err) {
			return claimed, store.Refused(err)
		}
	}
	return payment.Change{}, err
}

func (c *Checkout) claimOnce(ctx context.Context, found store.Found, order *payment.Order, in Payment, sealed string) (payment.Change, error) {
	now := c.now()
	claimed, err := payment.Begin(found.Session, found.Lead, order, payment.Submission{
		Instrument: in.Instrument, TenantReferenceID: in.TenantReferenceID, Source: in.Source,
	}, now)
	if err != nil {
		return payment.Change{}, err
	}
	claimed.Transaction.Attempt.NextLookupAt = c.silenceEnds()
	return claimed, c.Store.Write(ctx, now, func(tx *store.Tx) error {
		tx.ClaimAttempt(claimed, sealed)
		if in.Acceptance != nil {
			tx.RecordAcceptance(claimed.Transaction, *in.Acceptance)
		}
		return nil
	})
}

// silenceEnds is when somebody else may ask about an attempt that is opened
// now: not before its sender must have had an answer or given up.
func (c *Checkout) silenceEnds() time.Time { return c.Real.Now().Add(c.silence()) }

// silence is how long nobody else asks. A sender that was held up longer than
// the first part of it sends nothing: from the end on others ask the gateway
// what became of the payment, and must be able to rely on its answer. The part
// needs no more time than the gateway has, so that short settings make it short.
func (c *Checkout) silence() time.Duration {
	return min(maxSendWindow, c.GatewayTimeout) + c.GatewayTimeout
}

func (c *Checkout) charge(setup *merchant.Setup, account merchant.GatewayAccount, lead payment.Lead, claimed payment.Change, in Payment) gateway.Charge {
	t := claimed.Transaction
	charge := gateway.Charge{
		MerchantTransactionID: t.MerchantTransactionID, IdempotencyKey: t.ID.String(),
		AmountMinor: t.AmountMinor, Currency: t.Currency, Type: t.Type, SequenceType: t.SequenceType,
		Instrument: in.Instrument, Lead: lead, MandateReference: t.MandateReference, MandateAt: t.MandateAt,
		Descriptor: account.Descriptor, MerchantName: setup.Tenant.Name, CustomerIP: claimed.Session.CustomerIP,
		ReturnURL: c.PaymentURL(claimed.Session.Token), At: t.CreatedAt,
		SendBefore: t.Attempt.NextLookupAt.Add(-c.GatewayTimeout),
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
	soon := c.Real.Now().Add(c.LookupSchedule[0])
	if !client.Kind().Real || soon.After(next.Attempt.NextLookupAt) {
		next.Attempt.NextLookupAt = soon
	}
	next.Attempt.LookupCount = 1
	err := c.Store.Write(ctx, c.now(), func(tx *store.Tx) error {
		tx.PostponeLookup(next)
		return tx.Enqueue(LookupJob{}, next.Attempt.NextLookupAt)
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
