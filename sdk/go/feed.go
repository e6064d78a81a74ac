package sepad

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"strings"
	"time"
)

// Event is something that happened.
type Event struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	// CreatedAt is when it happened; of a delivery, when that was sent. What is newer is told by updated_at in Data.
	CreatedAt time.Time       `json:"created_at"`
	Delivered bool            `json:"delivered"`
	Data      json.RawMessage `json:"data"`
}

// Decode reads what the event tells into a Transaction, a Subscription, a Chargeback or
// a type of your own.
func (e Event) Decode(into any) error { return json.Unmarshal(e.Data, into) }

// SessionEvent is what the events payment_session.completed, .failed and .expired tell.
type SessionEvent struct {
	SessionToken      string            `json:"session_token"`
	Status            string            `json:"status"`
	OrderNumber       string            `json:"order_number"`
	Amount            string            `json:"amount"`
	Currency          string            `json:"currency"`
	Email             string            `json:"email"`
	TenantReferenceID string            `json:"tenant_reference_id"`
	Metadata          map[string]string `json:"metadata"`
}

// Feed reads a shop's events in their order, each once.
//
//	feed := client.Events(placeFromDatabase)
//	for event, err := range feed.All(ctx) {
//		if err != nil {
//			return err
//		}
//		// In one transaction of your own: do what the event asks for, and keep feed.Place().
//	}
//
// The loop ends when there is nothing more for now. With the place that was kept, today
// or after a day offline, it goes on behind the last event that was handled.
type Feed struct {
	// PageSize is how many events are fetched at a time, 0 for the service's default.
	PageSize int

	client *Client
	// cursor is where the present page begins, last the event on it that was handed out.
	cursor, last string
}

// placeMark stands between cursor and event in a place. Neither has it in it.
const placeMark = "~"

// largestPage is how many events a page has at most.
const largestPage = 1000

// Events is the feed from a place on, "" for the beginning: events of the last 90 days.
func (c *Client) Events(place string) *Feed {
	cursor, last, _ := strings.Cut(place, placeMark)
	return &Feed{client: c, cursor: cursor, last: last}
}

// Place is behind the last event that was handed out. Keep it together with what you
// have made of the event.
func (f *Feed) Place() string {
	if f.last == "" {
		return f.cursor
	}
	return f.cursor + placeMark + f.last
}

type eventPage struct {
	Next    string  `json:"next"`
	HasMore bool    `json:"has_more"`
	Results []Event `json:"results"`
}

// All gives every event that there is now.
func (f *Feed) All(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for more := true; more; {
			p, err := f.read(ctx)
			if err != nil {
				yield(Event{}, err)
				return
			}
			for _, event := range p.beyond(f.last) {
				f.last = event.ID
				if !yield(event, nil) {
					return
				}
			}
			if f.cursor, err = cursorOf(p.Next); err != nil {
				yield(Event{}, err)
				return
			}
			f.last, more = "", p.HasMore
		}
	}
}

func (f *Feed) read(ctx context.Context) (p eventPage, err error) {
	query := url.Values{}
	set(query, "cursor", f.cursor)
	if f.last == "" {
		setSize(query, f.PageSize)
	} else {
		setSize(query, largestPage) // the event is on it, however small pages are now
	}
	return p, f.client.get(ctx, "/api/v1/events/?"+query.Encode(), &p)
}

// beyond are the events of a page behind one of them. Events have their places for
// good, so that the page that begins at a cursor begins with the same ones each time.
func (p eventPage) beyond(last string) []Event {
	for i, event := range p.Results {
		if event.ID == last {
			return p.Results[i+1:]
		}
	}
	return p.Results
}

func cursorOf(address string) (string, error) {
	next, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	return next.Query().Get("cursor"), nil
}
