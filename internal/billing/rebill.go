package billing

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"sepad/internal/clock"
	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/store"
)

// Work is done in lanes: each claims a few subscriptions at a time and sends
// their rebills together. One lane is opened after another while there is more
// than fits into those that are open, so that a slow gateway holds up its lane
// only, and so that what a process holds in memory is bounded.
const (
	usualLanes   = 8
	usualPerLane = 8
	// claimTries bounds how many debits of one period are passed over whose
	// references are taken: by tries that cost nothing, or by pure chance.
	claimTries    = 32
	usualPatience = time.Minute
	// sendPatience is in patiences: there is one for sending, one for the gateway's answer and one for writing it down.
	sendPatience = 3
)

// claim is a rebill that is written down and waits to be sent.
type claim struct {
	payment.Debit
	due        store.DueSubscription
	sendBefore clock.Deadline
}

// RunDue bills every subscription that is due by an instant, ends those whose
// mandate has lapsed, and prepares those whose payers are told beforehand. It says
// how much was done. Whoever else does the same at the same time gets other
// subscriptions.
func (b *Billing) RunDue(ctx context.Context, now time.Time) (int, error) {
	billed, err := b.runLanes(ctx, pickDue(now), now)
	prepared, prepareErr := b.prepare(ctx, now)
	return billed + prepared, errors.Join(err, prepareErr)
}

// IsBilledElsewhere tells whether somebody else is about to claim what is due by an instant, or
// waits for the answer of a gateway. What is being claimed is looked at first: it is under way as
// soon as it is due no more.
func (b *Billing) IsBilledElsewhere(ctx context.Context, now time.Time) (bool, error) {
	realNow := b.Checkout.Real.Now()
	due, err := b.Checkout.Store.SubscriptionsDue(ctx, now, 1+b.Checkout.Aside.Len(realNow))
	if err != nil || len(b.workable(due, 1, realNow)) > 0 {
		return err == nil, err
	}
	return b.Checkout.Store.SweepsUnderWay(ctx)
}

// pick is a choice of subscriptions to bill: those that nobody else has taken, and
// the last billing date among them that may be opened.
type pick struct {
	read  func(tx *store.Tx, limit int, except []uuid.UUID) ([]store.DueSubscription, error)
	until payment.Date
}

// pickDue picks what is due.
func pickDue(now time.Time) pick {
	return pick{
		read: func(tx *store.Tx, limit int, except []uuid.UUID) ([]store.DueSubscription, error) {
			return tx.SubscriptionsDue(now, limit, except...)
		},
		until: payment.DateOf(now),
	}
}

// runLanes bills all that a pick finds.
func (b *Billing) runLanes(ctx context.Context, from pick, now time.Time) (int, error) {
	var done atomic.Int64
	var lanes errgroup.Group
	lanes.SetLimit(cmp.Or(b.Lanes, usualLanes))
	var lane func() error
	lane = func() error {
		return b.runLane(ctx, from, now, &done, func() { lanes.TryGo(lane) })
	}
	lanes.Go(lane)
	err := lanes.Wait()
	return int(done.Load()), err
}

// runLane works until nothing is due. What cannot be claimed is set aside and does
// not hold up what is due behind it.
func (b *Billing) runLane(ctx context.Context, from pick, now time.Time, done *atomic.Int64, more func()) (failed error) {
	perLane := cmp.Or(b.PerLane, usualPerLane)
	size, single := perLane, 0
	for {
		if err := ctx.Err(); err != nil {
			return errors.Join(failed, err)
		}
		// A sweep may take minutes, and what it writes bears the time at which it is written: a period that another
		// process has settled meanwhile was settled before the next one is claimed.
		if present := b.Checkout.Clock.Now(); present.After(now) {
			now = present
		}
		claims, found, broken, err := b.claimDue(ctx, from, now, size)
		for _, one := range broken {
			b.Checkout.SetAside(ctx, one.sub.TenantID, one.sub.ID, one.why)
		}
		switch {
		case err != nil && (len(found) == 0 || errors.Is(err, context.DeadlineExceeded)):
			return errors.Join(failed, err) // nothing could be read, or the database does not answer
		case err != nil && size > 1:
			size, single = 1, perLane // one by one, to find the one that is broken
			continue
		case err != nil:
			b.Checkout.SetAside(ctx, found[0].TenantID, found[0].ID, err)
			size = perLane
			continue
		case len(found)+len(broken) == 0:
			return failed
		case len(found) == perLane:
			more()
		}
		if single = max(0, single-1); single == 0 {
			size = perLane // those that were together have been gone through
		}
		done.Add(int64(len(found)))
		b.endAll(ctx, found, now)
		failed = errors.Join(failed, b.sendAll(ctx, claims))
	}
}

