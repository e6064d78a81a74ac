package checkout

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/webhook"
)

// ReportedChargeback is a chargeback as a processor speaks of it.
type ReportedChargeback struct {
	payment.Chargeback
	// PaymentID is the processor's own id of the payment, where it has given the
	// chargeback another one.
	PaymentID string
}

// ChargebackReport is what a gateway reports at once.
type ChargebackReport struct {
	GatewayID   uuid.UUID
	Source      payment.ChargebackSource
	Chargebacks []ReportedChargeback
	// IsDryRun says what would become of them, and changes nothing.
	IsDryRun bool
	// Along is written with what the chargebacks lead to, or with nothing where they are known already; not where one is
	// refused.
	Along func(*store.Tx)
	// RestsOn is asked by the unit that writes, before anything is written; nil for the memory of whom a chargeback must not name.
	RestsOn func(*store.Tx) error
}

// TakenChargeback is what became of a reported chargeback: it was taken, or
// refused with a reason.
type TakenChargeback struct {
	Taken   payment.Taken
	Refused error
}

// TakeChargebacks records chargebacks that a gateway reports, one after the
// other in their effects and all together in how they are written. Payments are
// found by our reference, the processor's, or the one that the processor gives
// the chargeback's payment.
func (c *Checkout) TakeChargebacks(ctx context.Context, setup *merchant.Setup, report ChargebackReport) (taken []TakenChargeback, err error) {
	if report.RestsOn != nil {
		return c.takeAllChargebacks(ctx, setup, report)
	}
	all := report.Chargebacks
	err = c.withoutErased(ctx, setup.Tenant.ID, func(memory *store.Memory) error {
		report.Chargebacks = slices.Clone(all)
		for i := range all {
			memory.ForgetDebtor(&report.Chargebacks[i].Chargeback)
		}
		report.RestsOn = func(tx *store.Tx) error { return tx.RestOnMemory(memory) }
		taken, err = c.takeAllChargebacks(ctx, setup, report)
		return err
	})
	return taken, err
}

func (c *Checkout) takeAllChargebacks(ctx context.Context, setup *merchant.Setup, report ChargebackReport) ([]TakenChargeback, error) {
	var taken []TakenChargeback
	err := retry(func() (err error) {
		taken, err = c.takeChargebacks(ctx, setup, report)
		return err
	})
	all := report.Chargebacks
	if !errors.Is(err, store.ErrStale) || len(all) < 2 {
		return taken, err
	}
	// Others keep changing one of the payments; the rest need not wait for it.
	report.Chargebacks = all[:len(all)/2]
	first, err := c.takeAllChargebacks(ctx, setup, report)
	if err != nil {
		return nil, err
	}
	report.Chargebacks = all[len(all)/2:]
	second, err := c.takeAllChargebacks(ctx, setup, report)
	return append(first, second...), err
}

// takeChargebacks reads what the reports are about, decides on each, and writes
// what follows. ErrStale says that somebody else was faster.
func (c *Checkout) takeChargebacks(ctx context.Context, setup *merchant.Setup, report ChargebackReport) ([]TakenChargeback, error) {
	tenantID := setup.Tenant.ID
	known, err := c.readReported(ctx, tenantID, report)
	if err != nil {
		return nil, err
	}
	now := c.now()
	answers := make([]TakenChargeback, len(report.Chargebacks))
	var effects []store.Applied
	for i, reported := range report.Chargebacks {
		reported.TenantID, reported.GatewayID, reported.Source = tenantID, report.GatewayID, report.Source
		effect, taken, err := known.take(reported, func(sub *payment.Subscription) payment.Policy { return c.policy(setup, sub) }, now)
		if err != nil && payment.KindOf(err) == 0 {
			return nil, err
		}
		if answers[i] = (TakenChargeback{taken, err}); effect.Chargeback == nil && effect.Fee == nil {
			continue
		}
		if effect.Events, err = webhook.Rows(ctx, c.Store, setup, effect.Change); err != nil {
			return nil, err
		}
		effects = append(effects, effect)
	}
	if report.IsDryRun {
		return answers, nil
	}
	isRefused := slices.ContainsFunc(answers, func(one TakenChargeback) bool { return one.Refused != nil })
	if err := c.writeReported(ctx, tenantID, now, effects, report.RestsOn, unless(isRefused, report.Along)); err != nil {
		return nil, err
	}
	for _, effect := range effects {
		c.alert(ctx, effect.Change, now)
	}
	return answers, c.lookAgain(ctx, setup, report.GatewayID, effects)
}

