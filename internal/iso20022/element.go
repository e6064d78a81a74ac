package iso20022

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// element is a part of a message as it stands in the file: names without namespace, text, and the one attribute that
// matters. A generic tree is what lets one reader take every version and every bank's mistakes.
type element struct {
	name     string
	text     string
	currency string // attribute Ccy
	children []*element
}

const (
	// maxDepth is far beyond any message; a file that nests deeper is an attack.
	maxDepth = 64
	// maxText is how much of a text is kept, beyond which no bank has anything to say: every payment of a booking is
	// written down with it.
	maxText = 4 << 10
)

// cut shortens a text to what is kept of one, and does not hold the rest.
func cut(text string) string {
	short := Shorten(text, maxText)
	if len(short) < len(text) {
		return strings.Clone(short)
	}
	return text
}

// Shorten gives so many bytes of a text at most, and leaves no half of a character.
func Shorten(text string, longest int) string {
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "")
}

// readElement reads the element whose start was just met.
func readElement(decoder *decoder, start xml.StartElement) (*element, error) {
	e := &element{name: start.Name.Local}
	var text []byte
	for i := range start.Attr {
		if start.Attr[i].Name.Local == "Ccy" {
			e.currency = cut(start.Attr[i].Value)
		}
	}
	if err := decoder.hold(elementWeight + len(e.name)); err != nil {
		return nil, err
	}
	for {
		token, err := decoder.Token()
		if err != nil {
			return nil, unexpectedEnd(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			child, err := readElement(decoder, token)
			if err != nil {
				return nil, err
			}
			e.children = append(e.children, child)
		case xml.CharData:
			// Between children there is only layout. A comment may part the text in two.
			if len(e.children) == 0 && len(text) <= maxText {
				text = append(text, token...)
			}
		case xml.EndElement:
			e.text = cut(string(bytes.TrimSpace(text)))
			return e, decoder.hold(len(e.text) + len(e.currency))
		}
	}
}

// unexpectedEnd keeps the end of a broken file from looking like the end of a whole one.
func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("iso20022: the file ends in the middle: %w", io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("iso20022: %w", err)
}

// find goes down a path of names, taking the first of each; nil when there is none. It works on nil too, so that paths
// can be asked without care.
func (e *element) find(path ...string) *element {
	for _, name := range path {
		if e == nil {
			return nil
		}
		e = e.first(name)
	}
	return e
}

func (e *element) first(name string) *element {
	for _, child := range e.children {
		if child.name == name {
			return child
		}
	}
	return nil
}

// all gives the children of a name.
func (e *element) all(name string) (found []*element) {
	if e == nil {
		return nil
	}
	for _, child := range e.children {
		if child.name == name {
			found = append(found, child)
		}
	}
	return found
}

// value gives the text at the end of a path, "" when there is none.
func (e *element) value(path ...string) string {
	if e = e.find(path...); e == nil {
		return ""
	}
	return e.text
}

// values gives the texts of all children of a name at the end of a path.
func (e *element) values(path ...string) (texts []string) {
	last := len(path) - 1
	for _, child := range e.find(path[:last]...).all(path[last]) {
		if child.text != "" {
			texts = append(texts, child.text)
		}
	}
	return texts
}
