package trace

import (
	"context"
	"net/http"
	"net/url"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/propagation"
)

// Handler puts a span around a handler and names it after the route's pattern.
// A caller's own trace is linked to and not joined: strangers do not decide
// what we record.
func (t *Tracing) Handler(pattern string, next http.Handler) http.Handler {
	if t.sdk == nil {
		return next
	}
	traced := otelhttp.NewHandler(http.HandlerFunc(func(w http.ResponseWriter, blank *http.Request) {
		next.ServeHTTP(w, realRequest(blank))
	}), pattern,
		otelhttp.WithTracerProvider(t.provider),
		otelhttp.WithPropagators(propagation.TraceContext{}),
		otelhttp.WithPublicEndpointFn(func(*http.Request) bool { return true }),
		otelhttp.WithSpanNameFormatter(func(pattern string, r *http.Request) string { return r.Method + " " + pattern }),
	)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		blank := blankRequest(r, &url.URL{Path: pattern})
		blank.Pattern = pattern
		for _, name := range (propagation.TraceContext{}).Fields() {
			if sent := r.Header.Get(name); sent != "" {
				blank.Header.Set(name, sent)
			}
		}
		traced.ServeHTTP(w, blank)
	})
}

// Transport puts a span around outgoing requests. The other side is told
// nothing of it: gateways and merchants are strangers to our traces.
func (t *Tracing) Transport(base http.RoundTripper) http.RoundTripper {
	if t.sdk == nil {
		return base
	}
	traced := otelhttp.NewTransport(roundTripper(func(blank *http.Request) (*http.Response, error) {
		return base.RoundTrip(realRequest(blank))
	}),
		otelhttp.WithTracerProvider(t.provider),
		otelhttp.WithPropagators(propagation.NewCompositeTextMapPropagator()),
		otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string { return r.Method + " " + r.URL.Host }),
	)
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		return traced.RoundTrip(blankRequest(r, &url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host}))
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type realKey struct{}

// blankRequest is what may be recorded of a request. The real one goes along
// where only we find it.
func blankRequest(r *http.Request, address *url.URL) *http.Request {
	ctx := context.WithValue(r.Context(), realKey{}, r)
	return (&http.Request{
		Method: r.Method, URL: address, Header: http.Header{}, Proto: r.Proto, ProtoMajor: r.ProtoMajor, ProtoMinor: r.ProtoMinor,
	}).WithContext(ctx)
}

// realRequest is the request behind a blank one, within the span.
func realRequest(blank *http.Request) *http.Request {
	r := blank.Context().Value(realKey{}).(*http.Request)
	return r.WithContext(blank.Context())
}