// lookAgain looks once more for the payments of chargebacks that were recorded
// without: who brings a payment in looks for its chargeback, but both may happen
// at once.
func (c *Checkout) lookAgain(ctx context.Context, setup *merchant.Setup, gatewayID uuid.UUID, effects []store.Applied) error {
	again := ChargebackReport{GatewayID: gatewayID}
	for _, e := range effects {
		if e.Chargeback != nil && e.Chargeback.TransactionID == nil {
			again.Chargebacks = append(again.Chargebacks, ReportedChargeback{Chargeback: *e.Chargeback})
		}
	}
	if len(again.Chargebacks) == 0 {
		return nil
	}
	known, err := c.readReported(ctx, setup.Tenant.ID, again)
	if err != nil {
		return err
	}
	for _, waiting := range again.Chargebacks {
		paid := known.payment(waiting)
		if paid == nil {
			continue
		}
		if err := c.LinkChargebacks(ctx, setup, paid.Transaction.ID); err != nil && payment.KindOf(err) == 0 {
			return err
		}
	}
	return nil
}

// reportedOn is what is known of the payments and chargebacks that a report
// names. Each of its chargebacks finds what those before it have left behind.
type reportedOn struct {
	debits
	byMerchantID map[string]uuid.UUID
	byReference  map[string]uuid.UUID
	chargebacks  map[string]*payment.Chargeback
	// recorded are those that payments have, by whatever name.
	recorded map[uuid.UUID]*payment.Chargeback
}

func (c *Checkout) readReported(ctx context.Context, tenantID uuid.UUID, report ChargebackReport) (*reportedOn, error) {
	tenant := c.Store.Tenant(tenantID)
	var references, gatewayReferences names
	for _, r := range report.Chargebacks {
		references.add(r.MerchantTransactionID)
		gatewayReferences.add(r.GatewayReference, r.PaymentID)
	}
	known := &reportedOn{
		debits: newDebits(), byMerchantID: map[string]uuid.UUID{}, byReference: map[string]uuid.UUID{},
		chargebacks: map[string]*payment.Chargeback{}, recorded: map[uuid.UUID]*payment.Chargeback{},
	}
	byMerchantID, err := tenant.DebitsByMerchantID(ctx, references.list)
	if err != nil {
		return nil, err
	}
	for _, paid := range byMerchantID {
		known.byMerchantID[paid.Transaction.MerchantTransactionID] = paid.Transaction.ID
		known.keep(paid)
		references.add(paid.Transaction.GatewayReference)
	}
	byReference, err := tenant.DebitsByGatewayReference(ctx, report.GatewayID, gatewayReferences.list)
	if err != nil {
		return nil, err
	}
	for _, paid := range byReference {
		known.byReference[paid.Transaction.GatewayReference] = paid.Transaction.ID
		known.keep(paid)
		references.add(paid.Transaction.MerchantTransactionID)
	}
	if err := known.addSessions(ctx, tenant); err != nil {
		return nil, err
	}
	// A chargeback without our reference goes by the processor's.
	references.add(gatewayReferences.list...)
	chargebacks, err := tenant.ChargebacksByMerchantID(ctx, references.list)
	for i := range chargebacks {
		known.chargebacks[chargebacks[i].MerchantTransactionID] = &chargebacks[i]
	}
	if err != nil {
		return nil, err
	}
	return known, known.addRecorded(ctx, tenant)
}

