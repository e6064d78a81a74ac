package web

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// lineHandler writes lines of JSON as slog's own handler does, byte for byte, and plain ones in
// half of its time: every request leaves such a line. What is not plain is left to slog, and so
// is every line of a logger whose lines share attributes or a group.
type lineHandler struct {
	slog.Handler
	out *inTurn
}

func newLineHandler(w io.Writer) lineHandler {
	out := &inTurn{to: w}
	_, out.gathers = w.(*os.File)
	return lineHandler{slog.NewJSONHandler(out, nil), out}
}

// lineRooms are where lines are put together.
var lineRooms = sync.Pool{New: func() any {
	const room = 512
	text := make([]byte, 0, room)
	return &text
}}

func (h lineHandler) Handle(ctx context.Context, line slog.Record) error {
	return h.put(ctx, line, h.out.put)
}

// gather writes the line of a request, which may wait for others of its kind.
func (h lineHandler) gather(ctx context.Context, line slog.Record) error {
	return h.put(ctx, line, h.out.gather)
}

func (h lineHandler) put(ctx context.Context, line slog.Record, put func([]byte) error) error {
	room := lineRooms.Get().(*[]byte)
	defer lineRooms.Put(room)
	text, plain := appendLine((*room)[:0], line)
	if !plain {
		return h.Handler.Handle(ctx, line)
	}
	return put(text)
}

// appendLine writes a line, or says that it is not plain.
func appendLine(dst []byte, line slog.Record) (text []byte, plain bool) {
	if line.Time.IsZero() || !isPlain(line.Message) {
		return nil, false
	}
	dst = line.Time.AppendFormat(append(dst, `{"time":"`...), time.RFC3339Nano)
	dst = append(append(dst, `","level":"`...), line.Level.String()...)
	dst = append(append(dst, `","msg":"`...), line.Message...)
	dst = append(dst, '"')
	plain = true
	line.Attrs(func(a slog.Attr) bool {
		if plain = isPlain(a.Key) && a.Key != ""; plain {
			dst = append(append(append(dst, ',', '"'), a.Key...), '"', ':')
			dst, plain = appendPlain(dst, a.Value)
		}
		return plain
	})
	return append(dst, '}', '\n'), plain
}

func appendPlain(dst []byte, value slog.Value) (text []byte, plain bool) {
	switch value.Kind() {
	case slog.KindString:
		s := value.String()
		return append(append(append(dst, '"'), s...), '"'), isPlain(s)
	case slog.KindInt64:
		return strconv.AppendInt(dst, value.Int64(), 10), true
	case slog.KindFloat64:
		number := value.Float64()
		return strconv.AppendFloat(dst, number, 'f', -1, 64), isEveryday(number)
	default:
		return dst, false
	}
}

// isEveryday tells whether JSON writes a number without an exponent.
func isEveryday(number float64) bool {
	const small, large = 1e-6, 1e21
	return number == 0 && !math.Signbit(number) || math.Abs(number) >= small && math.Abs(number) < large
}

// isPlain tells whether a text is JSON as it stands.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c > '~' {
			return false
		}
	}
	return true
}

// inTurn lets one line after the other through: slog's own and ours.
type inTurn struct {
	to io.Writer
	// gathers tells that lines may wait for others: whoever reads a file does not see that, and a test that
	// reads what it has had written would.
	gathers bool

	mu      sync.Mutex
	waiting []byte
	// isFetched tells that somebody is on the way for what waits.
	isFetched bool
}

// Write writes a line of slog's own at once.
func (w *inTurn) Write(line []byte) (int, error) { return len(line), w.put(line) }

// put writes a line at once, after those that wait.
func (w *inTurn) put(line []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Join(w.flush(), w.write(line))
}

// gather has a line written with those of the requests that end in the same instant: nobody waits for them, and who is
// alone is written at once. A busy process so pays for one call of the system instead of several, and what dies with
// a process that is killed is the lines of that instant.
func (w *inTurn) gather(line []byte) error {
	if !w.gathers {
		return w.put(line)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting)+len(line) > mostGathered {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.waiting = append(w.waiting, line...)
	if !w.isFetched {
		w.isFetched = true
		go w.fetch()
	}
	return nil
}

// mostGathered is what a pipe takes in one piece, so that lines of several processes do not mix.
const mostGathered = 4096

// fetch lets those go first who are about to end.
func (w *inTurn) fetch() {
	runtime.Gosched()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isFetched = false
	_ = w.flush() // nobody could be told
}

func (w *inTurn) flush() error {
	if len(w.waiting) == 0 {
		return nil
	}
	text := w.waiting
	w.waiting = w.waiting[:0]
	return w.write(text)
}

func (w *inTurn) write(text []byte) error {
	_, err := w.to.Write(text)
	return err
}
