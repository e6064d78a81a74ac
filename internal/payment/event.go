package payment

import (
	"slices"

	"github.com/google/uuid"
)

// EventKind names what a merchant is told (contract 6.1).
type EventKind string

const (
	EventSessionCompleted         EventKind = "payment_session.completed"
	EventTransactionCreated       EventKind = "transaction.created"
	EventTransactionStatusChanged EventKind = "transaction.status_changed"
	EventChargebackCreated        EventKind = "chargeback.created"
	EventCollectionAnnounced      EventKind = "collection.announced"
	EventSessionExpired           EventKind = "payment_session.expired"
	EventSessionFailed            EventKind = "payment_session.failed"
	EventSubscriptionCreated      EventKind = "subscription.created"
	EventSubscriptionRenewed      EventKind = "subscription.renewed"
	EventSubscriptionPastDue      EventKind = "subscription.past_due"
	EventSubscriptionCancelled    EventKind = "subscription.cancelled"
	EventSubscriptionChanged      EventKind = "subscription.changed"
	EventMandateLapsed            EventKind = "mandate.lapsed"
)

// EveryEvent is how a merchant names all kinds at once, those to come included.
const EveryEvent EventKind = "*"

// eventTable is every kind there is. The contract's go to whoever does not choose;
// one that is opt-in goes to those alone who name it, or name all: a receiver that
// was written before it existed must not meet it unasked.
var eventTable = []struct {
	kind    EventKind
	isOptIn bool
}{
	{EventSessionCompleted, false},
	{EventTransactionCreated, false},
	{EventTransactionStatusChanged, false},
	{EventChargebackCreated, false},
	{EventCollectionAnnounced, true},
	{EventSessionExpired, true},
	{EventSessionFailed, true},
	{EventSubscriptionCreated, true},
	{EventSubscriptionRenewed, true},
	{EventSubscriptionPastDue, true},
	{EventSubscriptionCancelled, true},
	{EventSubscriptionChanged, true},
	{EventMandateLapsed, true},
}

// EventKinds lists every kind, UsualEvents those that need not be named.
var EventKinds, UsualEvents = listEvents()

func listEvents() (all, usual []EventKind) {
	for _, row := range eventTable {
		all = append(all, row.kind)
		if !row.isOptIn {
			usual = append(usual, row.kind)
		}
	}
	return all, usual
}

// IsKept tells that events of the kind are written down whether anybody asks for them
// or not. That a payer was to be told of a collection is on record; of the others that
// are opt-in nobody would ever read most.
func (k EventKind) IsKept() bool {
	return k == EventCollectionAnnounced || slices.Contains(UsualEvents, k)
}

// Event is a fact to report. Key is unique within a tenant, which is what makes
// reporting it twice impossible.
type Event struct {
	ID   uuid.UUID
	Kind EventKind
	Key  string
	// Status is the transaction's when the event happened: more may have happened
	// to it in the same change.
	Status         TransactionStatus
	PreviousStatus TransactionStatus // only on a changed status
	// TransactionID is whose event it is, where more than one can be meant.
	TransactionID uuid.UUID
}

func newEvent(kind EventKind, key string) Event {
	return Event{ID: NewID(), Kind: kind, Key: string(kind) + ":" + key}
}

// statusChanged reports that a known transaction changed its status.
func statusChanged(t Transaction, previous TransactionStatus) Event {
	e := newEvent(EventTransactionStatusChanged, t.ID.String()+":"+string(previous)+">"+string(t.Status))
	e.Status, e.PreviousStatus, e.TransactionID = t.Status, previous, t.ID
	return e
}

// transactionCreated reports that a transaction exists that is not declined.
func transactionCreated(t Transaction) Event {
	e := newEvent(EventTransactionCreated, t.ID.String())
	e.Status, e.TransactionID = t.Status, t.ID
	return e
}

// collectionAnnounced reports when a payment will be collected. Another day is told
// anew, the same day never again.
func collectionAnnounced(t Transaction) Event {
	e := newEvent(EventCollectionAnnounced, t.ID.String()+":"+t.DueDate.String())
	e.TransactionID = t.ID
	return e
}
