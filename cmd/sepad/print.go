package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"sepad/internal/record"
)

// outputFlag lets a command answer programs: the same words as the operator's API
// has for it.
type outputFlag struct {
	JSON bool `name:"json" help:"As JSON, like the admin API."`
}

// tell ends a command with what it did: the value for programs, the sentence for
// people.
func (f outputFlag) tell(p *program, value any, sentence string, args ...any) error {
	if f.JSON {
		return p.printJSON(value)
	}
	_, err := fmt.Fprintf(p.stdout, sentence+"\n", args...)
	return err
}

func (p *program) printJSON(value any) error {
	encoder := json.NewEncoder(p.stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// printTable writes rows of cells under their headings.
func (p *program) printTable(headings []string, rows [][]string) error {
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{headings}, rows...) {
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	return table.Flush()
}

// recordPrinter writes records of the operator's API one after the other, as an array
// or as a table of some of their fields.
type recordPrinter struct {
	out   io.Writer
	json  bool
	paths []string
	table *tabwriter.Writer
	count int
}

// flushAfter is how many lines of a table are held to align them with each other.
const flushAfter = 1000

// newRecordPrinter takes the fields of a table by their names, those inside of an
// object after a dot, and those that share a column around a plus:
// "id amount+currency order.order_number".
func (p *program) newRecordPrinter(asJSON bool, columns string) *recordPrinter {
	return &recordPrinter{
		out: p.stdout, json: asJSON, paths: strings.Fields(columns), table: tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0),
	}
}

func (r *recordPrinter) add(raw json.RawMessage) error {
	r.count++
	if r.json {
		before := "[\n  "
		if r.count > 1 {
			before = ",\n  "
		}
		var text bytes.Buffer
		if err := json.Indent(&text, raw, "  ", "  "); err != nil {
			return err
		}
		_, err := fmt.Fprintf(r.out, "%s%s", before, text.Bytes())
		return err
	}
	fields, err := decodeRecord(raw)
	if err != nil {
		return err
	}
	if r.count == 1 {
		r.head()
	}
	cells := make([]string, len(r.paths))
	for i, path := range r.paths {
		var parts []string
		for part := range strings.SplitSeq(path, "+") {
			parts = append(parts, cellText(part, record.At(fields, part)))
		}
		cells[i] = strings.Join(parts, " ")
	}
	fmt.Fprintln(r.table, strings.Join(cells, "\t"))
	if r.count%flushAfter == 0 {
		return r.table.Flush()
	}
	return nil
}

func (r *recordPrinter) head() {
	headings := make([]string, len(r.paths))
	for i, path := range r.paths {
		name, _, _ := strings.Cut(path, "+")
		if outer, inner, isInside := strings.Cut(name, "."); isInside && strings.HasPrefix(inner, outer) {
			name = inner
		}
		headings[i] = strings.ToUpper(strings.NewReplacer("_", " ", ".", " ").Replace(name))
	}
	fmt.Fprintln(r.table, strings.Join(headings, "\t"))
}

func (r *recordPrinter) end() error {
	if !r.json {
		return r.table.Flush()
	}
	text := "\n]\n"
	if r.count == 0 {
		text = "[]\n"
	}
	_, err := io.WriteString(r.out, text)
	return err
}

// decodeRecord reads an object; numbers stay the text that was written.
func decodeRecord(record json.RawMessage) (fields map[string]any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(record))
	decoder.UseNumber()
	return fields, decoder.Decode(&fields)
}

// cellText is a value on one line: an instant to the minute, a list by its entries, or
// their number where they are objects.
func cellText(path string, value any) string {
	switch v := value.(type) {
	case nil:
		return "-"
	case string:
		if at, err := time.Parse(time.RFC3339Nano, v); err == nil && !strings.HasSuffix(path, "_id") {
			return day(at)
		}
		return orDash(strings.Join(strings.Fields(v), " "))
	case []any:
		texts := make([]string, len(v))
		for i, entry := range v {
			if _, isObject := entry.(map[string]any); isObject {
				return fmt.Sprint(len(v))
			}
			texts[i] = fmt.Sprint(entry)
		}
		return orDash(strings.Join(texts, ","))
	default:
		return fmt.Sprint(v)
	}
}

// printRecord writes one object, a field on each line.
func (p *program) printRecord(record json.RawMessage) error {
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	if err := writeFields(table, "", record); err != nil {
		return err
	}
	return table.Flush()
}

// writeFields keeps the order in which the API has them.
func writeFields(out io.Writer, before string, record json.RawMessage) error {
	decoder := json.NewDecoder(bytes.NewReader(record))
	if _, err := decoder.Token(); err != nil {
		return err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		var text json.RawMessage
		if err := decoder.Decode(&text); err != nil {
			return err
		}
		path := before + fmt.Sprint(name)
		switch text[0] {
		case '{':
			if err := writeFields(out, path+".", text); err != nil {
				return err
			}
		case '"', 'n':
			var value any
			if err := json.Unmarshal(text, &value); err != nil {
				return err
			}
			fmt.Fprintf(out, "%s\t%s\n", path, cellText(path, value))
		default:
			fmt.Fprintf(out, "%s\t%s\n", path, text)
		}
	}
	return nil
}
