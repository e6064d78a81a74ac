package recon

import (
	"context"
	"io"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
)

// ExportType is the media type of an export. JSON has an object on each line, because no
// reader should have to hold all of them.
func ExportType(f Format) string {
	if f == JSON {
		return "application/x-ndjson"
	}
	return f.ContentType()
}

// ExportEnding is how the name of a file ends.
func ExportEnding(f Format) string {
	if f == JSON {
		return "ndjson"
	}
	return string(f)
}

// Export writes every record from the first day to the last, the newest first, and holds
// one page of them at a time. A page goes on where the one before ended, so that records
// which are added meanwhile are neither repeated nor make others be left out.
func (l *Listing[T]) Export(ctx context.Context, t store.Tenant, first, last payment.Date, f Format, w io.Writer) error {
	window := listing.Window{From: first.Start(), Before: last.AddDays(1).Start(), Limit: maxPageSize}
	out := newOutput(w)
	defer out.release()
	write := l.beginExport(f, out)
	for {
		page, err := l.read(ctx, t, window, Filters{})
		if err != nil {
			return err
		}
		for i := range page.Rows {
			out.text = write(out.text, &page.Rows[i])
			if !out.pass() {
				return out.err
			}
		}
		if !page.More {
			page.Release()
			if f == XML {
				endXML(out)
			}
			out.flush()
			return out.err
		}
		end := l.position(&page.Rows[len(page.Rows)-1])
		window.Beyond = &end
		page.Release()
	}
}

// beginExport writes what stands before the records, and gives what writes one.
func (l *Listing[T]) beginExport(f Format, out *output) func([]byte, *T) []byte {
	switch f {
	case XML:
		beginXML(out, "", "") // there are no neighbouring pages
		tags := tagsOf(l)
		return tags.append
	case CSV:
		writeCSVNames(out, l)
		return func(dst []byte, row *T) []byte { return appendCSVRecord(dst, l.Columns, row) }
	default:
		return func(dst []byte, row *T) []byte { return append(l.Columns.AppendJSON(dst, row), '\n') }
	}
}
