package merchant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// nodeKind is what kind of value an operator has written.
type nodeKind int

const (
	otherNode nodeKind = iota // what our records have no use for
	nullNode
	objectNode
	listNode
	textNode
	dateNode
	wholeNode
	fractionNode
	boolNode
	mergeNode // the key << of YAML
)

// described names what was written, never its content.
func (k nodeKind) described() string {
	switch k {
	case objectNode:
		return "an object"
	case listNode:
		return "a list"
	case boolNode:
		return "true or false"
	case wholeNode, fractionNode:
		return "a number"
	case nullNode:
		return "nothing"
	default:
		return "a text"
	}
}

// node is one value that an operator has written, as YAML in a file (load.go) or
// as JSON in a call: whoever reads records from it need not know which.
type node struct {
	kind nodeKind
	line int // 0 in a call
	// Of an object and of a list.
	fields []nodeField
	items  []*node
	// Of a single value: as it was written, and what it says in JSON's types.
	// Readable is false where it says nothing, such as a number that is too long.
	text     string
	value    any
	readable bool
}

type nodeField struct{ name, value *node }

// fieldsNode turns fields into what records are read from.
func fieldsNode(fields Fields) (*node, error) {
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("fields that JSON cannot say: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decodeNode(decoder)
}

// decodeNode reads the next value of a JSON text, in the order of its fields.
func decodeNode(decoder *json.Decoder) (*node, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch v := token.(type) {
	case json.Delim:
		if v == '[' {
			return decodeList(decoder)
		}
		return decodeObject(decoder)
	case string:
		return &node{kind: textNode, text: v, value: v, readable: true}, nil
	case bool:
		return &node{kind: boolNode, text: strconv.FormatBool(v), value: v, readable: true}, nil
	case json.Number:
		return numberNode(v.String()), nil
	default:
		return &node{kind: nullNode, readable: true}, nil
	}
}

func decodeObject(decoder *json.Decoder) (*node, error) {
	object := &node{kind: objectNode}
	for decoder.More() {
		name, err := decodeNode(decoder)
		if err != nil {
			return nil, err
		}
		value, err := decodeNode(decoder)
		if err != nil {
			return nil, err
		}
		object.fields = append(object.fields, nodeField{name, value})
	}
	_, err := decoder.Token()
	return object, err
}

func decodeList(decoder *json.Decoder) (*node, error) {
	list := &node{kind: listNode}
	for decoder.More() {
		item, err := decodeNode(decoder)
		if err != nil {
			return nil, err
		}
		list.items = append(list.items, item)
	}
	_, err := decoder.Token()
	return list, err
}

// numberNode keeps the digits as they were written: money is read from them.
func numberNode(text string) *node {
	n := &node{kind: wholeNode, text: text}
	var err error
	if strings.ContainsAny(text, ".eE") {
		n.kind = fractionNode
		n.value, err = strconv.ParseFloat(text, 64)
	} else {
		n.value, err = strconv.ParseInt(text, 10, 64)
	}
	n.readable = err == nil
	return n
}
