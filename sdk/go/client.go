package sepad

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Client calls a service with an API key. It may be used by several goroutines.
type Client struct {
	// HTTP makes the requests; nil is a client of its own with a time limit.
	HTTP *http.Client
	// Tries is how often a call is made at most, 0 for 4.
	Tries int
	// Wait pauses between tries; nil waits in real time. It gives an error to give up.
	Wait func(ctx context.Context, d time.Duration) error

	base, key string
}

const (
	usualTries    = 4
	usualTimeout  = 45 * time.Second // a payment may take 30 s at its gateway
	maxAnswer     = 16 << 20
	firstWait     = 200 * time.Millisecond
	longestWait   = 30 * time.Second
	mostDoublings = 8 // of the first wait, which is more than the longest
)

// New makes a client. The address is that of the service, without the path of the API.
func New(address, apiKey string) *Client {
	return &Client{
		base: strings.TrimRight(address, "/"), key: apiKey, HTTP: &http.Client{Timeout: usualTimeout, CheckRedirect: stay},
	}
}

// client is who makes requests. One of the caller's stays as well, unless it says where to go.
func (c *Client) client() *http.Client {
	switch {
	case c.HTTP == nil:
		return &http.Client{Timeout: usualTimeout, CheckRedirect: stay}
	case c.HTTP.CheckRedirect != nil:
		return c.HTTP
	}
	own := *c.HTTP
	own.CheckRedirect = stay
	return &own
}

// stay follows no answer that leads elsewhere. What is at http:// often leads to https://, and whoever has the wrong one of
// them set would send key and account numbers in the open for good without noticing.
func stay(to *http.Request, _ []*http.Request) error {
	return fmt.Errorf("the answer leads to %s://%s, which is not followed", to.URL.Scheme, to.URL.Host)
}

// Error is an answer that is no success. Fields has a sentence for every field that
// was refused, by its name ("lead.email"); Detail is the sentence where it is one.
type Error struct {
	Status     int
	Detail     string
	Fields     map[string]string
	RetryAfter time.Duration
	RequestID  string
}

func (e *Error) Error() string {
	text := e.Detail
	for name, sentence := range e.Fields {
		if text != "" {
			text += " "
		}
		text += name + ": " + sentence
	}
	return fmt.Sprintf("sepad: %d: %s", e.Status, text)
}

// StatusOf is the HTTP status of an error, 0 where nothing was answered.
func StatusOf(err error) int {
	var answered *Error
	if errors.As(err, &answered) {
		return answered.Status
	}
	return 0
}

// FieldError is the sentence about one field, "" where the error is not about it.
func FieldError(err error, field string) string {
	var answered *Error
	if errors.As(err, &answered) {
		return answered.Fields[field]
	}
	return ""
}

// call is one request, as often as it may be repeated.
type call struct {
	method, path string
	body, answer any
	header       http.Header
	// isOnce tells a call that must not be repeated once it may have been worked on.
	isOnce bool
}

// do makes a call. What the service has surely not worked on (429, 503, a connection
// that was never made) is always tried again; what it may have worked on only where a
// repeat does no harm.
func (c *Client) do(ctx context.Context, in call) error {
	var text []byte
	if in.body != nil {
		var err error
		if text, err = json.Marshal(in.body); err != nil {
			return fmt.Errorf("sepad: %w", err)
		}
	}
	tries := c.Tries
	if tries == 0 {
		tries = usualTries
	}
	for try := 1; ; try++ {
		err := c.once(ctx, in, text)
		if err == nil || try >= tries || ctx.Err() != nil || !in.isWorthRepeating(err) {
			return err
		}
		if err := c.wait(ctx, pause(err, try)); err != nil {
			return err
		}
	}
}

func (in call) isWorthRepeating(err error) bool {
	switch status := StatusOf(err); status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return true
	case 0, http.StatusBadGateway, http.StatusGatewayTimeout:
		return !in.isOnce
	default:
		return status >= http.StatusInternalServerError && !in.isOnce
	}
}

// pause is how long to wait after a try: what the service asks for, else longer each
// time, scattered so that many clients do not come back together.
func pause(err error, try int) time.Duration {
	var answered *Error
	if errors.As(err, &answered) && answered.RetryAfter > 0 {
		return min(answered.RetryAfter, longestWait)
	}
	wait := firstWait << min(try-1, mostDoublings)
	extra, randErr := rand.Int(rand.Reader, big.NewInt(int64(wait)))
	if randErr == nil {
		wait += time.Duration(extra.Int64())
	}
	return min(wait, longestWait)
}

func (c *Client) wait(ctx context.Context, d time.Duration) error {
	if c.Wait != nil {
		return c.Wait(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// once makes one request.
func (c *Client) once(ctx context.Context, in call, text []byte) error {
	request, err := http.NewRequestWithContext(ctx, in.method, c.address(in.path), bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("sepad: %w", err)
	}
	for name, values := range in.header {
		request.Header[name] = values
	}
	request.Header.Set("Accept", "application/json")
	if c.key != "" {
		request.Header.Set("Authorization", "Bearer "+c.key)
	}
	if text != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.client().Do(request)
	if err != nil {
		return fmt.Errorf("sepad: %w", err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("sepad: %w", err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		return readError(response, raw)
	}
	if in.answer == nil {
		return nil
	}
	if err := json.Unmarshal(raw, in.answer); err != nil {
		return fmt.Errorf("sepad: the answer cannot be read: %w", err)
	}
	return nil
}

// address is a path of the API, or an address that the service gave, which is only
// followed to the service itself: the key goes nowhere else.
func (c *Client) address(path string) string {
	if given, err := url.Parse(path); err == nil && given.IsAbs() {
		return c.base + given.RequestURI()
	}
	return c.base + path
}

func readError(response *http.Response, raw []byte) error {
	e := &Error{Status: response.StatusCode, RequestID: response.Header.Get("X-Request-Id")}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	var body struct {
		Detail json.RawMessage `json:"detail"`
		Error  string          `json:"error"`
	}
	if json.Unmarshal(raw, &body) != nil {
		e.Detail = http.StatusText(response.StatusCode)
		return e
	}
	if json.Unmarshal(body.Detail, &e.Detail) != nil && json.Unmarshal(body.Detail, &e.Fields) != nil {
		e.Detail = body.Error
	}
	return e
}

// keyed is the header that makes a repeat of a request the same request. Without a key
// of the caller's, one is made.
func keyed(key string) http.Header {
	if key == "" {
		key = rand.Text()
	}
	return http.Header{"Idempotency-Key": {key}}
}

func (c *Client) get(ctx context.Context, path string, answer any) error {
	return c.do(ctx, call{method: http.MethodGet, path: path, answer: answer})
}

func segment(text string) string { return url.PathEscape(text) + "/" }
