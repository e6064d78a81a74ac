package checkout

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/webhook"
)

// ErrNoGateway is the answer for a gateway that nobody has, or that does not
// send notifications.
var ErrNoGateway = &payment.Error{Kind: payment.NotFound, Detail: "Gateway not found"}

// Notified counts what a notification reported.
type Notified struct {
	// Taken were taken in, or known already.
	Taken int
	// Refused contradict our records; they are logged and need a person.
	Refused int
}

// Notify takes a gateway's notification in. Saying the same twice, at once or
// later, changes nothing, and the order in which things are said does not
// matter. An error wraps gateway.ErrForged or gateway.ErrUnreadable where the
// sender is at fault.
func (c *Checkout) Notify(ctx context.Context, gatewayID uuid.UUID, n gateway.Notification) (Notified, error) {
	tenantID, _, found, err := c.Store.RecordOwner(ctx, gatewayID)
	if err == nil && !found {
		err = ErrNoGateway
	}
	if err != nil {
		return Notified{}, err
	}
	setup, err := c.SetupOf(ctx, tenantID)
	if err != nil {
		return Notified{}, err
	}
	client, err := c.receiverOf(setup, gatewayID)
	if err != nil {
		return Notified{}, err
	}
	notices, err := client.Receive(ctx, n)
	if err != nil {
		return Notified{}, err
	}
	return c.takeNotices(context.WithoutCancel(ctx), setup, gatewayID, notices)
}

// receiverOf finds a gateway that sends notifications. One that was switched off
// still reports of payments made before.
func (c *Checkout) receiverOf(setup *merchant.Setup, gatewayID uuid.UUID) (*gateway.Client, error) {
	if _, known := setup.Gateways[gatewayID]; !known {
		return nil, ErrNoGateway
	}
	client, _, err := c.Account(setup, gatewayID)
	if err == nil && !client.CanReceive() {
		err = ErrNoGateway
	}
	return client, err
}

func (c *Checkout) takeNotices(ctx context.Context, setup *merchant.Setup, gatewayID uuid.UUID, notices []gateway.Notice) (Notified, error) {
	var told Notified
	for _, notice := range notices {
		notice.Transaction.GatewayID, notice.Transaction.TenantID = gatewayID, setup.Tenant.ID
		err := retry(func() error { return c.takeNotice(ctx, setup, notice) })
		switch {
		case err == nil:
			told.Taken++
		case payment.KindOf(err) != 0:
			told.Refused++
			c.Logger.ErrorContext(ctx, "a gateway's notification contradicts our records and needs a person",
				"gateway_id", gatewayID, "merchant_transaction_id", notice.Transaction.MerchantTransactionID, "reason", err.Error())
		default:
			return told, err
		}
	}
	return told, nil
}

// takeNotice brings our records to what a gateway says of one payment.
func (c *Checkout) takeNotice(ctx context.Context, setup *merchant.Setup, n gateway.Notice) error {
	reported := n.Transaction
	known, err := c.findPayment(ctx, c.Store.Tenant(setup.Tenant.ID), reported.GatewayID, reported.MerchantTransactionID, reported.GatewayReference)
	isUnknown := payment.KindOf(err) == payment.NotFound
	if err != nil && !isUnknown {
		return err
	}
	if n.Chargeback != nil {
		taken, err := c.TakeChargebacks(ctx, setup, ChargebackReport{
			GatewayID: reported.GatewayID, Source: payment.ChargebackNotified,
			Chargebacks: []ReportedChargeback{{Chargeback: *n.Chargeback}},
		})
		if err != nil {
			return err
		}
		return taken[0].Refused
	}
	if isUnknown {
		return c.bringIn(ctx, setup, n)
	}
	if err := c.takeOutcome(ctx, setup, known, n); err != nil || !known.Transaction.IsBroughtIn() {
		return err
	}
	// Whoever brought it in may have died before it came to its chargeback.
	return c.LinkChargebacks(ctx, setup, known.Transaction.ID)
}

// takeOutcome settles a known payment or refund that waits for an answer.
func (c *Checkout) takeOutcome(ctx context.Context, setup *merchant.Setup, known payment.Debit, n gateway.Notice) error {
	known, err := c.withPayment(ctx, known)
	if err != nil {
		return err
	}
	if t := known.Asked(); t.GatewayID != n.Transaction.GatewayID || !t.SameMoney(n.Transaction) {
		return payment.ErrContradicts
	}
	changes, err := known.Hear(n.Outcome)
	if err != nil || !changes {
		return err
	}
	now := c.now()
	settled, err := known.Settle(c.planned(setup, known, n.Outcome, now), c.policy(setup, known.Subscription), now)
	if err != nil {
		return err
	}
	return c.apply(ctx, setup, settled, now)
}

