package web

import (
	"bytes"
	"errors"
	"log/slog"
	"math"
	"sync"
	"testing"
	"time"
)

// TestLinesAreThoseOfSlog holds our lines against slog's, which wrote them all before.
func TestLinesAreThoseOfSlog(t *testing.T) {
	t.Parallel()
	values := []slog.Value{
		slog.StringValue(""), slog.StringValue("/api/v1/sessions/{token}"), slog.StringValue("a \"b\" \\ <c> & 'd'"), slog.StringValue("Łódź\u2028"),
		slog.StringValue("a\nb\x00\x1f\x7f"), slog.StringValue("\xff"), slog.IntValue(0), slog.IntValue(-12), slog.Int64Value(math.MaxInt64),
		slog.Float64Value(0), slog.Float64Value(math.Copysign(0, -1)), slog.Float64Value(0.001), slog.Float64Value(1234.567), slog.Float64Value(1e-7),
		slog.Float64Value(1e21), slog.Float64Value(-3), slog.Float64Value(math.NaN()), slog.Float64Value(math.Inf(1)), slog.BoolValue(true),
		slog.DurationValue(time.Second), slog.TimeValue(time.Unix(1, 2)), slog.Uint64Value(7), slog.AnyValue(errors.New("none")), slog.AnyValue(nil),
		slog.GroupValue(slog.Int("b", 1)), slog.GroupValue(),
	}
	instants := []time.Time{{}, time.Date(2026, 2, 28, 23, 59, 59, 123456000, time.UTC), time.Date(2026, 7, 1, 0, 0, 0, 0, time.FixedZone("", 7200))}
	for _, key := range []string{"a", "", "ä", `"`} {
		for _, value := range values {
			for _, at := range instants {
				for _, message := range []string{"request", "said \"no\""} {
					line := slog.NewRecord(at, slog.LevelWarn+1, message, 0)
					line.AddAttrs(slog.String("first", "x"), slog.Attr{Key: key, Value: value}, slog.Int("last", 3))
					var ours, theirs bytes.Buffer
					if err := errors.Join(newLineHandler(&ours).Handle(t.Context(), line), slog.NewJSONHandler(&theirs, nil).Handle(t.Context(), line)); err != nil {
						t.Fatal(err)
					}
					if ours.String() != theirs.String() {
						t.Errorf("we write %s, slog %s", &ours, &theirs)
					}
				}
			}
		}
	}
}

func TestSharedAttributesAreWritten(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	logger := slog.New(newLineHandler(&log))
	logger.With("a", 1).WithGroup("g").Info("x", "b", 2)
	if !bytes.Contains(log.Bytes(), []byte(`"a":1,"g":{"b":2}`)) {
		t.Errorf("log %s", &log)
	}
}

// TestLinesDoNotMix has both kinds of lines written by many at once.
func TestLinesDoNotMix(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	logger := slog.New(newLineHandler(&log))
	var writers sync.WaitGroup
	const count = 50
	for range count {
		writers.Go(func() { logger.Info("plain", "a", 1) })
		writers.Go(func() { logger.Info("not plain", "a", errors.New("x")) })
	}
	writers.Wait()
	lines := bytes.Split(bytes.TrimSpace(log.Bytes()), []byte("\n"))
	if len(lines) != 2*count {
		t.Fatalf("%d lines", len(lines))
	}
	for _, line := range lines {
		if !bytes.HasPrefix(line, []byte(`{"time":`)) || !bytes.HasSuffix(line, []byte(`}`)) {
			t.Errorf("a line is %s", line)
		}
	}
}

// BenchmarkAccessLine is what every request pays for its line, without the write itself.
func BenchmarkAccessLine(b *testing.B) {
	for name, handler := range map[string]slog.Handler{"ours": newLineHandler(discard{}), "slog": slog.NewJSONHandler(discard{}, nil)} {
		b.Run(name, func(b *testing.B) {
			logger := slog.New(handler)
			for b.Loop() {
				logger.LogAttrs(b.Context(), slog.LevelInfo, "request", slog.String("method", "GET"), slog.String("route", "/api/v1/sessions/{token}"),
					slog.Int("status", 200), slog.Float64("duration_ms", 1.234), slog.String("client_ip", "127.0.0.1"))
			}
		})
	}
}

// discard is a writer that slog does not recognize as one that keeps nothing.
type discard struct{}

func (discard) Write(text []byte) (int, error) { return len(text), nil }
