package gateway

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"sepad/internal/clock"
	"sepad/internal/sepa"
)

const (
	// DefaultConnectTimeout bounds everything before the first byte of a
	// request: the name, the connection, the handshake.
	DefaultConnectTimeout = 10 * time.Second
	// DefaultMaxAnswer is how long a gateway's answer may be, in bytes.
	DefaultMaxAnswer = 1 << 20

	maxAnswerHeader = 64 << 10
	keptIdleFor     = 30 * time.Second
	keptIdle        = 4
)

// HTTPOptions are what a deployment, or a test, may say about connections to
// gateways. The zero value is meant for production.
type HTTPOptions struct {
	sepa.Masked
	// ConnectTimeout replaces DefaultConnectTimeout, MaxAnswer DefaultMaxAnswer.
	ConnectTimeout time.Duration
	MaxAnswer      int64
	// RootCAs replaces the system's; Certificates are shown to a gateway that
	// asks who calls.
	RootCAs      *x509.CertPool
	Certificates []tls.Certificate
	// Logger gets a line per exchange at debug level; nil means slog.Default().
	Logger *slog.Logger
}

// HTTP is how an adapter talks to its gateway, and the one place that tells "not
// sent" from "unknown". An error of Do wraps ErrNotSent only if no byte of the
// request can have reached anybody; after any other error the gateway may have
// acted on it.
//
// The line is drawn where a request is given a connection. Before it there are
// the name, the connection and the handshake, which carry nothing of the request
// (Go sends no early data). After it nothing is certain: a write that fails may
// have arrived. Go's own repetitions are kept out: a request that may move money
// gets a connection of its own, because on one that was used before, Go silently
// sends again what has an Idempotency-Key. HTTP/2 is off for the same reason: a
// stream that the peer refuses is repeated as well. Only questions (GET, HEAD)
// share connections; whoever asks twice takes nothing twice.
type HTTP struct {
	base    *url.URL
	fresh   *http.Transport
	kept    *http.Transport
	options HTTPOptions
}

// NewHTTP prepares calls of a gateway whose addresses begin with base.
func NewHTTP(base string, options HTTPOptions) (*HTTP, error) {
	address, err := url.Parse(base)
	if err != nil || address.Host == "" || address.User != nil || address.RawQuery != "" || address.Fragment != "" {
		return nil, errors.New("a gateway's address is https://, a host and perhaps a path")
	}
	if address.Scheme != "https" && !(address.Scheme == "http" && isLoopback(address.Hostname())) {
		return nil, errors.New("a gateway is spoken to by https alone")
	}
	if options.ConnectTimeout <= 0 {
		options.ConnectTimeout = DefaultConnectTimeout
	}
	if options.MaxAnswer <= 0 {
		options.MaxAnswer = DefaultMaxAnswer
	}
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	h := &HTTP{base: address, options: options, fresh: newTransport(options), kept: newTransport(options)}
	h.fresh.DisableKeepAlives = true
	return h, nil
}

// isLoopback allows tests, and a proxy on this machine, to do without TLS.
func isLoopback(host string) bool {
	address := net.ParseIP(host)
	return address != nil && address.IsLoopback()
}

func newTransport(options HTTPOptions) *http.Transport {
	onlyHTTP1 := &http.Protocols{}
	onlyHTTP1.SetHTTP1(true)
	return &http.Transport{
		Proxy:     http.ProxyFromEnvironment,
		Protocols: onlyHTTP1,
		TLSClientConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: options.RootCAs, Certificates: options.Certificates,
			// A connection for each payment costs one exchange less this way.
			ClientSessionCache: tls.NewLRUClientSessionCache(0),
		},
		MaxResponseHeaderBytes: maxAnswerHeader,
		// What is not asked for in a compressed form cannot grow when it is read.
		DisableCompression:  true,
		IdleConnTimeout:     keptIdleFor,
		MaxIdleConnsPerHost: keptIdle,
	}
}

// Request is one call of a gateway. Its path is below the base address.
type Request struct {
	sepa.Masked
	Method string
	Path   string
	Query  url.Values
	Header http.Header
	Body   []byte
}

// Answer is what came back, whole.
type Answer struct {
	sepa.Masked
	StatusCode int
	Header     http.Header
	Body       []byte
}

