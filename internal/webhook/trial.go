package webhook

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// EventTest is the kind of an event that reports nothing. It is sent when an operator
// asks for it, and is neither kept nor tried again.
const EventTest payment.EventKind = "webhook.test"

// Trial is what came of an event that was sent to see whether one arrives.
type Trial struct {
	Payload    string
	StatusCode int
	// Answer is the beginning of what the receiver said, Problem why it said nothing.
	Answer, Problem string
	Took            time.Duration
}

// IsDelivered tells whether the receiver took it as events are taken.
func (t Trial) IsDelivered() bool {
	return t.Problem == "" && t.StatusCode >= http.StatusOK && t.StatusCode < http.StatusMultipleChoices
}

// Try sends a profile an event that reports nothing, signed as all are.
func (d *Deliverer) Try(ctx context.Context, profile merchant.WebhookProfile) Trial {
	now := d.Real.Now()
	body, err := json.Marshal(map[string]string{"message": "sepad tries this address", "sent_at": now.UTC().Format(time.RFC3339)})
	if err != nil {
		return Trial{Problem: err.Error()}
	}
	t := Trial{Payload: string(body)}
	to := newTarget(profile, true)
	if to.err != nil {
		t.Problem = to.err.Error()
		return t
	}
	began := d.Clock.Now()
	came := d.Sender.send(ctx, to, store.Delivery{EventID: payment.NewID(), Kind: EventTest, Payload: t.Payload}, now)
	t.Took, t.StatusCode, t.Answer = d.Clock.Now().Sub(began), came.statusCode, came.start
	if came.err != nil {
		t.Problem = came.err.Error()
	}
	return t
}
