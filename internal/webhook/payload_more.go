package webhook

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/record"
)

func isSubscriptionEvent(kind payment.EventKind) bool {
	return strings.HasPrefix(string(kind), "subscription.")
}

// appendSubscription writes a subscription as its merchant reads it, with the
// collection by which it came to be so, null where there is none.
func appendSubscription(dst []byte, c payment.Change, e payment.Event) []byte {
	dst = record.AppendSubscription(dst, *c.Subscription)
	dst = append(dst[:len(dst)-1], `,"transaction_id":`...)
	if e.TransactionID == uuid.Nil {
		return append(dst, "null}"...)
	}
	return append(record.AppendJSONText(dst, e.TransactionID.String()), '}')
}

// lapsed is a mandate that must not be used any more.
type lapsed struct {
	MandateReference string    `json:"mandate_reference_id"`
	SubscriptionID   uuid.UUID `json:"subscription_id"`
	LastUsedAt       string    `json:"last_used_at"`
	LapsedOn         string    `json:"lapsed_on"`
}

func lapsedBody(s *payment.Subscription) lapsed {
	return lapsed{
		MandateReference: s.MandateReference, SubscriptionID: s.ID,
		LastUsedAt: s.MandateUsedAt.UTC().Format(time.RFC3339), LapsedOn: s.LapseDate().String(),
	}
}

// full is what a profile gets beside the contract's fields that asks for it.
type full struct {
	IDs      ids             `json:"ids"`
	Metadata json.RawMessage `json:"metadata"`
}

// ids are those of all that an event is about; what there is none of is null.
type ids struct {
	Session      *uuid.UUID `json:"session"`
	Order        *uuid.UUID `json:"order"`
	Transaction  *uuid.UUID `json:"transaction"`
	Subscription *uuid.UUID `json:"subscription"`
	Lead         *uuid.UUID `json:"lead"`
	Mandate      *string    `json:"mandate"`
}

func appendFull(body []byte, c payment.Change, e payment.Event, metadata payment.Metadata) ([]byte, error) {
	more, err := json.Marshal(full{idsOf(c, e), metadata.JSON()})
	if err != nil {
		return nil, err
	}
	return append(append(body[:len(body)-1], ','), more[1:]...), nil
}

// idsOf gathers them from whatever of the purchase the change knows.
func idsOf(c payment.Change, e payment.Event) (all ids) {
	t := c.Transaction
	all.Order, all.Subscription, all.Lead, all.Session = t.OrderID, t.SubscriptionID, t.LeadID, SessionOf(c)
	all.Mandate = payment.Given(t.MandateReference)
	if t.ID != uuid.Nil {
		all.Transaction = &t.ID
	}
	if e.TransactionID != uuid.Nil {
		all.Transaction = &e.TransactionID
	}
	if c.Order != nil {
		all.Order = &c.Order.ID
	}
	if s := c.Subscription; s != nil {
		all.Subscription, all.Order, all.Lead, all.Mandate = &s.ID, &s.OrderID, &s.LeadID, &s.MandateReference
	}
	if c.Chargeback != nil && all.Lead == nil {
		all.Lead = c.Chargeback.LeadID
	}
	return all
}

// SessionOf names the session of the purchase that a change is about, nil for one
// that was not made through us.
func SessionOf(c payment.Change) *uuid.UUID {
	switch {
	case c.Session != nil:
		return &c.Session.ID
	case c.Subscription != nil:
		return &c.Subscription.SessionID
	case c.Order != nil:
		return &c.Order.SessionID
	default:
		return c.Transaction.SessionID
	}
}
