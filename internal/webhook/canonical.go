package webhook

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
)

// canonical gives the one form that a JSON text has by RFC 8785. Most of our texts need no more than their members in order;
// whatever else a text has is left to those who know all of the rules.
func canonical(text []byte) ([]byte, error) {
	p := plainText{text: text}
	if bytes.HasPrefix(text, []byte("{")) {
		if value, isPlain := p.value(0); isPlain && p.at == len(text) {
			return value, nil
		}
	}
	return jcs.Transform(text)
}

// plainText is a JSON text on its way through. Plain is one without blanks, escapes and fractions, whose names are ASCII.
type plainText struct {
	text []byte
	at   int
}

// plainDepth is deeper than any text of ours.
const plainDepth = 16

// value gives the next value in canonical form; false for one that is not plain.
func (p *plainText) value(depth int) ([]byte, bool) {
	switch begin := p.at; {
	case p.at == len(p.text) || depth == plainDepth:
		return nil, false
	case p.text[p.at] == '{':
		return p.object(depth)
	case p.text[p.at] == '[':
		return p.array(depth)
	case p.text[p.at] == '"':
		return p.quoted()
	default:
		for p.at < len(p.text) && isScalar(p.text[p.at]) {
			p.at++
		}
		return p.text[begin:p.at], isPlainScalar(p.text[begin:p.at])
	}
}

func isScalar(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' }

// isPlainScalar tells a word of JSON, or a whole number that every reader takes for the same.
func isPlainScalar(text []byte) bool {
	switch string(text) {
	case "true", "false", "null", "0":
		return true
	}
	const exact = 15 // digits of a number that a float has exactly
	digits := bytes.TrimPrefix(text, []byte("-"))
	isNumber := len(digits) > 0 && len(digits) <= exact && digits[0] != '0'
	for _, c := range digits {
		isNumber = isNumber && '0' <= c && c <= '9'
	}
	return isNumber
}

// quoted gives a text with its quotes.
func (p *plainText) quoted() ([]byte, bool) {
	length := bytes.IndexByte(p.text[p.at+1:], '"') + 2
	if length < 2 {
		return nil, false
	}
	quoted := p.text[p.at : p.at+length]
	p.at += length
	for _, c := range quoted {
		if c < ' ' || c == '\\' {
			return nil, false
		}
	}
	return quoted, utf8.Valid(quoted)
}

// take goes past a sign, if it is the next.
func (p *plainText) take(sign byte) bool {
	if p.at == len(p.text) || p.text[p.at] != sign {
		return false
	}
	p.at++
	return true
}

func (p *plainText) array(depth int) ([]byte, bool) {
	out := []byte{'['}
	for p.at++; !p.take(']'); {
		if len(out) > 1 {
			if !p.take(',') {
				return nil, false
			}
			out = append(out, ',')
		}
		value, isPlain := p.value(depth + 1)
		if !isPlain {
			return nil, false
		}
		out = append(out, value...)
	}
	return append(out, ']'), true
}

func (p *plainText) object(depth int) ([]byte, bool) {
	type member struct{ name, value []byte }
	var members []member
	begin := p.at
	for p.at++; !p.take('}'); {
		if len(members) > 0 && !p.take(',') || p.at == len(p.text) || p.text[p.at] != '"' {
			return nil, false
		}
		name, isPlain := p.quoted()
		if !isPlain || !isASCII(name) || !p.take(':') {
			return nil, false
		}
		value, isPlain := p.value(depth + 1)
		if !isPlain {
			return nil, false
		}
		members = append(members, member{name, value})
	}
	slices.SortFunc(members, func(a, b member) int {
		return bytes.Compare(a.name[:len(a.name)-1], b.name[:len(b.name)-1]) // the quote at the end is no part of it
	})
	out := append(make([]byte, 0, p.at-begin), '{')
	for i, m := range members {
		if i > 0 {
			if bytes.Equal(m.name, members[i-1].name) {
				return nil, false
			}
			out = append(out, ',')
		}
		out = append(append(append(out, m.name...), ':'), m.value...)
	}
	return append(out, '}'), true
}

func isASCII(text []byte) bool {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
