package checkout

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// Taken says what became of something that was reported to us.
type Taken string

const (
	TakenNew       Taken = "new"
	TakenUpdated   Taken = "updated"
	TakenUnchanged Taken = "unchanged"
)

// errChargebackDiffers refuses a report that contradicts an earlier one.
var errChargebackDiffers = payment.Conflicting("The chargeback is known with another amount or currency.")

// ChargeBack records by hand that a payment was charged back. A second one for
// the same payment is a conflict.
func (c *Checkout) ChargeBack(ctx context.Context, tenantID, transactionID uuid.UUID, report payment.Chargeback) (payment.Chargeback, error) {
	setup, err := c.setupOf(ctx, tenantID)
	if err != nil {
		return payment.Chargeback{}, err
	}
	var recorded payment.Chargeback
	err = retry(func() error {
		paid, err := c.Store.Tenant(tenantID).Collection(ctx, transactionID)
		if err != nil {
			return err
		}
		known, err := c.Store.Tenant(tenantID).ChargebackByMerchantID(ctx, paid.Transaction.MerchantTransactionID)
		if err != nil {
			return err
		}
		if known != nil {
			return payment.ErrChargedBack
		}
		now := c.now()
		change, err := payment.ChargeBack(paid, report, c.KeepSubscriptions, now)
		if err != nil {
			return err
		}
		recorded = *change.Chargeback
		return c.apply(ctx, setup, paid, nil, change, now)
	})
	return recorded, err
}

// TakeChargeback records a chargeback that a processor's file reports. The same
// one from any source is one chargeback; one whose payment is not known yet is
// kept until it is. The payment is found by our reference, the processor's, or
// the one that the processor gives the chargeback's payment. A dry run says what
// would become of it.
func (c *Checkout) TakeChargeback(ctx context.Context, setup *merchant.Setup, report payment.Chargeback, paymentID string, isDryRun bool) (taken Taken, err error) {
	write := c.apply
	if isDryRun {
		write = func(context.Context, *merchant.Setup, payment.Collection, *payment.Transaction, payment.Change, time.Time) error {
			return nil
		}
	}
	err = retry(func() error {
		taken, err = c.takeChargeback(ctx, setup, report, paymentID, write)
		return err
	})
	return taken, err
}

// applier writes a change, or only looks at it.
type applier func(context.Context, *merchant.Setup, payment.Collection, *payment.Transaction, payment.Change, time.Time) error

func (c *Checkout) takeChargeback(ctx context.Context, setup *merchant.Setup, report payment.Chargeback, paymentID string, write applier) (Taken, error) {
	tenant := c.Store.Tenant(setup.Tenant.ID)
	paid, err := c.findPayment(ctx, tenant, report.GatewayID, report.MerchantTransactionID, report.GatewayReference)
	if payment.KindOf(err) == payment.NotFound && paymentID != "" {
		paid, err = c.findPayment(ctx, tenant, report.GatewayID, "", paymentID)
	}
	isKnown := err == nil
	if err != nil && payment.KindOf(err) != payment.NotFound {
		return "", err
	}
	for _, name := range []string{paid.Transaction.MerchantTransactionID, report.GatewayReference, paymentID} {
		if report.MerchantTransactionID == "" {
			report.MerchantTransactionID = name
		}
	}
	earlier, err := tenant.ChargebackByMerchantID(ctx, report.MerchantTransactionID)
	if err != nil {
		return "", err
	}
	switch {
	case earlier != nil && (earlier.AmountMinor != report.AmountMinor || earlier.Currency != report.Currency):
		return "", errChargebackDiffers
	case earlier != nil && (earlier.TransactionID != nil || !isKnown):
		return TakenUnchanged, nil
	case earlier != nil:
		return TakenUpdated, c.link(ctx, setup, paid, *earlier, write)
	case !isKnown:
		return TakenNew, c.keepUnlinked(ctx, setup, report, write)
	}
	return c.chargeBackKnown(ctx, setup, paid, report, write)
}

// findPayment finds a payment by either of its names.
func (c *Checkout) findPayment(ctx context.Context, tenant store.Tenant, gatewayID uuid.UUID, merchantTransactionID, reference string) (payment.Collection, error) {
	err := error(store.ErrNoTransaction)
	var found payment.Collection
	if merchantTransactionID != "" {
		found, err = tenant.CollectionByMerchantID(ctx, merchantTransactionID)
	}
	if payment.KindOf(err) == payment.NotFound && reference != "" {
		found, err = tenant.CollectionByGatewayReference(ctx, gatewayID, reference)
	}
	return found, err
}

// chargeBackKnown takes a payment back that is known. A report must fit it to
// the cent: a part of a direct debit cannot be charged back.
func (c *Checkout) chargeBackKnown(ctx context.Context, setup *merchant.Setup, paid payment.Collection, report payment.Chargeback, write applier) (Taken, error) {
	t := paid.Transaction
	if report.GatewayID != t.GatewayID {
		return "", payment.Conflicting("The payment was made through another gateway.")
	}
	if report.AmountMinor != 0 && report.AmountMinor != t.AmountMinor {
		return "", payment.Conflicting("The payment's amount is " + t.AmountMinor.String() + ".")
	}
	now := c.now()
	change, err := payment.ChargeBack(paid, report, c.KeepSubscriptions, now)
	if errors.Is(err, payment.ErrChargedBack) {
		return TakenUnchanged, nil
	}
	if err != nil {
		return "", err
	}
	return TakenNew, write(ctx, setup, paid, nil, change, now)
}

// keepUnlinked records a chargeback of a payment that is not known. Who brings
// the payment in looks for it; since both may happen at once, it is looked for
// the payment again here.
func (c *Checkout) keepUnlinked(ctx context.Context, setup *merchant.Setup, report payment.Chargeback, write applier) error {
	report.TenantID = setup.Tenant.ID
	now := c.now()
	change := payment.RecordUnlinked(report, now)
	if err := write(ctx, setup, payment.Collection{}, nil, change, now); err != nil {
		return err
	}
	paid, err := c.findPayment(ctx, c.Store.Tenant(setup.Tenant.ID), report.GatewayID, report.MerchantTransactionID, report.GatewayReference)
	if payment.KindOf(err) == payment.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	return c.LinkChargebacks(ctx, setup, paid.Transaction.ID)
}

// LinkChargebacks applies a chargeback that came before its payment.
func (c *Checkout) LinkChargebacks(ctx context.Context, setup *merchant.Setup, transactionID uuid.UUID) error {
	tenant := c.Store.Tenant(setup.Tenant.ID)
	return retry(func() error {
		paid, err := tenant.Collection(ctx, transactionID)
		if err != nil {
			return err
		}
		waiting, err := tenant.UnlinkedChargeback(ctx, paid.Transaction)
		if err != nil || waiting == nil {
			return err
		}
		return c.link(ctx, setup, paid, *waiting, c.apply)
	})
}

func (c *Checkout) link(ctx context.Context, setup *merchant.Setup, paid payment.Collection, waiting payment.Chargeback, write applier) error {
	now := c.now()
	change, err := payment.LinkChargeback(paid, waiting, c.KeepSubscriptions, now)
	if err != nil {
		return err
	}
	return write(ctx, setup, paid, nil, change, now)
}