// claimDue writes down the rebills of subscriptions that are due, before any
// gateway hears of them. It says which subscriptions it found; those among them that
// are over are not billed (endAll), and those that cannot be claimed keep no others back.
//
// Whoever is stopped meanwhile, or has worked for too long, hears what was written all the
// same, and sends it: a rebill that is claimed and not sent is one that its gateway has lost,
// and its subscription would wait for the next try for days.
func (b *Billing) claimDue(ctx context.Context, from pick, now time.Time, limit int) (claims []claim, found []payment.Subscription, broken []unclaimed, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.patience())
	defer cancel()
	defer func() {
		if err != nil { // what the driver says of a database that does not answer may be anything
			err = errors.Join(ctx.Err(), err)
		}
	}()
	for taken := range claimTries {
		silence, sendBefore := b.Checkout.RebillSilence()
		realNow := b.Checkout.Real.Now() // no clock is read within a unit of work
		except := b.Checkout.Aside.Held(realNow)
		err = b.Checkout.Store.Write(ctx, now, func(tx *store.Tx) error {
			due, err := from.read(tx, limit, except)
			claims, found, broken = claims[:0], found[:0], broken[:0]
			for _, one := range b.workable(due, limit, realNow) {
				rebill, err := claimOne(tx, one, from.until, taken, silence, now)
				if err != nil {
					broken = append(broken, unclaimed{one.Subscription, err})
					continue
				}
				found = append(found, one.Subscription)
				if rebill != nil {
					claims = append(claims, claim{Debit: rebill.Debit, due: one, sendBefore: sendBefore})
				}
			}
			return err
		})
		// Of several, only the one whose reference is taken gets another.
		if !store.IsReferenceCollision(err) || limit > 1 {
			break
		}
		if isKnown, knownErr := b.recognizeDue(ctx, found[0], taken, now); isKnown || knownErr != nil {
			return nil, found, broken, knownErr
		}
	}
	return claims, found, broken, err
}

// unclaimed is a subscription whose rebill cannot be written down, and why.
type unclaimed struct {
	sub payment.Subscription
	why error
}

// workable are the first few that are not set aside. Through a gateway account
// that was away one is tried, and the others once that has worked.
func (b *Billing) workable(due []store.DueSubscription, limit int, realNow time.Time) (all []store.DueSubscription) {
	tried := map[uuid.UUID]bool{}
	for _, one := range due {
		account := one.Subscription.GatewayID
		if len(all) == limit || tried[account] || b.Checkout.Aside.Holds(one.Subscription.ID, realNow) {
			continue
		}
		tried[account] = !one.PausedSince.IsZero()
		all = append(all, one)
	}
	return all
}

// errNoAddress holds a rebill back that the bank would refuse, and with a code that
// pauses all of its gateway account.
var errNoAddress = errors.New("the account is outside the European Economic Area and the payer's address is not known: it is taken from the lead as soon as a session gives it")

// claimOne writes down the rebill of a subscription, unless its mandate has lapsed or
// its last period is over. So many of the references that it could have are taken. When the silence
// is over others may ask the gateway about the rebill.
func claimOne(tx *store.Tx, due store.DueSubscription, until payment.Date, taken int, silence time.Duration, now time.Time) (*payment.Change, error) {
	sub := due.Subscription
	if _, isOver, err := over(sub, now); isOver || err != nil {
		return nil, err
	}
	if due.Lead.LacksAddress(due.First.IBANCountry) {
		return nil, errNoAddress
	}
	rebill, err := payment.BeginRebill(sub, due.First, until, now)
	if err != nil {
		return nil, err
	}
	rebill.KeepPrice(due.TriedMinor)
	rebill.KeepCount(due.ReturnedTries)
	rebill.Transaction.MerchantTransactionID = payment.RebillReference(sub, rebill.Subscription.Tries+taken)
	rebill.Transaction.Attempt.Silence = silence
	tx.ClaimRebill(rebill, due.SealedIBAN)
	return &rebill, nil
}

// over is a subscription as it ends, where its mandate has lapsed or its last period is
// over.
func over(sub payment.Subscription, now time.Time) (ended payment.Subscription, isOver bool, err error) {
	if isOver, err = sub.Lapse(now); !isOver {
		isOver, err = sub.EndWithPeriod(now)
	}
	return sub, isOver, err
}