// addRecorded finds the chargebacks of those payments that are charged back: one that a file has brought in so has none.
func (k *reportedOn) addRecorded(ctx context.Context, tenant store.Tenant) error {
	var back []uuid.UUID
	for _, named := range []map[string]uuid.UUID{k.byMerchantID, k.byReference} {
		for _, id := range named {
			if paid := k.present(id); paid.Transaction.IsChargedBack() {
				back = append(back, id)
			}
		}
	}
	recorded, err := tenant.ChargebacksOf(ctx, back)
	for i := range recorded {
		k.recorded[*recorded[i].TransactionID] = &recorded[i]
	}
	return err
}

// names is a list without repetitions.
type names struct {
	list []string
	seen map[string]bool
}

func (n *names) add(more ...string) {
	if n.seen == nil {
		n.seen = map[string]bool{"": true}
	}
	for _, name := range more {
		if !n.seen[name] {
			n.seen[name] = true
			n.list = append(n.list, name)
		}
	}
}

// payment finds what a report is about, nil where that is not known.
func (k *reportedOn) payment(r ReportedChargeback) *payment.Debit {
	id, found := k.byMerchantID[r.MerchantTransactionID]
	for _, reference := range []string{r.GatewayReference, r.PaymentID} {
		if !found {
			id, found = k.byReference[reference]
		}
	}
	if !found {
		return nil
	}
	paid := k.present(id)
	return &paid
}

// waiting finds a chargeback that was recorded by the processor's names before its payment was known, and that the payment has
// not found, as whoever brought that in may have died: the report calls it by the payment's name now, and means the same.
func (k *reportedOn) waiting(of payment.Transaction, r ReportedChargeback) *payment.Chargeback {
	names := []string{of.GatewayReference, r.PaymentID, r.GatewayReference}
	for _, name := range names {
		known := k.chargebacks[name]
		if known != nil && known.TransactionID == nil && known.GatewayID == of.GatewayID && known.AmountMinor == r.AmountMinor &&
			known.GatewayReference != "" && slices.Contains(names, known.GatewayReference) {
			return known
		}
	}
	return nil
}

// take decides on a report and keeps in mind what follows from it.
func (k *reportedOn) take(r ReportedChargeback, policy func(*payment.Subscription) payment.Policy, now time.Time) (store.Applied, payment.Taken, error) {
	paid := k.payment(r)
	others := []string{r.GatewayReference, r.PaymentID}
	if paid != nil {
		others = append([]string{paid.Transaction.MerchantTransactionID}, others...)
	}
	for _, name := range others {
		if r.MerchantTransactionID == "" {
			r.MerchantTransactionID = name
		}
	}
	if paid == nil && r.PaymentID != "" {
		r.GatewayReference = r.PaymentID // by which the payment finds it, once that is known
	}
	var holds payment.Policy
	var recorded *payment.Chargeback
	if paid != nil {
		holds, recorded = policy(paid.Subscription), k.recorded[paid.Transaction.ID]
	}
	earlier := k.chargebacks[r.MerchantTransactionID]
	if earlier == nil && paid != nil && recorded == nil {
		earlier = k.waiting(paid.Transaction, r)
	}
	change, taken, err := payment.TakeChargeback(paid, earlier, recorded, r.Chargeback, holds, now)
	known := cmp.Or(change.Chargeback, change.Fee)
	if known == nil {
		return store.Applied{}, taken, err
	}
	k.chargebacks[known.MerchantTransactionID] = known
	if of := known.TransactionID; of != nil {
		k.recorded[*of] = known
	}
	if paid != nil && change.Transaction.ID != uuid.Nil {
		k.keep(change.Debit)
	}
	return store.Applied{Change: change, IsNew: taken == payment.TakenNew}, taken, err
}
