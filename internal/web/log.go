package web

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/google/uuid"

	"sepad/internal/trace"
)

// NewLogger writes "text" or "json"; "" is text on a terminal and JSON
// elsewhere. Every line written within a request carries the request's id, and that
// of its trace where there is one.
func NewLogger(format string, w io.Writer) (*slog.Logger, error) {
	if format == "" {
		format = "json"
		if isTerminal(w) {
			format = "text"
		}
	}
	switch format {
	case "text":
		return slog.New(requestHandler{slog.NewTextHandler(w, nil)}), nil
	case "json":
		return slog.New(requestHandler{newLineHandler(w)}), nil
	default:
		return nil, fmt.Errorf("SEPAD_LOG_FORMAT must be text or json, not %q", format)
	}
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	about, err := file.Stat()
	return err == nil && about.Mode()&os.ModeCharDevice != 0
}

// requestHandler adds the request's id to whatever is logged on its behalf,
// also deep below the handlers, which know nothing of HTTP.
type requestHandler struct{ slog.Handler }

func (h requestHandler) Handle(ctx context.Context, line slog.Record) error {
	var room [2]slog.Attr
	line.AddAttrs(appendRequest(room[:0], ctx)...)
	return h.Handler.Handle(ctx, line)
}

// appendRequest adds what every line within a request has.
func appendRequest(attrs []slog.Attr, ctx context.Context) []slog.Attr {
	if id := RequestID(ctx); id != "" {
		attrs = append(attrs, slog.String("request_id", id))
	}
	if id := traceID(ctx); id != "" {
		attrs = append(attrs, slog.String("trace_id", id))
	}
	return attrs
}

// traceID is that of the span around the work, or the one of the request after its end.
func traceID(ctx context.Context) string {
	if id := trace.ID(ctx); id != "" {
		return id
	}
	if i := infoOf(ctx); i != nil {
		return i.trace
	}
	return ""
}

func (h requestHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestHandler{h.Handler.WithAttrs(attrs)}
}

func (h requestHandler) WithGroup(name string) slog.Handler {
	return requestHandler{h.Handler.WithGroup(name)}
}

// logAccess writes the line that every request leaves: its route, never its
// path, which holds a credential.
func logAccess(r *http.Request, known *info, status int, ended time.Time, took time.Duration) {
	level := slog.LevelInfo
	if known.quiet {
		level = slog.LevelDebug
	}
	if !known.logger.Enabled(r.Context(), level) {
		return
	}
	attrs := make([]slog.Attr, 0, 11)
	attrs = append(attrs, slog.String("method", knownMethod(r.Method)), slog.String("route", known.route),
		slog.Int("status", status), slog.Float64("duration_ms", milliseconds(took)), slog.String("client_ip", addressText(known.clientIP)))
	if known.session != "" {
		attrs = append(attrs, slog.String("session", known.session))
	}
	if known.caller.Actor != "" {
		attrs = append(attrs, slog.String("actor", known.caller.Actor))
	}
	if known.caller.KeyID != uuid.Nil {
		attrs = append(attrs, slog.String("tenant_id", known.caller.TenantID.String()), slog.String("key_id", known.caller.KeyID.String()))
	}
	// Without the place in the program that logs: it costs time to find, and nobody is shown it.
	line := slog.NewRecord(ended.Local(), level, "request", 0) // in the zone of all other lines
	line.AddAttrs(appendRequest(attrs, r.Context())...)
	_ = writeAccess(r.Context(), known.logger.Handler(), line) // nobody could be told
}

// writeAccess hands a line with all its attributes on, to wait for others of its kind where that is known.
func writeAccess(ctx context.Context, handler slog.Handler, line slog.Record) error {
	if named, isOurs := handler.(requestHandler); isOurs {
		handler = named.Handler
	}
	if lines, areOurs := handler.(lineHandler); areOurs {
		return lines.gather(ctx, line)
	}
	return handler.Handle(ctx, line)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// knownMethod keeps a stranger's text out of the log.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete, http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return method
	default:
		return "other"
	}
}