// ApplyReported does what a processor's file says of a payment that is known and
// says otherwise here (payment.Transaction.Against).
func (c *Checkout) ApplyReported(ctx context.Context, setup *merchant.Setup, transactionID uuid.UUID, means payment.Reported,
	reported payment.Transaction, source payment.ChargebackSource,
) error {
	return retry(func() error {
		known, err := c.Store.Tenant(setup.Tenant.ID).Debit(ctx, transactionID)
		if err != nil {
			return err
		}
		if known.Transaction.ProcessorID == "" {
			known.Transaction.ProcessorID = reported.ProcessorID
		}
		switch means {
		case payment.ReportsOutcome:
			return c.hear(ctx, setup, known, payment.ReportedOutcome(reported))
		case payment.ReportsRefund:
			now := c.now()
			change, err := known.RefundElsewhere(c.policy(setup, known.Subscription), now)
			if err != nil {
				return err
			}
			return c.apply(ctx, setup, change, now)
		case payment.ReportsChargeback:
			return c.chargeBackReported(ctx, setup, known.Transaction, reported, source)
		default:
			return nil
		}
	})
}

// hear settles a payment that was found by its own id, so that its account and its
// amount are not in doubt.
func (c *Checkout) hear(ctx context.Context, setup *merchant.Setup, known payment.Debit, o payment.Outcome) error {
	return c.takeOutcome(ctx, setup, known, gateway.Notice{Transaction: payment.Transaction{GatewayID: known.Transaction.GatewayID}, Outcome: o})
}

// chargeBackReported records a chargeback that a line about the payment reports.
func (c *Checkout) chargeBackReported(ctx context.Context, setup *merchant.Setup, t, reported payment.Transaction, source payment.ChargebackSource) error {
	taken, err := c.TakeChargebacks(ctx, setup, ChargebackReport{
		GatewayID: t.GatewayID, Source: source,
		Chargebacks: []ReportedChargeback{{Chargeback: payment.Chargeback{
			MerchantTransactionID: t.MerchantTransactionID, GatewayReference: reported.GatewayReference,
			AmountMinor: reported.AmountMinor, Currency: reported.Currency, ReportedAt: reported.ProcessedAt,
		}}},
	})
	if err != nil {
		return err
	}
	return taken[0].Refused
}

// CreatedEvents renders the event of a record that a file brings in.
func (c *Checkout) CreatedEvents(ctx context.Context, setup *merchant.Setup, t payment.Transaction) ([]store.EventRow, error) {
	return webhook.Rows(ctx, c.Store, setup, payment.Created(t))
}

// bringIn records a payment that we did not know.
func (c *Checkout) bringIn(ctx context.Context, setup *merchant.Setup, n gateway.Notice) error {
	var change payment.Change
	err := c.withoutErased(ctx, setup.Tenant.ID, func(memory *store.Memory) error {
		memory.ForgetPayer(&n.Transaction)
		now := c.now()
		change = payment.BringIn(n.Transaction, n.Outcome, payment.SourceWebhook, now)
		events, err := webhook.Rows(ctx, c.Store, setup, change)
		if err != nil {
			return err
		}
		return c.Store.Write(ctx, now, func(tx *store.Tx) error {
			if err := tx.RestOnMemory(memory); err != nil {
				return err
			}
			tx.AddTransaction(change.Transaction, events)
			return nil
		})
	})
	if err != nil {
		return err
	}
	return c.LinkChargebacks(ctx, setup, change.Transaction.ID)
}

// withoutErased writes what others know of persons: it rests on a memory of whom it must not name, and is written again with
// another one for as long as somebody is erased meanwhile.
func (c *Checkout) withoutErased(ctx context.Context, tenantID uuid.UUID, write func(*store.Memory) error) error {
	for {
		memory, err := c.Store.Memory(ctx, tenantID)
		if err != nil {
			return err
		}
		if err := write(memory); !errors.Is(err, store.ErrMemoryOld) {
			return err
		}
	}
}

// resendAfter is when a notification is sent again that was not taken.
const resendAfter = time.Hour

// runAnnouncements has gateways that live in this program report what has come to
// pass at them. They are another company's program in all but place: what they say
// goes through the same door, signed, as any gateway's words.
func (c *Checkout) runAnnouncements(ctx context.Context, now time.Time) (done int, err error) {
	for {
		due, err := c.Announcements(ctx, now, dueBatch)
		if err != nil || len(due) == 0 {
			return done, err
		}
		for _, announced := range due {
			var again time.Time
			if err := c.notifyOf(ctx, announced, now); err != nil {
				c.Logger.WarnContext(ctx, "a notification of the sandbox was not taken", "account_id", announced.AccountID,
					"merchant_transaction_id", announced.MerchantTransactionID, "error", err)
				again = now.Add(resendAfter)
			}
			if err := announced.Acknowledge(ctx, again); err != nil {
				return done, err
			}
			done++
		}
	}
}

// notifyOf sends one notification, if the account is still such a gateway's.
func (c *Checkout) notifyOf(ctx context.Context, a gateway.Announcement, now time.Time) error {
	setup, err := c.SetupOf(ctx, a.TenantID)
	if err != nil {
		return err
	}
	client, _, err := c.Account(setup, a.AccountID)
	if err != nil {
		return err
	}
	n, speaks, err := client.Announce(ctx, a.MerchantTransactionID, now)
	if err != nil || !speaks {
		return err
	}
	_, err = c.Notify(ctx, a.AccountID, n)
	return err
}
