package payment

import (
	"slices"
	"strconv"
)

// News are all events of a change: those that it names, and those that merchants may
// ask for beside them, which follow from what it has made of session and subscription.
func (c Change) News() []Event {
	news := slices.Clip(c.Events)
	if s, before := c.Session, c.Before.Session; s != nil && before != nil && s.Status != before.Status {
		switch s.Status {
		case SessionFailed:
			news = append(news, newEvent(EventSessionFailed, s.ID.String()))
		case SessionExpired:
			news = append(news, newEvent(EventSessionExpired, s.ID.String()))
		}
	}
	if c.Subscription != nil {
		news = append(news, c.subscriptionNews()...)
	}
	return news
}

// subscriptionNews compares what the subscription was and is. Whatever has happened
// to it is told by a key that follows from it, so that it is told once.
func (c Change) subscriptionNews() (news []Event) {
	before, now := c.Before.Subscription, c.Subscription
	tell := func(kind EventKind, key string) {
		e := newEvent(kind, key)
		e.TransactionID = c.Transaction.ID
		news = append(news, e)
	}
	id, collection := now.ID.String(), c.Transaction.ID.String()
	if before == nil {
		tell(EventSubscriptionCreated, id)
		return news
	}
	if now.SuccessfulCount > before.SuccessfulCount {
		tell(EventSubscriptionRenewed, collection)
	}
	if now.Status != before.Status {
		switch now.Status {
		case SubscriptionPastDue:
			tell(EventSubscriptionPastDue, collection+":"+strconv.Itoa(now.Period))
		case SubscriptionCancelled:
			if now.CancelReason == CancelledByLapse {
				tell(EventMandateLapsed, id)
			}
			tell(EventSubscriptionCancelled, id)
			return news
		}
	}
	if !now.SteeredAt.Equal(before.SteeredAt) {
		tell(EventSubscriptionChanged, id+":"+strconv.FormatInt(now.SteeredAt.UnixMicro(), 10))
	}
	return news
}

// SubscriptionChange is a change of a subscription alone: somebody has steered it, or
// its time has come.
func SubscriptionChange(before, after Subscription) Change {
	return Change{
		Debit:  Debit{Subscription: &after, WebhookProfileID: after.WebhookProfileID},
		Before: Debit{Subscription: &before},
	}
}

// SessionChange is the end of a session that no payment has brought about. The lead
// is who was to pay it, and the order what attempts tried to pay, nil without one.
func SessionChange(before, after Session, lead Lead, order *Order) Change {
	c := Change{
		Debit:  Debit{Session: &after, Order: order, WebhookProfileID: after.WebhookProfileID},
		Before: Debit{Session: &before, Order: order},
	}
	c.Transaction = Transaction{
		AmountMinor: after.Terms.DueMinor(), Currency: after.Terms.Currency, Email: lead.Email, LeadID: &after.LeadID,
		TenantReferenceID: after.TenantReferenceID, MandateReference: after.MandateReference,
	}
	return c
}
