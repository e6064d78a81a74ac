package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
)

const (
	// recallBatch bounds how many subscriptions are read at a time.
	recallBatch = 200
	// recallAhead is how many debits of a period are asked about beyond one that
	// the gateway has not: it may have lost one and got the next.
	recallAhead = 3
	// recallUntil is how long before its day a period may have been sent, at most: payers are told some weeks ahead.
	recallUntil = 60 * 24 * time.Hour
)

// errUnanswered says that a gateway did not answer, so that its subscriptions must
// not be billed yet.
var errUnanswered = errors.New("billing: a gateway has not said what it collected since the backup")

// Recall asks the gateways about everything that a restored database cannot know:
// first about the subscriptions that wait for a collection or owe a period, or did before a gateway
// fell silent in between, then about all other payments that were open, and about every rebill that has fallen due since.
// What a gateway has is taken into the books; what it has not stays due. It is done
// when each of them has answered.
func (b *Billing) Recall(ctx context.Context, now time.Time) error {
	backupAt, err := b.Checkout.Store.RestoredTo(ctx)
	if err != nil {
		return err
	}
	waiting := func(last store.Due) ([]store.Due, error) {
		return b.Checkout.Store.WaitingToRecall(ctx, last, recallBatch)
	}
	if err := recallEach(waiting, func(one store.Due) error { return b.recallWaiting(ctx, one, backupAt, now) }); err != nil {
		return err
	}
	if err := b.Checkout.AskAboutAllOpen(ctx); err != nil {
		return err
	}
	if _, err := b.Checkout.RunDue(ctx, now); err != nil {
		return err
	}
	due := func(last store.Due) ([]store.Due, error) {
		return b.Checkout.Store.ToRecall(ctx, now, last, recallBatch)
	}
	return recallEach(due, func(one store.Due) error { return b.recallOne(ctx, one, backupAt, now) })
}

// recallEach goes through subscriptions batch by batch.
func recallEach(read func(last store.Due) ([]store.Due, error), recall func(store.Due) error) error {
	var last store.Due
	for {
		found, err := read(last)
		if err != nil || len(found) == 0 {
			return err
		}
		for _, last = range found {
			if err := recall(last); err != nil {
				return fmt.Errorf("subscription %s: %w", last.ID, err)
			}
		}
	}
}

// recallWaiting asks about a subscription that may not be due by what the database knows: what it waits for may have been
// answered in the lost time, and what it owes may have been tried sooner. Banks are not asked, their files say it.
func (b *Billing) recallWaiting(ctx context.Context, waiting store.Due, backupAt, now time.Time) error {
	sub, err := b.Checkout.Store.Tenant(waiting.TenantID).Subscription(ctx, waiting.ID)
	if err != nil {
		return err
	}
	setup, err := b.Checkout.SetupOf(ctx, waiting.TenantID)
	if err != nil {
		return err
	}
	if _, isBank := b.Checkout.Planner(setup, sub.GatewayID); isBank {
		return nil
	}
	if sub.OpenTransactionID != nil {
		if err := b.Checkout.AskAboutCollection(ctx, setup, *sub.OpenTransactionID); err != nil {
			return errors.Join(errUnanswered, err)
		}
	}
	return b.recallOne(ctx, waiting, backupAt, now)
}

// recallOne takes in every debit of a subscription that the gateway has and we have
// not. A refused one may have been tried again before we would do so. What is never
// billed by itself no gateway has, nor what will be billed long after now, whatever it says.
func (b *Billing) recallOne(ctx context.Context, due store.Due, backupAt, now time.Time) error {
	tenant := b.Checkout.Store.Tenant(due.TenantID)
	for {
		found, err := tenant.DueSubscription(ctx, due.ID)
		if err != nil || found.Subscription.DueAt().IsZero() {
			return err
		}
		last, err := tenant.LastBilledPeriod(ctx, found.Subscription)
		if err != nil {
			return err
		}
		isKnown := false
		for _, period := range toRecall(found.Subscription, last, backupAt, now) {
			if isKnown, err = b.recallNext(ctx, found, period, now); err != nil {
				return err
			}
			if isKnown {
				break
			}
		}
		if !isKnown {
			return nil
		}
	}
}

