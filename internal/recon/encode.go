package recon

import (
	"io"
	"sync"
	"unicode/utf8"

	"sepad/internal/record"
)

// ContentType is the media type of a format.
func (f Format) ContentType() string {
	switch f {
	case XML:
		return "application/xml; charset=utf-8"
	case CSV:
		return "text/csv; charset=utf-8"
	default:
		return "application/json"
	}
}

// Write writes a page. The error is the writer's.
func (l *Listing[T]) Write(w io.Writer, f Format, page Page[T]) error {
	out := newOutput(w)
	defer out.release()
	switch f {
	case XML:
		writeXML(out, l, page)
	case CSV:
		writeCSV(out, l, page)
	default:
		writeJSON(out, l, page)
	}
	out.flush()
	return out.err
}

// output gathers text and hands it on piece by piece. Encoders append to text
// and call pass after each record.
type output struct {
	text []byte
	to   io.Writer
	err  error
}

// A piece is some sixty records: large enough that writing it is not what costs
// time, small enough to stay in the processor's cache.
const (
	pieceSize = 64 << 10
	pieceRoom = 8 << 10
)

var outputs = sync.Pool{New: func() any { return &output{text: make([]byte, 0, pieceSize+pieceRoom)} }}

func newOutput(to io.Writer) *output {
	out := outputs.Get().(*output)
	out.text, out.to, out.err = out.text[:0], to, nil
	return out
}

func (o *output) release() {
	o.to = nil
	outputs.Put(o)
}

// pass hands on a full piece, and tells whether there is still a reader.
func (o *output) pass() bool {
	if len(o.text) >= pieceSize {
		o.flush()
	}
	return o.err == nil
}

func (o *output) flush() {
	if o.err == nil && len(o.text) > 0 {
		_, o.err = o.to.Write(o.text)
	}
	o.text = o.text[:0]
}

// letters marks bytes that a format has to look at more closely. Nearly all texts
// have none of them, and one look at each byte shows it.
type letters [256]bool

// markLetters marks the given bytes and all that are not ASCII.
func markLetters(special string) (marked letters) {
	for i := range special {
		marked[special[i]] = true
	}
	for i := utf8.RuneSelf; i < len(marked); i++ {
		marked[i] = true
	}
	return marked
}

func (l *letters) in(text string) bool {
	for i := range len(text) {
		if l[text[i]] {
			return true
		}
	}
	return false
}

// names are the columns' names with something around each, made once.
func names[T any](columns record.Columns[T], before, after string) []string {
	all := make([]string, len(columns))
	for i, column := range columns {
		all[i] = before + column.Name + after
	}
	return all
}
