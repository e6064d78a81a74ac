// Package sandbox is the gateway that never moves money: it decides by IBAN, so
// that everything that can happen to a payment can be tried at will. It is also
// the template for other gateways: the construction and the flow are here, the
// codes in mapping.go, and a gateway behind a network adds client.go.
//
// A payment comes in through Submit. Its IBAN names an Outcome (TestIBANs lists
// them; every other account is approved), which says whether the payment
// arrives, what is entered in the Ledger and what is answered. Verify and
// Status read the ledger and move an entry on when its time or its decision has
// come. The package bankpage lets the payer decide in a browser.
//
// The same payment submitted again gets the answer of the first, from the
// ledger, and is collected once. Refund gives a payment back in the same way
// (refund.go). What happens to a payment later, a settlement or a chargeback, is
// reported by notifications (notification.go).
//
// An account has one setting, notification_secret.
package sandbox

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"sepad/internal/gateway"
	"sepad/internal/payment"
)

// Name is how the resource file calls this adapter.
const Name = "sandbox"

// BankPath is where the simulated bank's pages lie under the public address.
const BankPath = "/sandbox/bank/"

const defaultWait = 2 * time.Second

var errNoAnswer = errors.New("sandbox: no answer came back")

// Options are set by the deployment. Waiting is in real time.
type Options struct {
	// PublicURL is where a payer's browser reaches the service.
	PublicURL string
	// SlowFor is how long the slow outcome takes; 0 means 2 s.
	SlowFor time.Duration
	// GiveUpAfter is when the timeout outcomes give up; 0 means 2 s.
	GiveUpAfter time.Duration
}

func (o Options) filled() Options {
	if o.SlowFor == 0 {
		o.SlowFor = defaultWait
	}
	if o.GiveUpAfter == 0 {
		o.GiveUpAfter = defaultWait
	}
	return o
}

func (o Options) bankURL(reference string) string {
	return strings.TrimRight(o.PublicURL, "/") + BankPath + reference + "/"
}

const notificationSecret = "notification_secret"

// settings are what an account of the sandbox can be told.
var settings = []gateway.Setting{{
	Name: notificationSecret, Type: gateway.SettingText, Secret: true,
	Help: "Lets a test send notifications from outside, signed with it. Without it this process alone knows the secret.",
}}

// Kind describes the sandbox, whose adapters all remember in one ledger.
func Kind(ledger Ledger, options Options) gateway.Kind {
	own := rand.Text()
	return gateway.Kind{
		Name: Name, DisplayName: "Sandbox", Currencies: []string{"EUR"}, Settings: settings, Report: report,
		New: func(account gateway.Account, values gateway.Values) (gateway.Adapter, error) {
			secret := cmp.Or(values.Text(notificationSecret), own)
			return &Adapter{account: account, ledger: ledger, options: options.filled(), secret: secret}, nil
		},
	}
}

// Adapter is the sandbox as one account sees it.
type Adapter struct {
	account gateway.Account
	ledger  Ledger
	options Options
	// secret signs notifications.
	secret string
}

// Submit takes a payment in as its IBAN says. What arrives is in the ledger
// before any waiting begins, as it would be at a gateway across a network.
func (a *Adapter) Submit(ctx context.Context, charge gateway.Charge) (payment.Outcome, error) {
	outcome := outcomeOf(charge.Instrument.IBAN)
	switch outcome {
	case GatewayUnavailable:
		return payment.Outcome{}, fmt.Errorf("sandbox: connection refused: %w", gateway.ErrNotSent)
	case TimeoutLost:
		return payment.Outcome{}, a.giveUp(ctx, charge.Type)
	}
	entry, inserted, err := a.ledger.Insert(ctx, a.newEntry(charge, outcome))
	if err != nil {
		return payment.Outcome{}, fmt.Errorf("sandbox: recording a payment: %w", err)
	}
	if inserted && outcome == TimeoutApproved {
		return payment.Outcome{}, a.giveUp(ctx, charge.Type)
	}
	if inserted && outcome == Slow {
		if err := wait(ctx, charge.Type, a.options.SlowFor); err != nil {
			return payment.Outcome{}, err
		}
	}
	return a.answer(entry), nil
}

