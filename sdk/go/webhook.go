package sepad

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Why a delivery is refused.
var (
	ErrNotSigned    = errors.New("sepad: the delivery has no signature")
	ErrBadSignature = errors.New("sepad: the signature is not that of the secret")
	ErrTooOld       = errors.New("sepad: the delivery is not of now: it may be sent by somebody who has seen it")
)

const (
	usualTolerance = 5 * time.Minute
	maxDelivery    = 1 << 20
	secretPrefix   = "whsec_"
)

// Receiver verifies what the service sends.
type Receiver struct {
	// Secrets are the signing secrets that may have signed: one, or two while the secret
	// is being replaced.
	Secrets []string
	// Tolerance is how old a delivery may be, 0 for 5 minutes.
	Tolerance time.Duration
	// Now is the present; nil is the machine's clock.
	Now func() time.Time
	// Handled tells whether an event was handled before. Ask your database: in memory
	// (Remember) it is forgotten with the process. nil handles every delivery.
	Handled func(ctx context.Context, eventID string) (bool, error)
}

// Verify checks a delivery's signature and age, and gives the event.
func (r *Receiver) Verify(header http.Header, body []byte) (Event, error) {
	id, stamp, signatures := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp"), header.Get("Webhook-Signature")
	if id == "" || stamp == "" || signatures == "" {
		return Event{}, ErrNotSigned
	}
	if !r.isSigned(id, stamp, signatures, body) {
		return Event{}, ErrBadSignature
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return Event{}, ErrNotSigned
	}
	sent, tolerance := time.Unix(seconds, 0), r.Tolerance
	if tolerance == 0 {
		tolerance = usualTolerance
	}
	now := time.Now
	if r.Now != nil {
		now = r.Now
	}
	if age := now().Sub(sent); age > tolerance || age < -tolerance {
		return Event{}, ErrTooOld
	}
	return Event{ID: id, Type: header.Get("X-Service-Event"), CreatedAt: sent, Data: body}, nil
}

func (r *Receiver) isSigned(id, stamp, signatures string, body []byte) (isSigned bool) {
	for _, secret := range r.Secrets {
		want := []byte(Sign(secret, id, stamp, body))
		for _, signature := range strings.Fields(signatures) {
			if hmac.Equal(want, []byte(signature)) {
				isSigned = true
			}
		}
	}
	return isSigned
}

// Sign is the signature of a delivery by the rules of Standard Webhooks.
func Sign(secret, id, timestamp string, body []byte) string {
	key := []byte(secret)
	if encoded, marked := strings.CutPrefix(secret, secretPrefix); marked {
		if decoded, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			key = decoded
		}
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// Handler answers deliveries: what is not ours with 401, what was handled before and
// what is handled now with 204, and with 500 where handling fails, so that the service
// sends it again.
func (r *Receiver) Handler(handle func(ctx context.Context, e Event) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxDelivery))
		if err != nil {
			http.Error(w, "the body cannot be read", http.StatusBadRequest)
			return
		}
		event, err := r.Verify(request.Header, body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		if err := r.handleOnce(request.Context(), event, handle); err != nil {
			http.Error(w, "the event could not be handled", http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

func (r *Receiver) handleOnce(ctx context.Context, event Event, handle func(context.Context, Event) error) error {
	if r.Handled != nil {
		if done, err := r.Handled(ctx, event.ID); done || err != nil {
			return err
		}
	}
	return handle(ctx, event)
}

// Remember is a Receiver's Handled for a single process: it knows the last events that
// it was asked about, up to a number.
func Remember(most int) func(ctx context.Context, eventID string) (bool, error) {
	var mu sync.Mutex
	known, order := map[string]bool{}, []string{}
	return func(_ context.Context, id string) (bool, error) {
		mu.Lock()
		defer mu.Unlock()
		if known[id] {
			return true, nil
		}
		known[id] = true
		if order = append(order, id); len(order) > most {
			delete(known, order[0])
			order = order[1:]
		}
		return false, nil
	}
}
