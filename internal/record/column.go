package record

import "unicode/utf8"

// Column is one field of a record.
type Column[T any] struct {
	Name string
	// Kind is that of every value of the column that is not null.
	Kind Kind
	// Value takes the field from a row.
	Value func(row *T) Value
}

// Columns is the ordered table of a record's fields. Its order is that of the
// contract and is what CSV columns follow.
type Columns[T any] []Column[T]

// AppendJSON writes one record as a JSON object.
func (c Columns[T]) AppendJSON(dst []byte, row *T) []byte {
	dst = append(dst, '{')
	for i := range c {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), c[i].Name...), '"', ':') // names need no escape
		dst = c[i].Value(row).AppendJSON(dst)
	}
	return append(dst, '}')
}

// AppendJSONText writes a text as a JSON string. It escapes what JSON demands
// and nothing else: no sign is special to JSON because HTML thinks so.
// Bytes that are no UTF-8 become the replacement character.
func AppendJSONText(dst []byte, text string) []byte {
	const digits = "0123456789abcdef"
	if isPlain(text) {
		return append(append(append(dst, '"'), text...), '"')
	}
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			letter, size := utf8.DecodeRuneInString(text[i:])
			if letter == utf8.RuneError && size == 1 {
				dst = append(append(dst, text[start:i]...), "\uFFFD"...)
				start = i + 1
			}
			i += size
			continue
		}
		dst = append(append(dst, text[start:i]...), '\\')
		switch c {
		case '"', '\\':
			dst = append(dst, c)
		case '\n':
			dst = append(dst, 'n')
		case '\r':
			dst = append(dst, 'r')
		case '\t':
			dst = append(dst, 't')
		default:
			dst = append(dst, 'u', '0', '0', digits[c>>4], digits[c&15])
		}
		i++
		start = i
	}
	return append(append(dst, text[start:]...), '"')
}

// needsCare marks the bytes that AppendJSONText has to look at. Hardly any text
// has one, and a table tells it faster than comparisons.
var needsCare = func() (marked [256]bool) {
	for i := range marked {
		marked[i] = i < ' ' || i == '"' || i == '\\' || i >= utf8.RuneSelf
	}
	return marked
}()

func isPlain(text string) bool {
	for i := range len(text) {
		if needsCare[text[i]] {
			return false
		}
	}
	return true
}