// endAll ends those that are over. Each is a unit of its own, because whom to tell of
// it is read before; one that somebody else was faster with comes again or not.
func (b *Billing) endAll(ctx context.Context, found []payment.Subscription, now time.Time) {
	for _, sub := range found {
		ended, isOver, err := over(sub, now)
		if isOver && err == nil {
			err = b.write(ctx, sub, ended, now)
		}
		if err != nil && !errors.Is(err, store.ErrStale) && ctx.Err() == nil {
			b.Checkout.SetAside(ctx, sub.TenantID, sub.ID, err)
		}
	}
}

func (b *Billing) patience() time.Duration { return cmp.Or(b.Patience, usualPatience) }

// sendAll sends rebills at once and waits for all of their answers. An answer that cannot be written down, as when a person
// holds the row, is asked for again later; nobody else's rebills wait for that.
func (b *Billing) sendAll(ctx context.Context, claims []claim) error {
	// What is claimed is sent and settled, also while the process is stopping.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendPatience*b.patience())
	defer cancel()
	failed := make([]error, len(claims))
	var sending errgroup.Group
	for i, one := range claims {
		sending.Go(func() error {
			failed[i] = b.send(ctx, one)
			return nil
		})
	}
	_ = sending.Wait() // each has its own place for its error
	return errors.Join(failed...)
}

// send submits a rebill and settles it by the answer. Without one the gateway is
// asked later. One that could not be sent costs its subscription nothing but time.
func (b *Billing) send(ctx context.Context, c claim) error {
	setup, err := b.Checkout.Store.Setup(ctx, c.Transaction.TenantID, c.due.SetupVersion)
	if err != nil {
		return err
	}
	unsent := payment.Outcome{Verdict: payment.VerdictUnsent, Decline: payment.Decline{Message: "The rebill could not be sent."}}
	client, account, err := b.Checkout.Account(setup, c.Transaction.GatewayID)
	if err != nil || !account.Active {
		return b.notSent(ctx, setup, c, unsent)
	}
	charge, err := b.charge(setup, account, c)
	if err != nil {
		b.Checkout.SetAside(ctx, c.Transaction.TenantID, c.due.Subscription.ID, err)
		return b.Checkout.SettleRebill(ctx, setup, c.Debit, unsent)
	}
	outcome, err := b.submit(ctx, setup, client, c, charge)
	switch {
	case errors.Is(err, errLaterIsKnown):
		return b.recallLater(ctx, setup, c, unsent)
	case err != nil || !c.IsAnsweredBy(outcome):
		b.Checkout.RebillUnknown(ctx, client, c.Transaction)
		return nil //nolint:nilerr // an unknown outcome is no failure: the gateway is asked about it
	case outcome.Verdict == payment.VerdictUnsent:
		return b.notSent(ctx, setup, c, outcome)
	case !c.due.PausedSince.IsZero():
		err = b.Checkout.Store.Write(ctx, c.Transaction.CreatedAt, func(tx *store.Tx) error {
			tx.ResumeRebills(c.Transaction.TenantID, c.Transaction.GatewayID, payment.PausedAway)
			return nil
		})
	}
	return errors.Join(err, b.Checkout.SettleRebill(ctx, setup, c.Debit, outcome))
}

// submit sends a rebill, unless its gateway has had it before the database was restored. Where it does not say so, nothing is sent.
func (b *Billing) submit(ctx context.Context, setup *merchant.Setup, client *gateway.Client, c claim, charge gateway.Charge) (payment.Outcome, error) {
	if _, isBank := client.Planner(); !isBank && mayBeKnown(c.due) {
		switch outcome, err := b.askFirst(ctx, setup, c); {
		case errors.Is(err, errors.ErrUnsupported): // it recognizes a repeat by its reference, or nobody can
		case errors.Is(err, errLaterIsKnown):
			return payment.Outcome{}, err
		case err != nil:
			return payment.Outcome{Verdict: payment.VerdictUnsent, Decline: payment.Decline{Message: "The gateway did not say whether it has the rebill already."}}, nil
		case outcome.Verdict != payment.VerdictLost:
			return outcome, nil
		}
	}
	return client.Submit(ctx, charge)
}

// errLaterIsKnown says that a gateway has not a rebill, and has a later try of its period.
var errLaterIsKnown = errors.New("billing: the gateway has a later try of the period")

