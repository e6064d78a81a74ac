package main

import (
	"context"
	"net/http"

	sepad "sepad/sdk/go"
)

// receiver takes deliveries in. Only those that the service has signed, now, count.
func (s *shop) receiver(secret string) http.Handler {
	receiver := &sepad.Receiver{Secrets: []string{secret}}
	return receiver.Handler(func(_ context.Context, event sepad.Event) error { return s.hear(event) })
}

// catchUp hears of everything that has happened since the place that was kept.
func (s *shop) catchUp(ctx context.Context) error {
	feed := s.client.Events(s.orders.place)
	for event, err := range feed.All(ctx) {
		if err != nil {
			return err
		}
		if err := s.hear(event); err != nil {
			return err
		}
	}
	s.orders.place = feed.Place()
	return nil
}

// hear does what an event asks for, once, by whichever way it has come. The order of
// events is not promised: what is fulfilled stays so.
func (s *shop) hear(event sepad.Event) error {
	if event.Type != "payment_session.completed" {
		return nil // an event that this shop does not need
	}
	var told sepad.SessionEvent
	if err := event.Decode(&told); err != nil {
		return err
	}
	s.orders.once(event.ID, func(find func(string) *order) {
		if paid := find(told.TenantReferenceID); paid != nil {
			paid.IsFulfilled = true
		}
	})
	return nil
}
