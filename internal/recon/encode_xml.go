package recon

import (
	"unicode/utf8"

	"sepad/internal/record"
)

// writeXML writes the same as writeJSON, with null as an empty element.
func writeXML[T any](out *output, l *Listing[T], page Page[T]) {
	beginXML(out, page.Next, page.Previous)
	tags := tagsOf(l)
	for i := range page.Rows {
		out.text = tags.append(out.text, &page.Rows[i])
		if !out.pass() {
			return
		}
	}
	endXML(out)
}

func beginXML(out *output, next, previous string) {
	out.text = append(out.text, `<?xml version="1.0" encoding="UTF-8"?>`+"\n<reconciliation><next>"...)
	out.text = append(appendXMLText(out.text, next), "</next><previous>"...)
	out.text = append(appendXMLText(out.text, previous), "</previous><results>"...)
}

func endXML(out *output) { out.text = append(out.text, "</results></reconciliation>\n"...) }

// xmlTags are the tags around a record and its values.
type xmlTags[T any] struct {
	columns          record.Columns[T]
	begin, end       string
	opening, closing []string
}

func tagsOf[T any](l *Listing[T]) xmlTags[T] {
	return xmlTags[T]{l.Columns, "<" + l.Element + ">", "</" + l.Element + ">", names(l.Columns, "<", ">"), names(l.Columns, "</", ">")}
}

func (t *xmlTags[T]) append(dst []byte, row *T) []byte {
	dst = append(dst, t.begin...)
	for c := range t.columns {
		dst = appendXMLValue(append(dst, t.opening[c]...), t.columns[c].Value(row))
		dst = append(dst, t.closing[c]...)
	}
	return append(dst, t.end...)
}

func appendXMLValue(dst []byte, v record.Value) []byte {
	if v.Kind() == record.Text {
		return appendXMLText(dst, v.Text())
	}
	return v.Append(dst)
}

// xmlLetters are those that are escaped or left out.
var xmlLetters = func() letters {
	marked := markLetters("&<>\r")
	for control := range ' ' {
		marked[control] = marked[control] || !isXML(control)
	}
	return marked
}()

// appendXMLText escapes a text. Characters that XML 1.0 knows in no form are left
// out, and bytes that are no UTF-8 become the replacement character.
func appendXMLText(dst []byte, text string) []byte {
	if !xmlLetters.in(text) {
		return append(dst, text...)
	}
	for _, letter := range text { // what is no UTF-8 is read as the replacement character
		switch {
		case letter == '&':
			dst = append(dst, "&amp;"...)
		case letter == '<':
			dst = append(dst, "&lt;"...)
		case letter == '>':
			dst = append(dst, "&gt;"...)
		case letter == '\r': // bare, a parser would make a line feed of it
			dst = append(dst, "&#13;"...)
		case isXML(letter):
			dst = utf8.AppendRune(dst, letter)
		}
	}
	return dst
}

// isXML tells the characters of XML 1.0.
func isXML(letter rune) bool {
	switch {
	case letter < ' ':
		return letter == '\t' || letter == '\n' || letter == '\r'
	default:
		return letter != 0xFFFE && letter != 0xFFFF
	}
}
