package web

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"sepad/internal/payment"
)

// maxDepth bounds nesting. No request of ours goes deeper than three.
const maxDepth = 32

var (
	errNotJSON    = &payment.Error{Kind: payment.Invalid, Detail: "The request body is not valid JSON."}
	errNotObject  = &payment.Error{Kind: payment.Invalid, Detail: "The request body must be a JSON object."}
	errNotUnicode = &payment.Error{Kind: payment.Invalid, Detail: "The request body holds text that is not valid Unicode."}
	errTooDeep    = &payment.Error{Kind: payment.Invalid, Detail: "The request body is nested too deeply."}
)

// Object is a JSON object as it stands in a request. Unlike encoding/json it
// keeps the literal text of numbers, tells names apart by case and refuses a
// name that is given twice, so that what a merchant meant is never guessed.
type Object struct {
	source  string
	members []member
}

type member struct {
	name  string
	value value
}

type kind byte

const (
	kindNull kind = iota // also a member that is not there
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
)

// value is one JSON value: text is a string's content or a number's literal.
type value struct {
	kind   kind
	text   string
	object *Object
	items  []value // of an array
}

// ParseObject reads a whole JSON text that must be an object.
func ParseObject(source string) (*Object, error) {
	if !utf8.ValidString(source) {
		return nil, errNotUnicode
	}
	p := parser{text: source}
	whole, err := p.value()
	if err != nil {
		return nil, err
	}
	if p.space(); p.at < len(source) {
		return nil, errNotJSON
	}
	if whole.kind != kindObject {
		return nil, errNotObject
	}
	whole.object.source = source
	return whole.object, nil
}

// Source is the text that was read, for whoever must recognise it again.
func (o *Object) Source() string { return o.source }

func (o *Object) find(name string) value {
	for i := range o.members {
		if o.members[i].name == name {
			return o.members[i].value
		}
	}
	return value{}
}

// parser walks over a text once. It checks the grammar of RFC 8259 and keeps
// what a Reader can ask for.
type parser struct {
	text  string
	at    int
	depth int
}

