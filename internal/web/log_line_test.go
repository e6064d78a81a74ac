package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
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

// pieces are what a file was given, write by write.
type pieces struct {
	mu      sync.Mutex
	written [][]byte
	each    chan struct{}
}

func (p *pieces) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.written = append(p.written, bytes.Clone(text))
	p.each <- struct{}{}
	return len(text), nil
}

func requestLine(at time.Time, attrs ...slog.Attr) slog.Record {
	line := slog.NewRecord(at, slog.LevelInfo, "request", 0)
	line.AddAttrs(attrs...)
	return line
}

// TestALineOfARequestIsNotKept has one come alone, and nobody after it.
func TestALineOfARequestIsNotKept(t *testing.T) {
	t.Parallel()
	file := &pieces{each: make(chan struct{}, 1)}
	lines := lineHandler{nil, &inTurn{to: file, gathers: true}}
	for i := range 3 {
		if err := lines.gather(t.Context(), requestLine(time.Unix(1, 0).UTC(), slog.Int("number", i))); err != nil {
			t.Fatal(err)
		}
		<-file.each
		want := fmt.Sprintf("{\"time\":\"1970-01-01T00:00:01Z\",\"level\":\"INFO\",\"msg\":\"request\",\"number\":%d}\n", i)
		if len(file.written) != i+1 || string(file.written[i]) != want {
			t.Fatalf("written are %q, not %q at last", file.written, want)
		}
	}
}

// TestLinesWaitForWhoFetchesThem fills a piece, and has another line come before it is fetched.
func TestLinesWaitForWhoFetchesThem(t *testing.T) {
	t.Parallel()
	const inOnePiece = 4
	file := &pieces{each: make(chan struct{}, 3)}
	out := &inTurn{to: file, gathers: true, isFetched: true}
	line := append(bytes.Repeat([]byte("x"), mostGathered/inOnePiece-1), '\n')
	for range inOnePiece + 1 {
		if err := out.gather(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.put([]byte("at once\n")); err != nil {
		t.Fatal(err)
	}
	want := [][]byte{bytes.Repeat(line, inOnePiece), line, []byte("at once\n")}
	if !slices.EqualFunc(file.written, want, bytes.Equal) {
		t.Errorf("written are %q", file.written)
	}
}

// TestLinesOfRequestsAreWhole has many come at once, with others between: none is lost or cut, each caller's come
// in their order, and none is written after what the same caller had to say later.
func TestLinesOfRequestsAreWhole(t *testing.T) {
	t.Parallel()
	const callers, each = 20, 100
	file := &pieces{each: make(chan struct{}, 2*callers*each)}
	out := &inTurn{to: file, gathers: true}
	lines := lineHandler{slog.NewJSONHandler(out, nil), out}
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			for number := range each {
				route := slog.String("route", []string{"/plain", "/with a \"mark\""}[number*caller%2])
				_ = lines.gather(t.Context(), requestLine(time.Now(), slog.Int("caller", caller), slog.Int("number", number), route))
			}
			slog.New(lines).Warn("the last", "caller", caller, "number", each, "error", errors.New("not plain"))
		})
	}
	all.Wait()
	next := make([]int, callers)
	for _, piece := range file.written {
		if len(piece) > mostGathered || !bytes.HasSuffix(piece, []byte("}\n")) {
			t.Fatalf("%d bytes at once, ending with %q", len(piece), piece[max(0, len(piece)-20):])
		}
		for line := range bytes.Lines(piece) {
			var told struct{ Caller, Number int }
			if err := json.Unmarshal(line, &told); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			if told.Number != next[told.Caller] {
				t.Fatalf("line %d of a caller comes where %d should", told.Number, next[told.Caller])
			}
			next[told.Caller]++
		}
	}
	for caller, number := range next {
		if number != each+1 {
			t.Errorf("of caller %d are %d lines", caller, number)
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
