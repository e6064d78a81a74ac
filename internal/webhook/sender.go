package webhook

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"code.dny.dev/ssrf"

	"sepad/internal/merchant"
	"sepad/internal/store"
)

const (
	// DefaultTimeout is how long a receiver may take to answer.
	DefaultTimeout = 15 * time.Second
	// maxAnswer is how much of an answer is read, keptAnswer how much is kept.
	maxAnswer  = 64 << 10
	keptAnswer = 1 << 10
)

// Sender makes the HTTP request of one attempt.
type Sender struct {
	// Transport answers a request; unlike a client it follows no redirect.
	Transport http.RoundTripper
	Timeout   time.Duration
	UserAgent string
}

// answer is what came of an attempt.
type answer struct {
	statusCode int
	start      string
	retryAfter time.Duration
	err        error
}

// target is a profile made ready for sending.
type target struct {
	profile merchant.WebhookProfile
	url     *url.URL
	err     error // why nothing can be sent
}

// errSwitched is the answer of a receiver that wants to speak something else. Nothing must be read of it: net/http leaves
// such a connection to its caller, and no limit would end that.
var errSwitched = errors.New("the receiver answered 101, and nothing but HTTP is spoken")

var errInactive = errors.New("the webhook profile is not active")

func newTarget(profile merchant.WebhookProfile, found bool) *target {
	t := &target{profile: profile}
	if !found || !profile.Active {
		t.err = errInactive
		return t
	}
	if t.url, t.err = url.Parse(profile.URL); t.err != nil {
		t.err = errors.New("the address of the webhook profile cannot be read")
	} else if t.url.Scheme != "http" && t.url.Scheme != "https" || t.url.Host == "" {
		t.err = errors.New("the address of the webhook profile is neither http nor https")
	}
	return t
}

// send posts a delivery. The context is that of the process: an attempt under
// way is ended by its own limit only.
func (s *Sender) send(ctx context.Context, to *target, d store.Delivery, now time.Time) answer {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	request := s.request(ctx, to, d, now)
	response, err := s.Transport.RoundTrip(request)
	if err != nil {
		return answer{err: s.explain(ctx, err)}
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusSwitchingProtocols {
		return answer{err: errSwitched}
	}
	return answer{
		statusCode: response.StatusCode, start: readStart(response.Body), retryAfter: retryAfter(response.Header, now),
	}
}

// request is the delivery as it goes over the wire (contract 6.2), with the headers
// of Standard Webhooks beside ours.
func (s *Sender) request(ctx context.Context, to *target, d store.Delivery, now time.Time) *http.Request {
	body := []byte(d.Payload)
	id, timestamp := d.EventID.String(), strconv.FormatInt(now.Unix(), 10)
	signed := SignStandard(to.profile.SigningSecret.Reveal(), id, timestamp, body)
	header := http.Header{
		"Content-Type":               {"application/json"},
		"User-Agent":                 {s.UserAgent},
		"X-Service-Event":            {string(d.Kind)},
		"X-Service-Event-Id":         {id},
		"X-Service-Delivery-Attempt": {strconv.Itoa(d.AttemptCount + 1)},
		"X-Service-Signature":        {Sign(to.profile.SigningSecret.Reveal(), body)},
		"Webhook-Id":                 {id},
		"Webhook-Timestamp":          {timestamp},
	}
	if previous := to.profile.PreviousSecret; !previous.IsZero() && now.Before(to.profile.PreviousSecretUntil) {
		header["X-Service-Signature-Previous"] = []string{Sign(previous.Reveal(), body)}
		signed += " " + SignStandard(previous.Reveal(), id, timestamp, body)
	}
	header["Webhook-Signature"] = []string{signed}
	request := (&http.Request{
		Method: http.MethodPost, URL: to.url, Host: to.url.Host, Header: header, ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(strings.NewReader(d.Payload)), ContentLength: int64(len(d.Payload)),
	}).WithContext(ctx)
	if user := to.url.User; user != nil {
		password, _ := user.Password()
		request.SetBasicAuth(user.Username(), password)
	}
	return request
}

// explain says what kept an attempt from being answered. Some errors repeat what
// the receiver has said, in its certificate or in a head that is none.
func (s *Sender) explain(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, ssrf.ErrProhibitedIP), errors.Is(err, ssrf.ErrProhibitedNetwork):
		return errors.New("the address is in a network that webhooks may not reach")
	case ctx.Err() != nil:
		return errors.New("no answer within " + s.Timeout.String())
	default:
		text := withoutOurs(err).Error()
		return errors.New(keepable(text[:min(len(text), keptAnswer)]))
	}
}

// withoutOurs leaves out of a network's error where it was met: merchants are shown it, and neither this machine's address
// nor that of its name server is theirs to know.
func withoutOurs(err error) error {
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		return &net.DNSError{Err: lookup.Err, Name: lookup.Name}
	}
	if exchange, ok := errors.AsType[*net.OpError](err); ok {
		return &net.OpError{Op: exchange.Op, Net: exchange.Net, Addr: exchange.Addr, Err: exchange.Err}
	}
	return err
}

// keepable is a receiver's text as any database takes it.
func keepable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

var starts = sync.Pool{New: func() any { return new([keptAnswer]byte) }}

// readStart reads an answer up to its limit and keeps the beginning. What cannot
// be read is no matter: the status counts.
func readStart(body io.Reader) string {
	buffer := starts.Get().(*[keptAnswer]byte)
	defer starts.Put(buffer)
	start := buffer[:]
	n, err := io.ReadFull(body, start)
	if err == nil {
		// Read on to a limit: a connection can serve again only once its answer
		// has been read to the end.
		_, _ = io.CopyN(io.Discard, body, maxAnswer-keptAnswer)
	}
	return keepable(string(start[:n]))
}