// toRecall are the periods of which a gateway may have the next debit, in order: the one that is billed next, and where nothing
// of it is owed those beside it that have begun. Periods that pass while another one is tried again are left out, and
// when that was collected is not known: those that have begun since the backup, behind the last in the books, may have been billed, and those
// that we would bill left out.
func toRecall(s payment.Subscription, last int, backupAt, now time.Time) (periods []int) {
	next := s.PeriodStart(s.Period)
	if next.IsZero() || next.Start().After(now.Add(recallUntil)) {
		return nil
	}
	if s.Tries > 0 {
		return []int{s.Period}
	}
	first := s.Period
	for first > last+1 && s.PeriodStart(first-1).Start().After(backupAt) {
		first--
	}
	latest := next.Start().Add(recallUntil)
	for period := first; ; period++ {
		begins := s.PeriodStart(period).Start()
		if period > s.Period && (begins.After(now) || begins.After(latest)) {
			return periods
		}
		periods = append(periods, period)
	}
}

// recallNext asks for the next debit of a period, and for a few behind it. Those that the gateway has lost count as tries.
func (b *Billing) recallNext(ctx context.Context, due store.DueSubscription, period int, now time.Time) (found bool, err error) {
	setup, err := b.Checkout.Store.Setup(ctx, due.Subscription.TenantID, due.SetupVersion)
	if err != nil {
		return false, err
	}
	lost, stored := 0, due.Subscription
	due.Subscription.Period = period
	for ahead := 0; ahead <= recallAhead; ahead++ {
		rebill, err := payment.RecallRebill(due.Subscription, due.First, now)
		if err != nil {
			return false, err
		}
		rebill.Before.Subscription = &stored
		rebill.KeepPrice(due.TriedMinor)
		rebill.KeepCount(due.ReturnedTries)
		rebill.Transaction.MerchantTransactionID = payment.RebillReference(due.Subscription, rebill.Subscription.Tries+ahead)
		if isTaken, isKnown, err := b.recognize(ctx, setup, due, rebill); err != nil || isKnown {
			return isKnown, err
		} else if isTaken {
			continue
		}
		outcome, err := b.Checkout.AskAboutRebill(ctx, setup, rebill.Debit)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			return false, nil // it recognizes a repeat by its reference, or nobody can
		case err != nil:
			return false, errors.Join(errUnanswered, err)
		case outcome.Verdict == payment.VerdictLost:
			lost++
			continue
		}
		rebill.KeepCount(rebill.Subscription.Tries - 1 + lost)
		err = b.Checkout.Store.Write(ctx, now, func(tx *store.Tx) error {
			tx.ClaimRebill(rebill, due.SealedIBAN)
			return nil
		})
		if err != nil {
			return false, err
		}
		if err := b.Checkout.SettleRebill(ctx, setup, rebill.Debit, outcome); err != nil {
			return false, err
		}
		return true, b.linkChargeback(ctx, setup, rebill.Transaction)
	}
	return false, nil
}

// linkChargeback takes in that a recalled rebill was charged back, where the gateway has said so before it was asked.
func (b *Billing) linkChargeback(ctx context.Context, setup *merchant.Setup, t payment.Transaction) error {
	if err := b.Checkout.LinkChargebacks(ctx, setup, t.ID); payment.KindOf(err) == 0 {
		return err
	}
	return nil // it contradicts what was answered, and stays for a person
}

// recognize tells whether a rebill's reference is taken, and whether that is because its gateway has reported it: then
// it is taken into the books and must not be sent.
func (b *Billing) recognize(ctx context.Context, setup *merchant.Setup, due store.DueSubscription, rebill payment.Change) (isTaken, isKnown bool, err error) {
	named, isTaken, err := b.Checkout.Store.Tenant(due.Subscription.TenantID).Named(ctx, rebill.Transaction.MerchantTransactionID)
	if err != nil || !isTaken || !named.IsRebill(rebill.Transaction) {
		return isTaken, false, err
	}
	return true, true, b.Checkout.RecognizeRebill(ctx, setup, rebill, named, due.SealedIBAN)
}

// recognizeDue does so for a subscription that is due, whose next reference but so many is taken.
func (b *Billing) recognizeDue(ctx context.Context, sub payment.Subscription, taken int, now time.Time) (isKnown bool, err error) {
	due, err := b.Checkout.Store.Tenant(sub.TenantID).DueSubscription(ctx, sub.ID)
	if err != nil {
		return false, err
	}
	setup, err := b.Checkout.Store.Setup(ctx, sub.TenantID, due.SetupVersion)
	if err != nil {
		return false, err
	}
	rebill, err := payment.RecallRebill(due.Subscription, due.First, now)
	if err != nil {
		return false, err
	}
	rebill.KeepCount(due.ReturnedTries)
	rebill.Transaction.MerchantTransactionID = payment.RebillReference(due.Subscription, rebill.Subscription.Tries+taken)
	_, isKnown, err = b.recognize(ctx, setup, due, rebill)
	return isKnown, err
}
