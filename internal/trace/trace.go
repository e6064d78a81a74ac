// Package trace sends OpenTelemetry traces when the operator names a collector,
// and costs nothing otherwise.
//
// A span shows which route or which gateway was called, how long it took and
// with what status. It never shows a path, a query, a header, an address or a
// body: session tokens, IBANs and customers are in them. The instrumentation
// of net/http records such things by itself, so it is given a request that
// holds none (blank), and what it wraps is given the real one.
package trace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// Tracing is where spans go. The one without a collector wraps nothing.
type Tracing struct {
	provider oteltrace.TracerProvider
	sdk      *sdktrace.TracerProvider // nil without a collector
}

// ID is the id of the trace that a context belongs to, "" for none.
func ID(ctx context.Context) string {
	if span := oteltrace.SpanContextFromContext(ctx); span.HasTraceID() {
		return span.TraceID().String()
	}
	return ""
}

// Setup starts sending to a collector that speaks OTLP over HTTP, such as
// http://localhost:4318; with "" there is none. A collector that cannot be
// reached is no error: spans are lost and the log says so.
func Setup(ctx context.Context, endpoint, version string, logger *slog.Logger) (*Tracing, error) {
	if endpoint == "" {
		return &Tracing{provider: noop.NewTracerProvider()}, nil
	}
	address, err := url.Parse(endpoint)
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		return nil, errors.New("SEPAD_OTLP_ENDPOINT must be an address such as http://localhost:4318")
	}
	if address.Path == "" || address.Path == "/" {
		address.Path = "/v1/traces"
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(address.String()))
	if err != nil {
		return nil, fmt.Errorf("SEPAD_OTLP_ENDPOINT: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		logger.Warn("traces could not be sent", slog.Any("error", err))
	}))
	return newTracing(sdktrace.WithBatcher(exporter), sdktrace.WithResource(resource.NewSchemaless(
		attribute.String("service.name", "sepad"), attribute.String("service.version", version),
	))), nil
}

func newTracing(options ...sdktrace.TracerProviderOption) *Tracing {
	sdk := sdktrace.NewTracerProvider(options...)
	return &Tracing{provider: sdk, sdk: sdk}
}

// Provider is for libraries that make spans of their own, such as the one
// around the database.
func (t *Tracing) Provider() oteltrace.TracerProvider { return t.provider }

// shutdownPatience is how long a collector may take for what is left: it may take half a minute for every five hundred
// spans, and a process that was told to end has no minutes for it.
const shutdownPatience = 3 * time.Second

// Shutdown sends what is left, to a collector that takes it.
func (t *Tracing) Shutdown(ctx context.Context) error {
	if t.sdk == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, shutdownPatience)
	defer cancel()
	if err := t.sdk.Shutdown(ctx); ctx.Err() == nil {
		return err
	}
	return nil
}
