package webhook

import (
	"context"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// Rows renders the events of a change and says where each one goes: to the
// purchase's profile, else to the tenant's default, if it wants the kind; else
// nowhere. What is told only to those who ask for it is mostly not even written down
// where nobody does.
func Rows(ctx context.Context, st *store.Store, setup *merchant.Setup, change payment.Change) ([]store.EventRow, error) {
	news := change.News()
	profile, hasProfile := profileOf(setup, change.WebhookProfileID)
	rows := make([]store.EventRow, 0, len(news))
	for _, event := range news {
		goesOut := hasProfile && profile.Wants(event.Kind)
		if !event.Kind.IsKept() && !goesOut {
			continue
		}
		row := store.EventRow{Event: event}
		var err error
		if goesOut {
			row.WebhookProfileID = &profile.ID
			row.Payload, err = payloadFor(ctx, st, setup.Tenant.ID, profile, change, event)
		} else {
			row.Payload, err = Payload(change, event)
		}
		if err != nil {
			return nil, err
		}
		if row, err = st.NewEvent(setup.Tenant.ID, row); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Wanted tells whether events of a kind about a purchase go to anybody, so that what
// they tell need not be read where they do not.
func Wanted(setup *merchant.Setup, named *uuid.UUID, kind payment.EventKind) bool {
	profile, found := profileOf(setup, named)
	return found && profile.Wants(kind)
}

func profileOf(setup *merchant.Setup, named *uuid.UUID) (merchant.WebhookProfile, bool) {
	if named != nil {
		return setup.WebhookProfile(*named)
	}
	return setup.DefaultWebhookProfile()
}

// payloadFor is the body as the profile wants it.
func payloadFor(ctx context.Context, st *store.Store, tenantID uuid.UUID, profile merchant.WebhookProfile, change payment.Change, event payment.Event) (string, error) {
	if !profile.FullPayload {
		return Payload(change, event)
	}
	metadata, err := metadataOf(ctx, st, tenantID, change)
	if err != nil {
		return "", err
	}
	return FullPayload(change, event, metadata)
}

// metadataOf is what the merchant has attached to the purchase.
func metadataOf(ctx context.Context, st *store.Store, tenantID uuid.UUID, change payment.Change) (payment.Metadata, error) {
	if change.Session != nil {
		return change.Session.Options.Metadata, nil
	}
	id := SessionOf(change)
	if id == nil {
		return "", nil
	}
	session, err := st.Tenant(tenantID).Session(ctx, *id)
	return session.Options.Metadata, err
}