// Do makes a call. Every status is an answer, except that one which sends us
// elsewhere is an error: where a payment went is not for others to say. The
// words of an error hold no URL, header or body.
func (h *HTTP) Do(ctx context.Context, r Request) (Answer, error) {
	answer, err := h.exchange(ctx, r)
	attrs := []slog.Attr{slog.String("method", r.Method), slog.String("host", h.base.Host)}
	if err != nil {
		attrs = append(attrs, slog.Bool("sent", !errors.Is(err, ErrNotSent)))
	} else {
		attrs = append(attrs, slog.Int("status", answer.StatusCode), slog.Int("bytes", len(answer.Body)))
	}
	h.options.Logger.LogAttrs(ctx, slog.LevelDebug, "gateway exchange", attrs...)
	return answer, err
}

func (h *HTTP) exchange(ctx context.Context, r Request) (Answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	request, err := h.request(ctx, r)
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	var hasLine atomic.Bool
	connected := h.limitConnecting(ctx, cancel)
	defer connected()
	request = request.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { hasLine.Store(true); connected() },
	}))
	response, err := h.transport(r.Method).RoundTrip(request)
	if err != nil {
		if !hasLine.Load() {
			return Answer{}, fmt.Errorf("%w: %w", ErrNotSent, plain(ctx, err))
		}
		return Answer{}, fmt.Errorf("the connection broke: %w", plain(ctx, err))
	}
	defer response.Body.Close()
	return h.read(ctx, response)
}

// transport keeps connections for what changes nothing.
func (h *HTTP) transport(method string) *http.Transport {
	if method == http.MethodGet || method == http.MethodHead {
		return h.kept
	}
	return h.fresh
}

func (h *HTTP) request(ctx context.Context, r Request) (*http.Request, error) {
	address := *h.base
	address.Path = strings.TrimRight(address.Path, "/") + "/" + strings.TrimLeft(r.Path, "/")
	address.RawQuery = r.Query.Encode()
	request, err := http.NewRequestWithContext(ctx, r.Method, address.String(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, errors.New("the request cannot be made")
	}
	request.Header.Set("User-Agent", "sepad")
	maps.Copy(request.Header, r.Header)
	return request, nil
}

// limitConnecting ends a call that has no connection in time, or none when the
// charge is no longer to be sent. It gives what lifts the limit.
func (h *HTTP) limitConnecting(ctx context.Context, cancel context.CancelCauseFunc) (lift func()) {
	limited, stop := context.WithTimeoutCause(ctx, h.options.ConnectTimeout, errNoConnection)
	stopSending := func() {}
	if sendBefore, isSet := ctx.Value(sendBeforeKey{}).(clock.Deadline); isSet {
		limited, stopSending = context.WithTimeoutCause(limited, sendBefore.Left(), errTooLate)
	}
	unlink := context.AfterFunc(limited, func() { cancel(context.Cause(limited)) })
	return func() { unlink(); stopSending(); stop() }
}

var (
	errNoConnection = errors.New("no connection was made in time")
	errTooLate      = errors.New("the time to send it is over")
)

// read takes the whole answer, within its bounds.
func (h *HTTP) read(ctx context.Context, response *http.Response) (Answer, error) {
	if response.StatusCode >= 300 && response.StatusCode < 400 {
		return Answer{}, fmt.Errorf("the gateway answered %d, and redirects are not followed", response.StatusCode)
	}
	if response.StatusCode == http.StatusSwitchingProtocols {
		// What comes then is the caller's to end: no limit of the call would.
		return Answer{}, errors.New("the gateway answered 101, and nothing but HTTP is spoken")
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, h.options.MaxAnswer+1))
	if err != nil {
		return Answer{}, fmt.Errorf("the answer broke off: %w", plain(ctx, err))
	}
	if int64(len(body)) > h.options.MaxAnswer {
		return Answer{}, fmt.Errorf("the answer is longer than %d bytes", h.options.MaxAnswer)
	}
	return Answer{StatusCode: response.StatusCode, Header: response.Header, Body: body}, nil
}

// plain says why a call failed without the address in the standard errors, which
// may hold what the request held. A context's end counts for more than what it
// brought about.
func plain(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	return err
}

// sendBeforeKey carries a charge's SendBefore to where its connection is made.
type sendBeforeKey struct{}
