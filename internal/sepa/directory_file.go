package sepa

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A directory file is text that a person can read, compare and mend:
//
//	sepad bank directory 1
//	date	2026-09-07
//	source	bankdata-germany	2.2602.0	DE
//
//	DE	37040044	COBADEFFXXX	Commerzbank
//
// The columns are separated by tabs: country, bank code, BIC, name. Rows are in order, no bank code comes twice.
const directoryTitle = "sepad bank directory 1"

const maxBankNameLength = 200

type bankRow struct {
	country, code string
	bank          Bank
}

// DirectoryError tells which line of a directory file cannot be read, and why.
type DirectoryError struct {
	File    string
	Line    int
	Problem string
}

func (e *DirectoryError) Error() string {
	return fmt.Sprintf("%s, line %d: %s", e.File, e.Line, e.Problem)
}

// directoryReader walks a file line by line and remembers where it is, for the error.
type directoryReader struct {
	directory *Directory
	offset    int
	line      int
}

func parseDirectory(file, text string) (*Directory, error) {
	reader := &directoryReader{directory: &Directory{text: text}}
	if err := reader.read(); err != nil {
		return nil, &DirectoryError{File: file, Line: reader.line, Problem: err.Error()}
	}
	return reader.directory, nil
}

// next gives the next line without its end, and false at the end of the file. A last line without an end is given too.
func (r *directoryReader) next() (string, bool) {
	rest := r.directory.text[r.offset:]
	if rest == "" {
		return "", false
	}
	line, _, ended := strings.Cut(rest, "\n")
	r.offset += len(line)
	if ended {
		r.offset++
	}
	r.line++
	return line, true
}

func (r *directoryReader) read() error {
	if title, _ := r.next(); title != directoryTitle {
		r.line = 1
		return fmt.Errorf("the file does not begin with %q", directoryTitle)
	}
	if err := r.readHeader(); err != nil {
		return err
	}
	rows := strings.Count(r.directory.text[r.offset:], "\n")
	r.directory.keys = make([]uint64, 0, rows)
	r.directory.rows = make([]uint32, 0, rows)
	for {
		start := r.offset
		line, more := r.next()
		if !more {
			break
		}
		if err := r.readRow(line, start); err != nil {
			return err
		}
	}
	if len(r.directory.keys) == 0 {
		return errors.New("the directory has no banks")
	}
	return nil
}

func (r *directoryReader) readHeader() error {
	for {
		line, more := r.next()
		if !more {
			return errors.New("the file ends before its first bank")
		}
		if line == "" {
			break
		}
		if err := r.readHeaderLine(line); err != nil {
			return err
		}
	}
	if r.directory.date.IsZero() {
		return errors.New("the header has no date")
	}
	return nil
}

func (r *directoryReader) readHeaderLine(line string) error {
	columns := strings.Split(line, "\t")
	switch {
	case columns[0] == "date" && len(columns) == 2:
		date, err := time.Parse(time.DateOnly, columns[1])
		if err != nil {
			return errors.New("the date is not of the form YYYY-MM-DD")
		}
		r.directory.date = date
	case columns[0] == "source" && len(columns) == 4:
		source := Source{Name: columns[1], Version: columns[2], Countries: strings.Fields(columns[3])}
		r.directory.sources = append(r.directory.sources, source)
	default:
		return errors.New(`a header line is "date" with one column or "source" with three, and an empty line ends the header`)
	}
	return nil
}

func (r *directoryReader) readRow(line string, start int) error {
	row, err := parseRow(line)
	if err != nil {
		return err
	}
	key := packKey(row.country[0], row.country[1], []byte(row.code))
	if last := len(r.directory.keys) - 1; last >= 0 && key <= r.directory.keys[last] {
		if key == r.directory.keys[last] {
			return errors.New("the bank code comes twice")
		}
		return errors.New("the row is not in order of country and bank code")
	}
	r.directory.keys = append(r.directory.keys, key)
	r.directory.rows = append(r.directory.rows, uint32(start+len(row.country)+len(row.code)+2))
	return nil
}

func parseRow(line string) (row bankRow, err error) {
	country, rest, _ := strings.Cut(line, "\t")
	code, rest, _ := strings.Cut(rest, "\t")
	bic, name, complete := strings.Cut(rest, "\t")
	if !complete || strings.Contains(name, "\t") {
		return row, errors.New("a row has four columns: country, bank code, BIC, name")
	}
	if err := checkBankCode(country, code); err != nil {
		return row, err
	}
	if bic != "" && !ValidBIC(bic) {
		return row, errors.New("the BIC is malformed")
	}
	if bic == "" && name == "" {
		return row, errors.New("the row has neither BIC nor name")
	}
	if err := checkBankName(name); err != nil {
		return row, err
	}
	return bankRow{country: country, code: code, bank: Bank{Name: name, BIC: bic}}, nil
}

// checkBankCode compares a bank code with the place that it takes in the country's IBANs.
func checkBankCode(country, code string) error {
	var layout *ibanLayout
	if len(country) == 2 {
		layout = layoutFor(country[0], country[1])
	}
	if layout == nil {
		return errors.New("no IBAN starts with the country code of the row")
	}
	places := layout.allowed[4+layout.country.bankFrom : 4+layout.country.bankTo]
	if len(code) != len(places) {
		return fmt.Errorf("a bank code of %s has %d characters, not %d", country, len(places), len(code))
	}
	for i, allowed := range places {
		if characterClass[code[i]]&allowed == 0 {
			return fmt.Errorf("the bank code has a character that %s does not use there", country)
		}
	}
	return nil
}

func checkBankName(name string) error {
	if len(name) > maxBankNameLength {
		return fmt.Errorf("the name has more than %d bytes", maxBankNameLength)
	}
	for i := range len(name) {
		if name[i] < ' ' || name[i] >= utf8.RuneSelf {
			return checkUnicodeName(name)
		}
	}
	return nil
}

func checkUnicodeName(name string) error {
	if !utf8.ValidString(name) {
		return errors.New("the name is not UTF-8")
	}
	if strings.ContainsFunc(name, unicode.IsControl) {
		return errors.New("the name has a control character")
	}
	return nil
}

// each walks the rows in order. The text has been checked when the directory was read.
func (d *Directory) each(visit func(bankRow)) {
	_, rows, _ := strings.Cut(d.text, "\n\n")
	for line := range strings.Lines(rows) {
		country, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		code, rest, _ := strings.Cut(rest, "\t")
		bic, name, _ := strings.Cut(rest, "\t")
		visit(bankRow{country: country, code: code, bank: Bank{Name: name, BIC: bic}})
	}
}

// composeDirectory writes rows and header into a text and reads it back, so that nothing is ever written that cannot be read.
func composeDirectory(date time.Time, sources []Source, rows []bankRow) (*Directory, error) {
	slices.SortFunc(rows, func(a, b bankRow) int {
		return strings.Compare(a.country+a.code, b.country+b.code)
	})
	var text strings.Builder
	fmt.Fprintf(&text, "%s\ndate\t%s\n", directoryTitle, date.Format(time.DateOnly))
	for _, source := range sources {
		fmt.Fprintf(&text, "source\t%s\t%s\t%s\n", source.Name, source.Version, strings.Join(source.Countries, " "))
	}
	text.WriteByte('\n')
	for _, row := range rows {
		fmt.Fprintf(&text, "%s\t%s\t%s\t%s\n", row.country, row.code, row.bank.BIC, row.bank.Name)
	}
	return parseDirectory("built directory", text.String())
}