// askFirst asks about a rebill, and where its period was tried before about a few tries behind it: the gateway may have lost one in
// the lost time and got the next.
func (b *Billing) askFirst(ctx context.Context, setup *merchant.Setup, c claim) (payment.Outcome, error) {
	outcome, err := b.Checkout.AskAboutRebill(ctx, setup, c.Debit)
	if err != nil || outcome.Verdict != payment.VerdictLost || c.Transaction.Attempt.Number == 1 {
		return outcome, err
	}
	later := payment.LaterReferences(c.due.Subscription, c.Transaction.MerchantTransactionID, c.Transaction.Attempt.Number)
	for _, reference := range later[:min(recallAhead, len(later))] {
		next := c.Debit
		next.Transaction.MerchantTransactionID = reference
		if found, err := b.Checkout.AskAboutRebill(ctx, setup, next); err != nil {
			return found, err
		} else if found.Verdict != payment.VerdictLost {
			return found, errLaterIsKnown
		}
	}
	return outcome, nil
}

// recallLater takes in a later try that the gateway has, and gives this one back, which is not sent. It is due again at once then: where
// the gateway says something else by now, it is left alone for a while.
func (b *Billing) recallLater(ctx context.Context, setup *merchant.Setup, c claim, unsent payment.Outcome) error {
	if err := b.Checkout.SettleRebill(ctx, setup, c.Debit, unsent); err != nil {
		return err
	}
	isKnown := false
	due, err := b.Checkout.Store.Tenant(c.Transaction.TenantID).DueSubscription(ctx, c.due.Subscription.ID)
	if err == nil {
		isKnown, err = b.recallNext(ctx, due, due.Subscription.Period, b.Checkout.Clock.Now())
	}
	if err == nil && !isKnown {
		err = errUnanswered
	}
	if err != nil {
		b.Checkout.SetAside(ctx, c.Transaction.TenantID, c.due.Subscription.ID, err)
	}
	return nil
}

// mayBeKnown tells that a gateway may have had the next debit of a subscription before the database was restored, and
// that nobody could know when it was asked: a return that is told afterwards has a period tried again.
func mayBeKnown(due store.DueSubscription) bool {
	next := due.Subscription.PeriodStart(due.Subscription.Period)
	return !due.RecalledAt.IsZero() && !next.Start().After(due.RecalledAt.Add(recallUntil))
}

// notSent holds what else is due at the gateway account back for a while, before
// the try is given back: otherwise it would be due at once.
func (b *Billing) notSent(ctx context.Context, setup *merchant.Setup, c claim, o payment.Outcome) error {
	now := b.Checkout.Clock.Now()
	pause := payment.PauseAway(c.Transaction, c.due.PausedSince, now)
	level := slog.LevelWarn
	if pause.NeedsPerson(now) {
		level = slog.LevelError
	}
	b.Checkout.Logger.Log(ctx, level, "a rebill could not be sent; those of the gateway account wait",
		"transaction_id", c.Transaction.ID, "gateway_id", pause.GatewayID, "since", pause.Since, "until", pause.Until)
	err := b.Checkout.Store.Write(ctx, now, func(tx *store.Tx) error {
		tx.PauseRebills(pause)
		return nil
	})
	return errors.Join(err, b.Checkout.SettleRebill(ctx, setup, c.Debit, o))
}

// charge opens the account number and says what is to be collected.
func (b *Billing) charge(setup *merchant.Setup, account merchant.GatewayAccount, c claim) (gateway.Charge, error) {
	t := c.Transaction
	opened, err := b.Checkout.Vault.Open(c.due.SealedIBAN, store.BindIBAN(t.TenantID, c.due.Subscription.MandateReference))
	if err != nil {
		return gateway.Charge{}, err
	}
	iban, err := sepa.ParseIBAN(string(opened))
	return gateway.Charge{
		MerchantTransactionID: t.MerchantTransactionID, IdempotencyKey: payment.RebillKey(t),
		AmountMinor: t.AmountMinor, Currency: t.Currency, Type: t.Type, SequenceType: t.SequenceType,
		Instrument: payment.Instrument{IBAN: iban, HolderName: t.HolderName, Bank: sepa.Bank{Name: t.BankName, BIC: t.BIC}},
		Lead:       c.due.Lead, MandateReference: t.MandateReference, MandateAt: t.MandateAt,
		Descriptor: account.Descriptor, MerchantName: setup.Tenant.Name,
		PeriodTry: t.Attempt.Number, At: t.CreatedAt, SendBefore: c.sendBefore,
	}, err
}
