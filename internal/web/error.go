package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"sepad/internal/payment"
	"sepad/internal/store"
)

// StatusError is a refusal that only HTTP knows: it concerns the request and
// not what it asks for.
type StatusError struct {
	Status int
	Detail string
	Header map[string]string
}

func (e *StatusError) Error() string { return e.Detail }

// ErrNotFound is the answer for a path that leads nowhere.
var ErrNotFound = &StatusError{Status: http.StatusNotFound, Detail: "Not found"}

// MethodNotAllowed is the answer for a path that does not know the method.
func MethodNotAllowed(allow string) error {
	return &StatusError{
		Status: http.StatusMethodNotAllowed, Detail: "Method not allowed", Header: map[string]string{"Allow": allow},
	}
}

// Throttled is the answer for a call too many (contract 8.1). The wait is told
// in whole seconds and never as 0, which would invite the next refusal.
func Throttled(wait time.Duration) error {
	seconds := strconv.FormatInt(max(1, int64((wait+time.Second-1)/time.Second)), 10)
	return &StatusError{
		Status: http.StatusTooManyRequests,
		Detail: "Request was throttled. Expected available in " + seconds + " seconds.",
		Header: map[string]string{"Retry-After": seconds},
	}
}

// statuses is the one mapping of refusals to HTTP (contract 7.2).
var statuses = map[payment.Kind]int{
	payment.Invalid:        http.StatusBadRequest,
	payment.NotFound:       http.StatusNotFound,
	payment.Conflict:       http.StatusConflict,
	payment.Gone:           http.StatusGone,
	payment.OutcomeUnknown: http.StatusInternalServerError,
}

// statusClientGone is what the log shows for a client that did not wait; there
// is nobody left to read it, and it is no failure of ours.
const statusClientGone = 499

// retryAfter is when somebody who was turned away may come again, in seconds.
const retryAfter = "1"

type errorBody struct {
	Detail     any `json:"detail"`
	StatusCode int `json:"status_code"`
}

// WriteError answers with an error. Whatever is not meant for the caller is
// logged under the request's id and answered with a 500 that says nothing.
// When the answer has already begun the connection is broken off, so that a
// part is never taken for the whole.
func WriteError(w http.ResponseWriter, r *http.Request, err error) {
	status, detail := Describe(w, r, err)
	if answered(r.Context()) {
		panic(http.ErrAbortHandler)
	}
	WriteJSON(w, r, status, errorBody{Detail: detail, StatusCode: status})
}

// IsOverload tells that the database could not do a piece of work in time.
func IsOverload(err error) bool {
	return errors.Is(err, store.ErrBusy) || errors.Is(err, store.ErrSilent)
}

// Describe gives the status of an error and what the caller is told, and sets the headers
// that go with it; it is for answers that are not JSON.
func Describe(w http.ResponseWriter, r *http.Request, err error) (status int, detail any) {
	if e, ok := errors.AsType[*StatusError](err); ok {
		for name, text := range e.Header {
			w.Header().Set(name, text)
		}
		return e.Status, e.Detail
	}
	if e, ok := errors.AsType[*payment.Error](err); ok && statuses[e.Kind] != 0 {
		if len(e.Fields) > 0 {
			return statuses[e.Kind], e.Fields
		}
		return statuses[e.Kind], e.Detail
	}
	if IsOverload(err) {
		describeOverload(w.Header(), r, err)
		return http.StatusServiceUnavailable, overloadDetail
	}
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return statusClientGone, "Client closed the request"
	}
	if errors.Is(err, errNotTaken) {
		logger(r.Context()).LogAttrs(r.Context(), slog.LevelWarn, "a file was not taken to its end", slog.Any("error", err))
		return statusClientGone, "Client closed the request"
	}
	logger(r.Context()).LogAttrs(r.Context(), slog.LevelError, "request failed", slog.Any("error", err))
	return http.StatusInternalServerError, "Internal server error"
}

// describeOverload says when to come again, to pages of any site: it tells nothing about anybody.
func describeOverload(header http.Header, r *http.Request, err error) {
	header.Set("Retry-After", retryAfter)
	if r.Header.Get("Origin") != "" && header.Get("Access-Control-Allow-Origin") == "" {
		header.Set("Access-Control-Allow-Origin", "*")
		header.Set("Access-Control-Expose-Headers", "Retry-After, X-Request-Id")
	}
	if known := infoOf(r.Context()); known != nil && errors.Is(err, store.ErrBusy) {
		known.turnedAway = true
		return
	}
	logger(r.Context()).LogAttrs(r.Context(), slog.LevelWarn, "the database was too slow for a request", slog.Any("error", err))
}

var encoders = sync.Pool{New: func() any {
	e := &encoder{}
	e.json = json.NewEncoder(&e.text)
	// Names and texts are read by programs, not by HTML parsers.
	e.json.SetEscapeHTML(false)
	return e
}}

type encoder struct {
	text bytes.Buffer
	json *json.Encoder
}

// WriteJSON answers with a value. It is encoded before the first byte is sent,
// so that a value that cannot be encoded is a clean 500.
func WriteJSON(w http.ResponseWriter, r *http.Request, status int, body any) {
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	e.text.Reset()
	if err := e.json.Encode(body); err != nil {
		WriteError(w, r, err)
		return
	}
	WriteBody(w, status, e.text.Bytes())
}

// WriteBody answers with JSON that is already written.
func WriteBody(w http.ResponseWriter, status int, body []byte) {
	header := w.Header()
	header["Content-Type"], header["Cache-Control"], header["X-Content-Type-Options"] = jsonType, notStored, noSniffing
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	// A client that has gone cannot be told so.
	_, _ = w.Write(body)
}
