package web

import (
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"path"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"sepad/internal/payment"
	"sepad/internal/trace"
)

// Handler answers a request or says why it cannot be answered.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Plain makes a Handler of an ordinary one.
func Plain(h http.Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		h.ServeHTTP(w, r)
		return nil
	}
}

// Route is one line of a route table. A pattern that ends with a slash means
// that path and nothing below it; the path without the slash leads there.
type Route struct {
	Method  string
	Pattern string
	Handler Handler
	// Work is what the route asks of the database.
	Work Work
	// Quiet keeps a route that is asked all day, such as a health check, out
	// of the ordinary log.
	Quiet bool
}

// Work is what a route asks of the database: each kind has a queue of its own.
type Work int8

const (
	// Brief is answered at once or not at all.
	Brief Work = iota
	// Payment moves money.
	Payment
	// List reads much, and streams it.
	List
)

// Wrap puts something around the handler of every route.
type Wrap func(pattern string, next http.Handler) http.Handler

// Mux finds the route of a request and answers for itself where there is none.
type Mux struct{ routes *http.ServeMux }

// NewMux builds a Mux. Two routes for one method and path are a defect of the
// table and panic.
func NewMux(routes []Route, wraps ...Wrap) *Mux {
	byPattern := map[string]*resource{}
	for _, route := range routes {
		known := byPattern[route.Pattern]
		if known == nil {
			known = &resource{pattern: route.Pattern, methods: map[string]Route{}}
			byPattern[route.Pattern] = known
		}
		if _, twice := known.methods[route.Method]; twice {
			panic("web: two routes for " + route.Method + " " + route.Pattern)
		}
		known.methods[route.Method] = route
	}
	mux := &Mux{routes: http.NewServeMux()}
	for pattern, known := range byPattern {
		mux.add(pattern, known.handler(wraps))
		if short := strings.TrimSuffix(pattern, "/"); short != pattern && short != "" && byPattern[short] == nil {
			mux.add(short, http.HandlerFunc(addSlash))
		}
	}
	mux.routes.Handle("/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { WriteError(w, r, ErrNotFound) }))
	return mux
}

func (m *Mux) add(pattern string, h http.Handler) {
	if strings.HasSuffix(pattern, "/") {
		pattern += "{$}"
	}
	m.routes.Handle(pattern, h)
}

// ServeHTTP answers every request, a panic included.
func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if cause := recover(); cause != nil {
			answerPanic(w, r, cause)
		}
	}()
	if !isClean(r.URL.EscapedPath()) {
		WriteError(w, r, ErrNotFound)
		return
	}
	m.routes.ServeHTTP(w, r)
}

// isClean tells paths that can be routed. Others ("//", "..", "*") are unknown
// paths to us; ServeMux would redirect them in its own words.
func isClean(escaped string) bool {
	if escaped == "" || escaped[0] != '/' {
		return false
	}
	clean := path.Clean(escaped)
	return clean == escaped || clean+"/" == escaped
}

// LongestLead is how long an address may be to which somebody is led. A proxy has room for 4 KiB of an answer's head,
// and takes a process that sends more for one that fails: whoever could have us repeat any address would have it left
// alone, by everybody.
const LongestLead = 2 << 10

var errTooLong = &StatusError{Status: http.StatusRequestURITooLong, Detail: "The address is too long."}

// addSlash leads to the path that has a route. 308 keeps method and body.
func addSlash(w http.ResponseWriter, r *http.Request) {
	target := r.URL.EscapedPath() + "/"
	if r.URL.RawQuery != "" {
		target += "?" + r.URL.RawQuery
	}
	if len(target) > LongestLead {
		WriteError(w, r, errTooLong)
		return
	}
	w.Header().Set("Location", target)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusPermanentRedirect)
}

// answerPanic logs where a request went wrong. What was said is logged only
// when the language itself said it: other texts may hold a person's data.
func answerPanic(w http.ResponseWriter, r *http.Request, cause any) {
	if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(http.ErrAbortHandler)
	}
	reason := "panic with " + reflect.TypeOf(cause).String()
	if err, ok := cause.(runtime.Error); ok {
		reason = err.Error()
	}
	logger(r.Context()).LogAttrs(r.Context(), slog.LevelError, "request panicked",
		slog.String("reason", reason), slog.String("stack", string(debug.Stack())))
	WriteError(w, r, errPanicked)
}

var errPanicked = &StatusError{Status: http.StatusInternalServerError, Detail: "Internal server error"}

// resource is a path with the methods that it knows.
type resource struct {
	pattern string
	methods map[string]Route
}

func (e *resource) handler(wraps []Wrap) http.Handler {
	allow := e.allow()
	var h http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { e.serve(w, r, allow) })
	for _, wrap := range slices.Backward(wraps) {
		h = wrap(e.pattern, h)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mark(r)
		h.ServeHTTP(w, r)
	})
}

func (e *resource) allow() string {
	allowed := slices.Collect(maps.Keys(e.methods))
	allowed = append(allowed, http.MethodOptions)
	if _, get := e.methods[http.MethodGet]; get {
		allowed = append(allowed, http.MethodHead)
	}
	slices.Sort(allowed)
	return strings.Join(slices.Compact(allowed), ", ")
}

// mark tells the Front what the log may show of the request.
func (e *resource) mark(r *http.Request) {
	info := infoOf(r.Context())
	if info == nil {
		return
	}
	info.route = e.pattern
	info.quiet = e.methods[r.Method].Quiet
	if token := r.PathValue("token"); strings.HasPrefix(token, payment.TokenPrefix) {
		info.session = payment.ShortToken(token)
	}
}

func (e *resource) serve(w http.ResponseWriter, r *http.Request, allow string) {
	if info := infoOf(r.Context()); info != nil {
		info.trace = trace.ID(r.Context())
	}
	route, known := e.methods[r.Method]
	if !known && r.Method == http.MethodHead {
		route, known = e.methods[http.MethodGet]
	}
	switch {
	case known:
		if err := route.Handler(w, r); err != nil {
			WriteError(w, r, err)
		}
	case r.Method == http.MethodOptions:
		w.Header().Set("Allow", allow)
		w.WriteHeader(http.StatusNoContent)
	default:
		WriteError(w, r, MethodNotAllowed(allow))
	}
}
