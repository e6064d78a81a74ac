// Package sepadtest helps to test a shop: the sandbox's accounts by what happens to
// their payments, and deliveries as the service sends them.
package sepadtest

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"

	sepad "sepad/sdk/go"
)

// Delivery is an event on its way to a receiver.
type Delivery struct {
	Secret string
	// ID is the event's, "" for a new one.
	ID   string
	Type string
	// Data is the body: bytes as they are, or anything that is written as JSON.
	Data any
	// SentAt is when it is sent; zero is now.
	SentAt time.Time
}

// Request is the delivery as the service sends it.
func (d Delivery) Request(url string) *http.Request {
	body, isRaw := d.Data.([]byte)
	if !isRaw {
		var err error
		if body, err = json.Marshal(d.Data); err != nil {
			panic(err)
		}
	}
	if d.ID == "" {
		d.ID = rand.Text()
	}
	if d.SentAt.IsZero() {
		d.SentAt = time.Now()
	}
	stamp := strconv.FormatInt(d.SentAt.Unix(), 10)
	request := httptest.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Service-Event", d.Type)
	request.Header.Set("Webhook-Id", d.ID)
	request.Header.Set("Webhook-Timestamp", stamp)
	request.Header.Set("Webhook-Signature", sepad.Sign(d.Secret, d.ID, stamp, body))
	return request
}

// Deliver hands the delivery to a handler and gives its answer.
func (d Delivery) Deliver(to http.Handler) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	to.ServeHTTP(recorder, d.Request("/"))
	return recorder
}
