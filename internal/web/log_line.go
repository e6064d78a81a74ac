package web

import (
	"context"
	"io"
	"log/slog"
	"math"
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
	return lineHandler{slog.NewJSONHandler(out, nil), out}
}

// lineRooms are where lines are put together.
var lineRooms = sync.Pool{New: func() any {
	const room = 512
	text := make([]byte, 0, room)
	return &text
}}

func (h lineHandler) Handle(ctx context.Context, line slog.Record) error {
	room := lineRooms.Get().(*[]byte)
	defer lineRooms.Put(room)
	text, plain := appendLine((*room)[:0], line)
	if !plain {
		return h.Handler.Handle(ctx, line)
	}
	_, err := h.out.Write(text)
	return err
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
	mu sync.Mutex
	to io.Writer
}

func (w *inTurn) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(line)
}
