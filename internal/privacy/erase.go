package privacy

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/webhook"
)

// eraseTries bounds how often an erasure begins anew because a payment was made
// meanwhile.
const eraseTries = 8

// Erased is what an erasure has done.
type Erased struct {
	LeadID             *uuid.UUID `json:"lead_id"`
	TenantID           uuid.UUID  `json:"tenant_id"`
	ErasedAt           time.Time  `json:"erased_at"`
	SessionsEnded      int        `json:"sessions_ended"`
	SubscriptionsEnded int        `json:"subscriptions_cancelled"`
	Sessions           int        `json:"sessions"`
	Transactions       int        `json:"transactions"`
	Chargebacks        int        `json:"chargebacks"`
	Events             int        `json:"events"`
	InBankFiles        int        `json:"bank_files"`
}

// Erase overwrites whatever names a person: all of it, or nothing with a conflict that
// says which money is open. Sessions that could be paid and subscriptions end. Erasing a
// person again erases what came since.
//
// That is one unit, but for persons with very many rows: of them it decides, and the
// rest follows also where nobody waits for the answer any more.
func (p *Privacy) Erase(ctx context.Context, who *store.Person) (erased Erased, err error) {
	for range eraseTries {
		now := p.Clock.Now()
		if erased, err = p.eraseOnce(ctx, who, now); !errors.Is(err, store.ErrStale) {
			break
		}
	}
	if errors.Is(err, store.ErrStale) {
		err = payment.Conflicting("The person is being billed; try again.")
	}
	if err == nil {
		p.Logger.InfoContext(ctx, "a person was erased", "tenant_id", who.TenantID, "lead_id", who.LeadID,
			"transactions", erased.Transactions, "subscriptions_cancelled", erased.SubscriptionsEnded)
	}
	return erased, err
}

func (p *Privacy) eraseOnce(ctx context.Context, who *store.Person, now time.Time) (erased Erased, err error) {
	memory, err := p.Store.PrepareErasure(ctx, who.TenantID, now)
	if err != nil {
		return erased, err
	}
	setup, err := p.setupOf(ctx, who.TenantID)
	if err != nil {
		return erased, err
	}
	if who, err = p.Store.Tenant(who.TenantID).Survey(ctx, who); err != nil {
		return erased, err
	}
	var found *store.Person
	err = p.Store.Write(ctx, now, func(tx *store.Tx) error {
		found, err = tx.LockPerson(who)
		if err != nil {
			return err
		}
		erased = Erased{
			TenantID: who.TenantID, ErasedAt: now.UTC(), Sessions: found.Count("sessions"), Transactions: found.Count("transactions"),
			Chargebacks: found.Count("chargebacks"), Events: found.Count("events"),
		}
		if who.LeadID != uuid.Nil {
			erased.LeadID = &who.LeadID
		}
		if erased.InBankFiles, err = tx.BankFilesOf(found); err != nil {
			return err
		}
		if erased.SessionsEnded, erased.SubscriptionsEnded, err = p.end(ctx, tx, setup, found); err != nil {
			return err
		}
		if err := tx.RememberErased(found, memory); err != nil {
			return err
		}
		tx.Audit(store.Deed{Action: "lead.erase", ObjectType: "lead", ObjectID: who.LeadID.String(), TenantID: who.TenantID, After: erased})
		return tx.Erase(found, now.Add(lookAgainAfter), webhook.WithoutPerson)
	})
	if err != nil {
		return erased, err
	}
	err = p.Store.EraseRest(context.WithoutCancel(ctx), found, memory, now, webhook.WithoutPerson)
	if err == nil && found.IsUnfinished() {
		p.Logger.InfoContext(ctx, "an erasure that had been broken off was finished", "tenant_id", who.TenantID, "lead_id", who.LeadID)
	}
	return erased, err
}

func (p *Privacy) setupOf(ctx context.Context, tenantID uuid.UUID) (*merchant.Setup, error) {
	version, err := p.Store.SetupVersion(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	return p.Store.Setup(ctx, tenantID, version)
}

// end ends what a person can still pay or is still billed for. The merchant is told
// of subscriptions, which name nobody; a session's end would.
func (p *Privacy) end(ctx context.Context, tx *store.Tx, setup *merchant.Setup, who *store.Person) (sessions, subscriptions int, err error) {
	open, err := tx.OpenSessions(who)
	if err != nil {
		return 0, 0, err
	}
	live, err := tx.LiveSubscriptions(who)
	if err != nil {
		return 0, 0, err
	}
	for _, s := range open {
		ended, err := payment.Withdraw(s, tx.At)
		if err != nil {
			continue // a payment is under way, and the erasure is refused for it
		}
		tx.EndSession(ended)
		sessions++
	}
	for _, before := range live {
		ended, err := payment.CancelSubscription(before, payment.CancelledByOperator, tx.At)
		if err != nil {
			return 0, 0, err
		}
		change := payment.SubscriptionChange(before, ended)
		change.Session = &payment.Session{ID: before.SessionID} // its metadata goes with the person
		events, err := webhook.Rows(ctx, p.Store, setup, change)
		if err != nil {
			return 0, 0, err
		}
		tx.ChangeSubscription(before, ended)
		tx.AddEvents(who.TenantID, events)
		subscriptions++
	}
	return sessions, subscriptions, nil
}
