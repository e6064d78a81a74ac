package sepad

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"slices"
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
		if strings.TrimSpace(strings.TrimPrefix(secret, secretPrefix)) == "" {
			continue // a setting that is missing: anybody could sign with it
		}
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

// handling is one event on its way through a Handler. Who remembers events asks to be
// told how it ends: what could not be handled was not handled before when it comes again.
type handling struct{ ended func(isHandled bool) }

type handlingKey struct{}

func (r *Receiver) handleOnce(ctx context.Context, event Event, handle func(context.Context, Event) error) error {
	this, isHandled := &handling{ended: func(bool) {}}, false
	if r.Handled != nil {
		done, err := r.Handled(context.WithValue(ctx, handlingKey{}, this), event.ID)
		if done || err != nil {
			return err
		}
	}
	defer func() { this.ended(isHandled) }() // also where it panics
	err := handle(ctx, event)
	isHandled = err == nil
	return err
}

// errUnderWay has the service send an event again that is being handled: nobody knows yet
// whether it will have been.
var errUnderWay = errors.New("sepad: the event is being handled")

// Remember is a Receiver's Handled for a single process: it knows the last events that
// a Handler has handled, up to a number. One that could not be handled is not among them.
func Remember(most int) func(ctx context.Context, eventID string) (bool, error) {
	m := &memory{most: most, isHandled: map[string]bool{}}
	return m.ask
}

// memory knows the last events, oldest first. One that is not handled yet is under way.
type memory struct {
	most      int
	mu        sync.Mutex
	isHandled map[string]bool
	order     []string
}

func (m *memory) ask(ctx context.Context, id string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if isHandled, isKnown := m.isHandled[id]; isHandled {
		return true, nil
	} else if isKnown {
		return false, errUnderWay
	}
	this, isTold := ctx.Value(handlingKey{}).(*handling)
	if isTold {
		this.ended = func(isHandled bool) { m.end(id, isHandled) }
	}
	m.isHandled[id] = !isTold
	if m.order = append(m.order, id); len(m.order) > m.most {
		delete(m.isHandled, m.order[0])
		m.order = m.order[1:]
	}
	return false, nil
}

func (m *memory) end(id string, isHandled bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, isKnown := m.isHandled[id]; !isKnown {
		return // forgotten meanwhile
	}
	if isHandled {
		m.isHandled[id] = true
		return
	}
	delete(m.isHandled, id)
	m.order = slices.DeleteFunc(m.order, func(known string) bool { return known == id })
}
