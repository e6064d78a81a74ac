package dashboard

import (
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

	"sepad/internal/people"
	"sepad/internal/recon"
	"sepad/internal/record"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/web"
)

// exportFormats are the files that a list can be had as.
var exportFormats = []string{"csv", "json"}

// exportRight is the right to take records away, as the admin API's exports have it.
func exportRight() people.Right {
	return people.RightTo(http.MethodGet, "/admin/v1/exports/transactions/")
}

// exportPage is how many records are held at a time.
const exportPage = 500

// export answers with every record of a list, with the columns that are shown: read page
// by page and written as it is read.
func export[T any](d *Dashboard, w http.ResponseWriter, r *http.Request, l list[T], q *listQuery, from source[T], format string) error {
	who, _ := people.Who(r.Context())
	if right := exportRight(); !right.Admits(who) {
		return &web.StatusError{Status: http.StatusForbidden, Detail: right.Refusal(who)}
	}
	deed := store.Deed{Action: "list.export", ObjectType: "list", ObjectID: l.Name, TenantID: q.id("tenant_id"), After: map[string]any{"format": format}}
	if err := d.Store.Note(r.Context(), deed); err != nil {
		return err // nobody takes records away unseen
	}
	file := &web.Download{ResponseWriter: w, Request: r, ContentType: "text/csv; charset=utf-8", Name: l.Name + "_" + q.now.Format(time.DateOnly) + "." + format}
	if format == "json" {
		file.ContentType = "application/json"
	}
	err := writeExport(r, l, q, from, format, file)
	if err != nil && file.HasBegun {
		return errors.Join(http.ErrAbortHandler, err) // half of it is gone already
	}
	return err
}

func writeExport[T any](r *http.Request, l list[T], q *listQuery, from source[T], format string, file *web.Download) error {
	columns, named, paging, written := l.shownColumns(q), namesOf(q.setups), listing.Paging{Limit: exportPage}, 0
	text := beginExport(format, columns)
	for {
		part, err := from.Read(r.Context(), paging)
		if err != nil {
			return err
		}
		for i := range part.Rows {
			if format == "csv" {
				text = appendCSVRow(text, columns, &part.Rows[i], named)
			} else {
				text = appendJSONRow(text, columns, &part.Rows[i], named, written == 0)
			}
			written++
		}
		switch {
		case part.Reached != uuid.Nil:
			paging.Beyond = part.Reached
		case len(part.Rows) == exportPage:
			paging.Beyond = l.ID(&part.Rows[exportPage-1])
		default:
			if format == "json" {
				text = append(text, "\n]\n"...)
			}
			_, err = file.Write(text)
			return err
		}
		if _, err := file.Write(text); err != nil {
			return err
		}
		text = text[:0]
	}
}

func beginExport[T any](format string, columns []column[T]) (text []byte) {
	if format == "json" {
		return []byte("[")
	}
	for i, c := range columns {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, c.Name...)
	}
	return append(text, "\r\n"...)
}

// exported is a value as files have it.
func (c cell) exported() string {
	if !c.At.IsZero() {
		return c.At.UTC().Format("2006-01-02T15:04:05.000000Z")
	}
	return c.Text
}

func appendCSVRow[T any](text []byte, columns []column[T], row *T, named names) []byte {
	for i, c := range columns {
		if i > 0 {
			text = append(text, ',')
		}
		text = recon.AppendCSVText(text, c.Value(row, named).exported())
	}
	return append(text, "\r\n"...)
}

func appendJSONRow[T any](text []byte, columns []column[T], row *T, named names, isFirst bool) []byte {
	if !isFirst {
		text = append(text, ',')
	}
	text = append(text, "\n{"...)
	for i, c := range columns {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(record.AppendJSONText(text, c.Name), ':')
		text = record.AppendJSONText(text, c.Value(row, named).exported())
	}
	return append(text, '}')
}
