package trace

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	oteltrace "go.opentelemetry.io/otel/trace"
)

const (
	token   = "ps_secretsecretsecretsecretsecretsecretsecretse"
	pattern = "/api/v1/payment-sessions/{token}/"
)

func recorded(t *testing.T) (*Tracing, *tracetest.SpanRecorder) {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	return newTracing(sdktrace.WithSpanProcessor(recorder)), recorder
}

// everything that a span says, as text.
func everything(span sdktrace.ReadOnlySpan) string {
	return fmt.Sprint(span.Name(), span.Attributes(), span.Events(), span.Status(), span.Resource())
}

func secretRequest(address string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, address, strings.NewReader("DE89370400440532013000"))
	r.RemoteAddr = "203.0.113.77:4711"
	r.Header.Set("X-Forwarded-For", "203.0.113.88")
	r.Header.Set("User-Agent", "Anna's browser")
	r.Header.Set("Authorization", "Bearer rk_test_key")
	r.Header.Set("Referer", "https://shop.example/?email=anna@example.com")
	return r
}

var secrets = []string{token, "ps_", "203.0.113", "Anna", "anna", "rk_test", "DE89", "iban"}

func mustHide(t *testing.T, span sdktrace.ReadOnlySpan) {
	t.Helper()
	for _, secret := range secrets {
		if text := everything(span); strings.Contains(text, secret) {
			t.Errorf("the span shows %s: %s", secret, text)
		}
	}
}

func TestASpanIsNamedAfterItsRouteAndShowsNothingElse(t *testing.T) {
	t.Parallel()
	tracing, recorder := recorded(t)
	h := tracing.Handler(pattern, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/api/v1/payment-sessions/"+token+"/" || r.URL.RawQuery != "iban=DE89" || r.RemoteAddr != "203.0.113.77:4711" ||
			r.Header.Get("Authorization") == "" || string(body) != "DE89370400440532013000" {
			t.Errorf("the handler does not see the request: %v", r)
		}
		if !oteltrace.SpanFromContext(r.Context()).SpanContext().IsValid() {
			t.Error("the handler does not run within the span")
		}
		w.WriteHeader(http.StatusGone)
	}))
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, secretRequest("/api/v1/payment-sessions/"+token+"/?iban=DE89"))
	if answer.Code != http.StatusGone {
		t.Errorf("status %d", answer.Code)
	}
	spans := recorder.Ended()
	if len(spans) != 1 || spans[0].Name() != "GET "+pattern {
		t.Fatalf("got %v", spans)
	}
	if text := everything(spans[0]); !strings.Contains(text, `"http.response.status_code":410`) {
		t.Errorf("the status is not shown: %s", text)
	}
	mustHide(t, spans[0])
}

func TestPathValuesReachTheHandler(t *testing.T) {
	t.Parallel()
	tracing, _ := recorded(t)
	mux := http.NewServeMux()
	seen := ""
	mux.Handle(pattern, tracing.Handler(pattern, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r.PathValue("token") })))
	mux.ServeHTTP(httptest.NewRecorder(), secretRequest("/api/v1/payment-sessions/"+token+"/"))
	if seen != token {
		t.Errorf("got %q", seen)
	}
}

func TestACallersTraceIsLinkedAndNotJoined(t *testing.T) {
	t.Parallel()
	tracing, recorder := recorded(t)
	const theirs = "0af7651916cd43dd8448eb211c80319c"
	r := secretRequest("/x/")
	r.Header.Set("Traceparent", "00-"+theirs+"-b7ad6b7169203331-01")
	tracing.Handler("/{token}/", http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), r)
	span := recorder.Ended()[0]
	if span.SpanContext().TraceID().String() == theirs || span.Parent().IsValid() {
		t.Error("a stranger decides which trace we record into")
	}
	if links := span.Links(); len(links) != 1 || links[0].SpanContext.TraceID().String() != theirs {
		t.Errorf("links %v", links)
	}
}

func TestAnOutgoingSpanShowsTheHostAndNothingElse(t *testing.T) {
	t.Parallel()
	tracing, recorder := recorded(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.RequestURI() != "/charge/"+token+"?iban=DE89" || r.Header.Get("Authorization") == "" || string(body) != "sent" {
			t.Errorf("the gateway got %v with %q", r, body)
		}
		if r.Header.Get("Traceparent") != "" {
			t.Error("the gateway learns of our traces")
		}
		_, _ = io.WriteString(w, "answered")
	}))
	t.Cleanup(server.Close)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/charge/"+token+"?iban=DE89", strings.NewReader("sent"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer rk_test_key")
	client := http.Client{Transport: tracing.Transport(http.DefaultTransport)}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	if string(body) != "answered" {
		t.Errorf("got %q", body)
	}
	spans := recorder.Ended()
	if len(spans) != 1 || spans[0].Name() != "POST "+r.URL.Host {
		t.Fatalf("got %v", spans)
	}
	mustHide(t, spans[0])
}

func TestWithoutACollectorNothingIsWrapped(t *testing.T) {
	t.Parallel()
	tracing, err := Setup(t.Context(), "", "1.2.3", slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	if h := http.NewServeMux(); tracing.Handler(pattern, h) != http.Handler(h) {
		t.Error("the handler is wrapped")
	}
	if tracing.Transport(http.DefaultTransport) != http.DefaultTransport {
		t.Error("the transport is wrapped")
	}
	if tracing.Provider() == nil {
		t.Error("libraries get no provider")
	}
	if err := tracing.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestSpansReachTheCollector(t *testing.T) {
	t.Parallel()
	received := make(chan string, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		received <- r.URL.Path + " " + string(text)
	}))
	t.Cleanup(collector.Close)
	tracing, err := Setup(t.Context(), collector.URL, "1.2.3", slog.New(slog.NewTextHandler(&bytes.Buffer{}, nil)))
	if err != nil {
		t.Fatal(err)
	}
	tracing.Handler(pattern, http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), secretRequest("/api/v1/payment-sessions/"+token+"/"))
	if err := tracing.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := <-received
	for _, want := range []string{"/v1/traces ", "GET " + pattern, "sepad", "1.2.3"} {
		if !strings.Contains(got, want) {
			t.Errorf("the collector was not told %q", want)
		}
	}
	for _, secret := range secrets {
		if strings.Contains(got, secret) {
			t.Errorf("the collector was told %s", secret)
		}
	}
}

func TestAWrongEndpointStopsTheStart(t *testing.T) {
	t.Parallel()
	for _, endpoint := range []string{"localhost:4318", "ftp://host", "http://", "://", "http://[::1"} {
		_, err := Setup(t.Context(), endpoint, "1.2.3", slog.Default())
		if err == nil || !strings.Contains(err.Error(), "SEPAD_OTLP_ENDPOINT") {
			t.Errorf("%s: got %v", endpoint, err)
		}
	}
}

// TestACollectorThatHangsKeepsNobody: a process that is told to end does not wait for who takes its traces.
func TestACollectorThatHangsKeepsNobody(t *testing.T) {
	t.Parallel()
	released := make(chan struct{})
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-released }))
	t.Cleanup(collector.Close)
	t.Cleanup(func() { close(released) })
	tracing, err := Setup(t.Context(), collector.URL, "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	_, span := tracing.Provider().Tracer("test").Start(t.Context(), "span")
	span.End()
	ended := make(chan error, 1)
	go func() { ended <- tracing.Shutdown(context.Background()) }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(3 * shutdownPatience):
		t.Error("it is waited for")
	}
}
