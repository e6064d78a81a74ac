package recon

import (
	"strings"
	"unicode/utf8"

	"sepad/internal/record"
)

// lineEnd is that of RFC 4180.
const lineEnd = "\r\n"

// writeCSV writes a line of names and one for each record. Where the listing goes
// on is told by a header of the answer: a file has no place for it.
func writeCSV[T any](out *output, l *Listing[T], page Page[T]) {
	writeCSVNames(out, l)
	for i := range page.Rows {
		out.text = appendCSVRecord(out.text, l.Columns, &page.Rows[i])
		if !out.pass() {
			return
		}
	}
}

func writeCSVNames[T any](out *output, l *Listing[T]) {
	for i, column := range l.Columns {
		if i > 0 {
			out.text = append(out.text, ',')
		}
		out.text = append(out.text, column.Name...)
	}
	out.text = append(out.text, lineEnd...)
}

func appendCSVRecord[T any](dst []byte, columns record.Columns[T], row *T) []byte {
	for c := range columns {
		if c > 0 {
			dst = append(dst, ',')
		}
		dst = appendCell(dst, columns[c].Value(row))
	}
	return append(dst, lineEnd...)
}

// appendCell writes a value so that a spreadsheet takes it for what it is.
func appendCell(dst []byte, v record.Value) []byte {
	switch v.Kind() {
	case record.Text:
		return appendCellText(dst, v.Text())
	case record.Minor, record.Integer:
		return appendCellNumber(dst, v)
	default: // none of the others begins with a sign
		return v.Append(dst)
	}
}

// appendCellNumber guards what is below zero, as every cell that begins so.
func appendCellNumber(dst []byte, v record.Value) []byte {
	start := len(dst)
	dst = v.Append(dst)
	if isFormula(dst[start]) {
		dst = append(dst, 0)
		copy(dst[start+1:], dst[start:])
		dst[start] = guard
	}
	return dst
}

// guard keeps a spreadsheet from taking a cell for a formula.
const guard = '\''

// isFormula tells the letters with which a formula may begin.
func isFormula(first byte) bool { return formulaLetters[first] }

// beginsFormula tells a text that a spreadsheet may take for a formula, also by
// the full-width forms of the signs, which some of them read as the plain ones.
func beginsFormula(text string) bool {
	if text == "" {
		return false
	}
	if text[0] < utf8.RuneSelf { // nearly all of them
		return isFormula(text[0])
	}
	first, _ := utf8.DecodeRuneInString(text)
	return strings.ContainsRune("＝＋－＠", first)
}

var formulaLetters = letters{'=': true, '+': true, '-': true, '@': true, '\t': true, '\r': true}

// csvSpecial are the letters that put a cell between quotation marks: those of
// RFC 4180, and the separators that spreadsheets of other countries expect.
const csvSpecial = "\",;\t\r\n"

var csvLetters = markLetters(csvSpecial)

func appendCellText(dst []byte, text string) []byte {
	isGuarded := beginsFormula(text)
	if !isGuarded && !csvLetters.in(text) {
		return append(dst, text...)
	}
	if !utf8.ValidString(text) {
		text = string([]rune(text)) // what is no UTF-8 becomes the replacement character
	}
	if !strings.ContainsAny(text, csvSpecial) {
		if isGuarded {
			dst = append(dst, guard)
		}
		return append(dst, text...)
	}
	dst = append(dst, '"')
	if isGuarded {
		dst = append(dst, guard)
	}
	for {
		before, after, found := strings.Cut(text, `"`)
		dst = append(dst, before...)
		if !found {
			return append(dst, '"')
		}
		dst, text = append(dst, `""`...), after
	}
}
