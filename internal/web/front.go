package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/payment"
)

// Front is what every request passes first and every answer last.
type Front struct {
	Proxies TrustedProxies
	Logger  *slog.Logger
	Clock   clock.Clock
	// HTTPSOnly tells browsers to come over https alone, for a year.
	HTTPSOnly bool
	// Observe is told of every answer; nil when nobody measures.
	Observe func(method, route string, status int, took time.Duration)
	// Crowd are those who were turned away.
	Crowd *Crowd
}

// info is what is known of a request beside itself. One request is served by
// one goroutine, so it needs no lock.
type info struct {
	id       string
	clientIP netip.Addr
	logger   *slog.Logger
	answer   *answer
	route    string
	session  string
	trace    string // the id of the trace, "" for none
	quiet    bool
	caller   Caller
	// turnedAway tells that nothing was begun, because it could not have been answered in time.
	turnedAway bool
}

// Caller is who has called, as the log names them: nobody by address.
type Caller struct {
	// Actor is an operator, a token or root; "" for others.
	Actor string
	// TenantID and KeyID are those of a merchant's server, Nil for others.
	TenantID, KeyID uuid.UUID
}

// NoteCaller tells the log who has called.
func NoteCaller(ctx context.Context, who Caller) {
	if i := infoOf(ctx); i != nil {
		i.caller = who
	}
}

type infoKey struct{}

func infoOf(ctx context.Context) *info {
	i, _ := ctx.Value(infoKey{}).(*info)
	return i
}

// RequestID is the id under which the log knows a request, "" outside of one.
func RequestID(ctx context.Context) string {
	if i := infoOf(ctx); i != nil {
		return i.id
	}
	return ""
}

// ClientIP is the address that a request came from, the zero address when it
// did not come over IP.
func ClientIP(ctx context.Context) netip.Addr {
	if i := infoOf(ctx); i != nil {
		return i.clientIP
	}
	return netip.Addr{}
}

// ClientText is that address as it is written down, "" for none.
func ClientText(ctx context.Context) string { return addressText(ClientIP(ctx)) }

func addressText(address netip.Addr) string {
	if address.IsValid() {
		return address.String()
	}
	return ""
}

func logger(ctx context.Context) *slog.Logger {
	if i := infoOf(ctx); i != nil {
		return i.logger
	}
	return slog.Default()
}

func answered(ctx context.Context) bool {
	i := infoOf(ctx)
	return i != nil && i.answer.status != 0
}

// unmatched is the route of a request that has none: its path is a stranger's
// text and belongs neither into the log nor into a metric's label.
const unmatched = "unmatched"

// What browsers may do with an answer, unless its page says otherwise: show it as what
// it is, and neither load anything nor be shown within another page.
var (
	noSniffing   = []string{"nosniff"}
	nothingLoads = []string{"default-src 'none'; frame-ancestors 'none'"}
)

// Wrap puts the front before a handler.
func (f Front) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := f.Clock.Now()
		known := &info{
			clientIP: f.Proxies.ClientIP(r), id: f.requestID(r), logger: f.Logger,
			answer: &answer{ResponseWriter: w}, route: unmatched,
		}
		f.describe(w.Header(), known.id)
		// Nothing here is given in pieces: net/http would cut a document into thousands for whoever lists them, at a hundred times
		// what the whole costs.
		r.Header.Del("Range")
		// Where a head speaks of chunks, net/http has forgotten by now whether it names a length too. Nothing that comes behind is
		// read, so that nobody on the way has another opinion of where it begins.
		if len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close")
		}
		r = r.WithContext(context.WithValue(r.Context(), infoKey{}, known))
		// Deferred, so that an answer that was broken off has its line too.
		defer func() { f.finish(r, known, began) }()
		next.ServeHTTP(known.answer, r)
	})
}

// describe sets what every answer has.
func (f Front) describe(header http.Header, id string) {
	header["X-Content-Type-Options"], header["Content-Security-Policy"] = noSniffing, nothingLoads
	header.Set("X-Request-Id", id)
	if f.HTTPSOnly {
		header.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// requestID takes over the id that a proxy of ours has given, so that its log
// and ours can be read together.
func (f Front) requestID(r *http.Request) string {
	if id := r.Header.Get("X-Request-Id"); id != "" && f.isGiven(id, peer(r)) {
		return id
	}
	return payment.NewID().String()
}

func (f Front) isGiven(id string, peer netip.Addr) bool {
	return saneID(id) && f.Proxies.Contains(peer)
}

func saneID(id string) bool {
	const longest = 128
	return len(id) <= longest && !strings.ContainsFunc(id, func(c rune) bool {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		return !letter && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.'
	})
}

func (f Front) finish(r *http.Request, known *info, began time.Time) {
	ended := f.Clock.Now()
	took := ended.Sub(began)
	status := known.answer.status
	if status == 0 {
		status = http.StatusOK // what net/http sends for a handler that wrote nothing
	}
	if f.Observe != nil {
		f.Observe(r.Method, known.route, status, took)
	}
	if !known.turnedAway {
		logAccess(r, known, status, ended, took)
		return
	}
	f.Crowd.add()
}

// answer remembers the status of an answer that has begun.
type answer struct {
	http.ResponseWriter
	status int
}

func (a *answer) WriteHeader(status int) {
	const lastInformational = 199
	if a.status == 0 && status > lastInformational {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(body []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	return a.ResponseWriter.Write(body)
}

// Unwrap leads http.ResponseController to what lies below.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