func (a *Adapter) newEntry(charge gateway.Charge, outcome Outcome) Entry {
	e := Entry{
		Key: a.key(charge.MerchantTransactionID), Reference: "SBX-" + rand.Text()[:16],
		Outcome: outcome, State: outcome.openingState(charge), Type: charge.Type,
		AmountMinor: charge.AmountMinor, Currency: charge.Currency, MandateReference: charge.MandateReference,
		MerchantName: a.merchantName(charge), ReturnURL: charge.ReturnURL,
		ReceivedAt: charge.At, DecidedAt: charge.At,
	}
	switch {
	case e.State == StateAwaiting:
		e.VerificationReference = "VRF-" + rand.Text()
	case e.State == StatePending:
		e.SettlesAt = charge.At.Add(settlementDelay)
		e.NotifyAt = e.SettlesAt
	case returnCodes[outcome] != "" && e.AmountMinor > 0:
		e.ChargebackAt = charge.At.Add(chargebackDelay)
		e.NotifyAt = e.ChargebackAt
	}
	return e
}

// Verify answers whether the payer has confirmed the mandate. A reference that
// is not this payment's changes nothing and is told as such; none at all means
// the one that Submit gave.
func (a *Adapter) Verify(ctx context.Context, v gateway.Verification) (payment.Outcome, error) {
	entry, found, err := a.ledger.Find(ctx, a.key(v.MerchantTransactionID))
	if err != nil {
		return payment.Outcome{}, fmt.Errorf("sandbox: looking up a payment: %w", err)
	}
	if !found || v.VerificationReference != "" && v.VerificationReference != entry.VerificationReference {
		return payment.Outcome{}, gateway.ErrUnknownVerification
	}
	to := entry.Outcome.verifiedState()
	if entry.State != StateAwaiting || to == StateAwaiting {
		return a.answer(entry), nil
	}
	return a.moveAndAnswer(ctx, entry, to, v.At)
}

// Status answers what became of a payment, and that it is lost when it never
// arrived. An abandoned one that awaits the payer is closed for good.
func (a *Adapter) Status(ctx context.Context, l gateway.Lookup) (payment.Outcome, error) {
	entry, found, err := a.ledger.Find(ctx, a.key(l.MerchantTransactionID))
	if err != nil {
		return payment.Outcome{}, fmt.Errorf("sandbox: looking up a payment: %w", err)
	}
	switch {
	case !found:
		return payment.Outcome{Verdict: payment.VerdictLost}, nil
	case entry.State == StatePending && !l.At.Before(entry.SettlesAt):
		return a.moveAndAnswer(ctx, entry, entry.Outcome.settledState(), entry.SettlesAt)
	case entry.State == StateAwaiting && l.Abandon:
		return a.moveAndAnswer(ctx, entry, StateClosed, l.At)
	default:
		return a.answer(entry), nil
	}
}

func (a *Adapter) moveAndAnswer(ctx context.Context, e Entry, to State, at time.Time) (payment.Outcome, error) {
	e, err := move(ctx, a.ledger, e, to, at)
	if err != nil {
		return payment.Outcome{}, fmt.Errorf("sandbox: deciding a payment: %w", err)
	}
	return a.answer(e), nil
}

func (a *Adapter) key(merchantTransactionID string) Key {
	return Key{TenantID: a.account.TenantID, AccountID: a.account.ID, MerchantTransactionID: merchantTransactionID}
}

// merchantName is the best name there is for who collects.
func (a *Adapter) merchantName(charge gateway.Charge) string {
	for _, name := range []string{charge.MerchantName, charge.Descriptor, a.account.Descriptor} {
		if name != "" {
			return name
		}
	}
	return a.account.Name
}

// giveUp waits for an answer that does not come.
func (a *Adapter) giveUp(ctx context.Context, of payment.TransactionType) error {
	if err := wait(ctx, of, a.options.GiveUpAfter); err != nil {
		return err
	}
	return errNoAnswer
}

// wait takes its time over a transaction. Nobody looks on while a rebill is made,
// and years of them are to pass in seconds.
func wait(ctx context.Context, of payment.TransactionType, d time.Duration) error {
	if of == payment.Rebill {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
