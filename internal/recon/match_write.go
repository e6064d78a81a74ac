package recon

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// WriteTable writes a report to be read: the balance first, then what to look at.
func (r *Report) WriteTable(w io.Writer, gateway string) error {
	fmt.Fprintf(w, "%s of %s", strings.ToUpper(string(r.Kind[:1]))+string(r.Kind[1:]), gateway)
	if r.FirstDay != "" {
		fmt.Fprintf(w, ", %s to %s", r.FirstDay, r.LastDay)
	}
	fmt.Fprint(w, "\n\n")
	for _, t := range r.Totals {
		if err := t.writeTable(w); err != nil {
			return err
		}
	}
	if len(r.Totals) == 0 {
		fmt.Fprint(w, "Neither side has anything.\n\n")
	}
	if err := r.writeLists(w); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, r.verdict())
	return err
}

// writeTable writes the balance of a currency; each column adds up to its last
// line.
func (t *Totals) writeTable(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	const none = "-"
	cells := func(a Amount) string { return strconv.Itoa(a.Count) + "\t" + a.Text }
	fmt.Fprintf(table, "%s\tfile\tamount\tours\tamount\t\n", t.Currency)
	fmt.Fprintf(table, "matched\t%s\t%s\t\n", cells(t.Matched), cells(t.Matched))
	fmt.Fprintf(table, "differing\t%s\t%s\t\n", cells(t.DifferingFile), cells(t.DifferingOurs))
	fmt.Fprintf(table, "missing here\t%s\t%s\t%s\t\n", cells(t.MissingHere), none, none)
	fmt.Fprintf(table, "missing there\t%s\t%s\t%s\t\n", none, none, cells(t.MissingThere))
	fmt.Fprintf(table, "total\t%s\t%s\t\n", cells(t.File), cells(t.Ours))
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprint(w, t.balance()+"\n\n")
	return err
}

// balance says in words how the two sides compare.
func (t *Totals) balance() string {
	switch more := t.File.Minor - t.Ours.Minor; {
	case more > 0:
		return "The file has " + more.String() + " " + t.Currency + " more than we have."
	case more < 0:
		return "We have " + (-more).String() + " " + t.Currency + " more than the file has."
	default:
		return "Both sides come to the same amount."
	}
}

// shownInTable is how many records of a list a table shows.
const shownInTable = 50

func (r *Report) writeLists(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(r.Differing) > 0 {
		fmt.Fprintf(table, "Differing\nLINE\tREFERENCE\tFIELD\tOURS\tFILE\t\n")
		for _, d := range r.Differing[:min(len(r.Differing), shownInTable)] {
			for _, f := range d.Differences {
				fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\n", d.Line, d.MerchantTransactionID, f.Field, f.Ours, f.File, mark(d.Applied))
			}
		}
		fmt.Fprintln(table, more(len(r.Differing), r.sum(differingCount)))
	}
	writeOneSided(table, "Missing here: in the file, not in our records", r.MissingHere, r.sum(missingHereCount))
	writeOneSided(table, "Missing there: in our records, not in the file", r.MissingThere, r.sum(missingThereCount))
	if len(r.Unreadable) > 0 {
		fmt.Fprintf(table, "Lines that could not be compared\nLINE\tREASON\n")
		for _, u := range r.Unreadable[:min(len(r.Unreadable), shownInTable)] {
			fmt.Fprintf(table, "%d\t%s\n", u.Line, u.Reason)
		}
		fmt.Fprintln(table, more(len(r.Unreadable), r.UnreadableCount))
	}
	return table.Flush()
}

func writeOneSided(table io.Writer, title string, list []OneSided, count int) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(table, "%s\nLINE\tREFERENCE\tDATE\tTYPE\tSTATUS\tAMOUNT\t\n", title)
	for _, one := range list[:min(len(list), shownInTable)] {
		line := "-"
		if one.Line > 0 {
			line = strconv.Itoa(one.Line)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s %s\t%s\n", line, one.MerchantTransactionID, one.Date, one.Type, one.Status,
			one.Amount, one.Currency, mark(one.Applied))
	}
	fmt.Fprintln(table, more(len(list), count))
}

func mark(applied bool) string {
	if applied {
		return "settled"
	}
	return ""
}

// more tells of what a table leaves out, of so many that are listed and so many that there are.
func more(listed, count int) string {
	which := "all"
	switch {
	case count <= shownInTable:
		return ""
	case listed < count:
		which = "the first " + strconv.Itoa(listed)
	}
	return fmt.Sprintf("and %d more (%s of them in the csv and json formats)\n", count-shownInTable, which)
}

// Open is how many records are still to be looked at by a person, listed or not.
func (r *Report) Open() int {
	return r.sum(differingCount) + r.sum(missingHereCount) + r.sum(missingThereCount) + r.UnreadableCount - r.Applied
}

func differingCount(t Totals) int    { return t.DifferingFile.Count }
func missingHereCount(t Totals) int  { return t.MissingHere.Count }
func missingThereCount(t Totals) int { return t.MissingThere.Count }

// sum counts something in all currencies.
func (r *Report) sum(count func(Totals) int) (all int) {
	for _, t := range r.Totals {
		all += count(t)
	}
	return all
}

// verdict is the one line that somebody in a hurry reads.
func (r *Report) verdict() string {
	open := r.Open()
	switch {
	case open == 0 && r.Applied == 0:
		return "Both sides agree."
	case open == 0:
		return "Settled by the file: " + records(r.Applied) + ". Both sides agree now."
	case r.Applied > 0:
		return "Settled by the file: " + records(r.Applied) + ". To be looked at: " + records(open) + "."
	default:
		return "To be looked at: " + records(open) + "."
	}
}

func records(n int) string {
	if n == 1 {
		return "1 record"
	}
	return strconv.Itoa(n) + " records"
}

// reportColumns are those of a report's CSV.
var reportColumns = []string{
	"result", "line", "merchant_transaction_id", "date", "type", "status", "amount", "currency", "field", "ours", "file", "reason", "applied",
}

// WriteCSV writes one line for each thing that is not matched, and for each field
// in which a record differs.
func (r *Report) WriteCSV(w io.Writer) error {
	out := newOutput(w)
	defer out.release()
	out.row(reportColumns...)
	for _, d := range r.Differing {
		for _, f := range d.Differences {
			out.row("differing", number(d.Line), d.MerchantTransactionID, "", "", "", "", "", f.Field, f.Ours, f.File, "",
				strconv.FormatBool(d.Applied))
		}
	}
	for _, one := range r.MissingHere {
		out.oneSided("missing_here", one)
	}
	for _, one := range r.MissingThere {
		out.oneSided("missing_there", one)
	}
	for _, u := range r.Unreadable {
		out.row("unreadable", number(u.Line), "", "", "", "", "", "", "", "", "", u.Reason, "")
	}
	out.flush()
	return out.err
}

func (o *output) oneSided(result string, one OneSided) {
	o.row(result, number(one.Line), one.MerchantTransactionID, one.Date, one.Type, one.Status, one.Amount, one.Currency,
		"", "", "", "", strconv.FormatBool(one.Applied))
}

func (o *output) row(cells ...string) {
	for i, cell := range cells {
		if i > 0 {
			o.text = append(o.text, ',')
		}
		o.text = appendCellText(o.text, cell)
	}
	o.text = append(o.text, lineEnd...)
	o.pass()
}

func number(line int) string {
	if line == 0 {
		return ""
	}
	return strconv.Itoa(line)
}