// space skips white space and gives the next byte, 0 at the end.
func (p *parser) space() byte {
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

func (p *parser) value() (value, error) {
	switch c := p.space(); {
	case c == '{':
		return p.nested(p.object)
	case c == '[':
		return p.nested(p.array)
	case c == '"':
		text, err := p.string()
		return value{kind: kindString, text: text}, err
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	case c == 't':
		return p.literal("true", kindBool)
	case c == 'f':
		return p.literal("false", kindBool)
	case c == 'n':
		return p.literal("null", kindNull)
	default:
		return value{}, errNotJSON
	}
}

func (p *parser) nested(read func() (value, error)) (value, error) {
	if p.depth++; p.depth > maxDepth {
		return value{}, errTooDeep
	}
	p.at++ // the opening bracket
	v, err := read()
	p.depth--
	return v, err
}

func (p *parser) literal(word string, k kind) (value, error) {
	if !strings.HasPrefix(p.text[p.at:], word) {
		return value{}, errNotJSON
	}
	p.at += len(word)
	return value{kind: k}, nil
}

func (p *parser) array() (value, error) {
	if p.space() == ']' {
		p.at++
		return value{kind: kindArray}, nil
	}
	array := value{kind: kindArray}
	for {
		item, err := p.value()
		if err != nil {
			return value{}, err
		}
		array.items = append(array.items, item)
		if more, err := p.more(']'); err != nil || !more {
			return array, err
		}
	}
}

func (p *parser) object() (value, error) {
	o := &Object{}
	if p.space() == '}' {
		p.at++
		return value{kind: kindObject, object: o}, nil
	}
	names := nameSet{object: o}
	for {
		m, err := p.member()
		if err != nil {
			return value{}, err
		}
		if names.has(m.name) {
			return value{}, duplicateField(m.name)
		}
		o.members = append(o.members, m)
		if more, err := p.more('}'); err != nil || !more {
			return value{kind: kindObject, object: o}, err
		}
	}
}

func (p *parser) member() (member, error) {
	if p.space() != '"' {
		return member{}, errNotJSON
	}
	name, err := p.string()
	if err != nil {
		return member{}, err
	}
	if p.space() != ':' {
		return member{}, errNotJSON
	}
	p.at++
	v, err := p.value()
	return member{name: name, value: v}, err
}

// more steps over a comma, or over the closing bracket.
func (p *parser) more(closing byte) (bool, error) {
	switch p.space() {
	case ',':
		p.at++
		return true, nil
	case closing:
		p.at++
		return false, nil
	default:
		return false, errNotJSON
	}
}

// nameSet tells names that an object already has. Small objects are searched;
// a large one gets an index, so that no body costs quadratic time.
type nameSet struct {
	object *Object
	index  map[string]struct{}
}

func (s *nameSet) has(name string) bool {
	const small = 32
	if len(s.object.members) < small {
		for i := range s.object.members {
			if s.object.members[i].name == name {
				return true
			}
		}
		return false
	}
	if s.index == nil {
		s.index = make(map[string]struct{}, 4*small)
		for i := range s.object.members {
			s.index[s.object.members[i].name] = struct{}{}
		}
	}
	_, found := s.index[name]
	s.index[name] = struct{}{}
	return found
}

func duplicateField(name string) error {
	const worthNaming = 64
	if len(name) > worthNaming {
		return &payment.Error{Kind: payment.Invalid, Detail: "The request body gives a field twice."}
	}
	return &payment.Error{Kind: payment.Invalid, Detail: "The request body gives a field twice: " + name + "."}
}

func (p *parser) number() (value, error) {
	start := p.at
	if p.text[p.at] == '-' {
		p.at++
	}
	if p.peek() == '0' {
		p.at++
	} else if !p.digits() {
		return value{}, errNotJSON
	}
	if p.peek() == '.' {
		if p.at++; !p.digits() {
			return value{}, errNotJSON
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.at++
		if sign := p.peek(); sign == '+' || sign == '-' {
			p.at++
		}
		if !p.digits() {
			return value{}, errNotJSON
		}
	}
	return value{kind: kindNumber, text: p.text[start:p.at]}, nil
}

func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// digits steps over at least one digit.
func (p *parser) digits() bool {
	start := p.at
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	return p.at > start
}

// string reads a string; one without escapes is a piece of the source.
func (p *parser) string() (string, error) {
	p.at++
	start := p.at
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return p.text[start : p.at-1], nil
		case c == '\\':
			return p.escaped([]byte(p.text[start:p.at]))
		case c < ' ':
			return "", errNotJSON
		}
	}
	return "", errNotJSON
}

// escaped reads the rest of a string from its first escape on.
func (p *parser) escaped(read []byte) (string, error) {
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		switch {
		case c == '"':
			return string(read), nil
		case c < ' ':
			return "", errNotJSON
		case c != '\\':
			read = append(read, c)
		default:
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			read = utf8.AppendRune(read, r)
		}
	}
	return "", errNotJSON
}

func (p *parser) escape() (rune, error) {
	c := p.peek()
	p.at++
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		return p.unicodeEscape()
	default:
		return 0, errNotJSON
	}
}

// unicodeEscape reads the four digits after \u, and the second half of a pair.
// A half on its own is no character and cannot be stored as one.
func (p *parser) unicodeEscape() (rune, error) {
	first, err := p.hex4()
	if err != nil || !utf16.IsSurrogate(first) {
		return first, err
	}
	if !strings.HasPrefix(p.text[p.at:], `\u`) {
		return 0, errNotUnicode
	}
	p.at += len(`\u`)
	second, err := p.hex4()
	if err != nil {
		return 0, err
	}
	if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
		return r, nil
	}
	return 0, errNotUnicode
}

func (p *parser) hex4() (rune, error) {
	if len(p.text)-p.at < 4 {
		return 0, errNotJSON
	}
	code, err := strconv.ParseUint(p.text[p.at:p.at+4], 16, 16)
	if err != nil {
		return 0, errNotJSON
	}
	p.at += 4
	return rune(code), nil
}
