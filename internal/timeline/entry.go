package timeline

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/store"
	"sepad/internal/store/listing"
)

// Kind is what an entry tells of.
type Kind string

const (
	Request  Kind = "request"
	Attempt  Kind = "attempt"
	Gateway  Kind = "gateway"
	State    Kind = "state"
	Bank     Kind = "bank"
	Event    Kind = "event"
	Delivery Kind = "delivery"
	Action   Kind = "action"
)

// ranks order what happened at one instant as cause and effect.
var ranks = map[Kind]int{Action: 0, Request: 1, Attempt: 2, Gateway: 3, Bank: 4, State: 5, Event: 6, Delivery: 7}

// Entry is one thing that happened.
type Entry struct {
	sepa.Masked
	At   time.Time
	Kind Kind
	Text string
	// Actor is who did it, "" where that is the service itself or not on record.
	Actor  string
	Object Object
	// Data is what is on record about it, as JSON, nil for nothing more.
	Data json.RawMessage

	after time.Time // it comes behind this, whatever its own clock says
}

// Object is what an entry is about.
type Object struct {
	Type string
	ID   string
}

// Read tells the story of something of a tenant's.
func Read(ctx context.Context, st *store.Store, tenantID uuid.UUID, of listing.Subject) ([]Entry, error) {
	setup, err := st.CurrentSetup(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	history, err := listing.ReadHistory(ctx, st.Tenant(tenantID), of)
	if err != nil {
		return nil, err
	}
	return tell(history, of, setup), nil
}

// ErrNoMandate is the answer for a reference that no payment has.
var ErrNoMandate = &payment.Error{Kind: payment.NotFound, Detail: "Mandate not found"}

// ReadMandate tells the story of a mandate, of whichever tenants have its reference.
func ReadMandate(ctx context.Context, st *store.Store, reference string) (all []Entry, err error) {
	owners, err := st.MandateOwners(ctx, reference)
	if err == nil && len(owners) == 0 {
		err = ErrNoMandate
	}
	for _, tenantID := range owners {
		told, err := Read(ctx, st, tenantID, listing.Subject{MandateReference: reference})
		if err != nil {
			return nil, err
		}
		all = append(all, told...)
	}
	inOrder(all)
	return all, err
}

// story is a timeline being put together.
type story struct {
	setup   *merchant.Setup
	entries []Entry
}

func tell(h listing.History, of listing.Subject, setup *merchant.Setup) []Entry {
	s := story{setup: setup}
	if h.Lead != nil {
		s.lead(*h.Lead)
	}
	if h.Import != nil {
		s.taking(*h.Import)
	}
	for _, r := range h.Sessions {
		s.session(r, of.SessionID == r.ID || of.LeadID == r.LeadID)
	}
	for _, u := range h.Subscriptions {
		s.subscription(u)
	}
	for _, p := range h.Payments {
		s.payment(p, firstStatus(p.Transaction, h.Events))
	}
	for _, a := range h.Agreements {
		s.agreement(a)
	}
	for _, c := range h.Chargebacks {
		s.chargeback(c)
	}
	for _, l := range h.BankLines {
		s.bankLine(l)
	}
	for _, m := range h.Mails {
		s.mail(m)
	}
	for _, e := range h.Events {
		s.event(e)
	}
	for _, d := range h.Deeds {
		s.deed(d)
	}
	inOrder(s.entries)
	return s.entries
}

func inOrder(entries []Entry) {
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Or(a.place().Compare(b.place()), cmp.Compare(ranks[a.Kind], ranks[b.Kind]))
	})
}

// place is where an entry stands. Deliveries follow the world's clock and what they
// deliver the service's, which a sandbox moves ahead.
func (e Entry) place() time.Time {
	if e.after.After(e.At) {
		return e.after
	}
	return e.At
}

// firstStatus is what the gateway's first answer made of a payment: where it has changed
// since, an event says from what.
func firstStatus(t payment.Transaction, events []listing.EventTold) payment.TransactionStatus {
	first, at := t.Status, time.Time{}
	for _, e := range events {
		if e.Kind != payment.EventTransactionStatusChanged || e.About != t.ID.String() || !at.IsZero() && e.CreatedAt.After(at) {
			continue
		}
		if previous := changeIn(e.Payload).previous; previous != "" {
			first, at = previous, e.CreatedAt
		}
	}
	return first
}

// change is a status before and after.
type change struct{ previous, status payment.TransactionStatus }

// changeIn reads the change that an event tells of.
func changeIn(payload string) change {
	var said struct {
		Previous payment.TransactionStatus `json:"previous_status"`
		Status   payment.TransactionStatus `json:"status"`
	}
	_ = json.Unmarshal([]byte(payload), &said) // one that cannot be read says nothing
	return change{said.Previous, said.Status}
}

func (s *story) add(e Entry) {
	if !e.At.IsZero() {
		s.entries = append(s.entries, e)
	}
}

// raw is what is shown beneath an entry.
func raw(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // it is made of texts and numbers
	}
	return text
}
