package web

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"sepad/internal/clock"
)

// Download is an answer that becomes a file with its first byte: until then it can still
// be a refusal. It lasts as long as it takes, if only its reader goes on: what bounds an
// ordinary answer would cut a large one off.
type Download struct {
	http.ResponseWriter
	// Request is what it answers: whoever may no longer read gets no more of it. Nil where nobody vouched for anybody.
	Request           *http.Request
	Name, ContentType string
	HasBegun          bool
}

const (
	// pieceOfDownload is what a reader has piecePatience for.
	pieceOfDownload = 64 << 10
	piecePatience   = time.Minute
)

// errNotTaken tells that the reader of a download has left, or stands still.
var errNotTaken = errors.New("web: nobody takes the file")

func (d *Download) Write(text []byte) (written int, err error) {
	if !d.HasBegun {
		d.HasBegun = true
		d.Header().Set("Content-Type", d.ContentType)
		d.Header().Set("Content-Disposition", `attachment; filename="`+d.Name+`"`)
		d.Header().Set("Cache-Control", "no-store")
	}
	for piece := range slices.Chunk(text, pieceOfDownload) {
		if err := d.ask(); err != nil {
			return written, err
		}
		if err := d.grant(); err != nil {
			return written, err
		}
		n, err := d.ResponseWriter.Write(piece)
		written += n
		if err != nil {
			return written, fmt.Errorf("%w: %w", errNotTaken, err)
		}
	}
	return written, d.grant() // should this be the last piece, its end is still to be sent
}

// ask tells whether the reader still may read, every second.
func (d *Download) ask() error {
	if d.Request == nil {
		return nil
	}
	if v := voucherOf(d.Request.Context()); v.isStale() {
		return v.ask()
	}
	return nil
}

// grant gives the reader time for a piece. Where a command writes to a file there is no need of it.
func (d *Download) grant() error {
	err := http.NewResponseController(d.ResponseWriter).SetWriteDeadline(clock.Real{}.Now().Add(piecePatience))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("%w: %w", errNotTaken, err)
	}
	return nil
}
