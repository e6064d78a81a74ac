package checkout

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

// changeTries bounds how often a change is worked out anew because somebody
// else changed the payment meanwhile.
const changeTries = 8

// retry works something out again for as long as others are faster.
func retry(work func() error) (err error) {
	for range changeTries {
		if err = work(); !errors.Is(err, store.ErrStale) {
			return err
		}
	}
	return err
}

// changeEvents renders the events of a change and says where each one goes.
func changeEvents(setup *merchant.Setup, change payment.Change) ([]store.EventRow, error) {
	rows := make([]store.EventRow, len(change.Events))
	for i, event := range change.Events {
		payload, err := webhook.ChangePayload(change, event)
		if err != nil {
			return nil, err
		}
		rows[i] = store.EventRow{
			Event: event, Payload: payload, WebhookProfileID: profileFor(setup, change.WebhookProfileID, event.Kind),
		}
	}
	return rows, nil
}

// profileFor is where an event goes: to the purchase's profile, else to the
// tenant's default, if it wants the kind; else nowhere.
func profileFor(setup *merchant.Setup, named *uuid.UUID, kind payment.EventKind) *uuid.UUID {
	profile, ok := setup.DefaultWebhookProfile()
	if named != nil {
		profile, ok = setup.WebhookProfile(*named)
	}
	if !ok || !profile.Wants(kind) {
		return nil
	}
	return &profile.ID
}

// apply writes a change of a payment, and of one of its refunds where given.
func (c *Checkout) apply(ctx context.Context, setup *merchant.Setup, before payment.Collection, refund *payment.Transaction,
	after payment.Change, now time.Time,
) error {
	events, err := changeEvents(setup, after)
	if err != nil {
		return err
	}
	return c.Store.Write(ctx, now, func(tx *store.Tx) error {
		tx.ApplyChange(before, refund, after, events)
		return nil
	})
}
