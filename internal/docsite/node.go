package docsite

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"go.yaml.in/yaml/v3"
)

// node is a place in the document, or the absence of one: reading on from an
// absent place gives absent places and empty texts, so that optional parts of
// OpenAPI need no checks. Unlike a Go map it keeps the author's order.
type node struct{ yaml *yaml.Node }

// parse reads the document and refuses what cannot be an OpenAPI document.
func parse(spec []byte) (node, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(spec, &root); err != nil {
		return node{}, fmt.Errorf("parse the API document: %w", err)
	}
	if len(root.Content) != 1 || root.Content[0].Kind != yaml.MappingNode {
		return node{}, errors.New("the API document is no mapping")
	}
	return node{root.Content[0]}, nil
}

func (n node) exists() bool { return n.yaml != nil }

// get gives the value of a key.
func (n node) get(key string) node {
	for name, value := range n.pairs() {
		if name == key {
			return value
		}
	}
	return node{}
}

// at follows several keys.
func (n node) at(keys ...string) node {
	for _, key := range keys {
		n = n.get(key)
	}
	return n
}

// text is the scalar under a key.
func (n node) text(key string) string { return n.get(key).value() }

// value is the scalar itself.
func (n node) value() string {
	if n.yaml == nil || n.yaml.Kind != yaml.ScalarNode {
		return ""
	}
	return n.yaml.Value
}

// isNull tells a YAML null from a text that reads "null".
func (n node) isNull() bool { return n.yaml != nil && n.yaml.Tag == "!!null" }

// pairs gives keys and values in the order of the document.
func (n node) pairs() iter.Seq2[string, node] {
	return func(yield func(string, node) bool) {
		if n.yaml == nil || n.yaml.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.yaml.Content); i += 2 {
			if !yield(n.yaml.Content[i].Value, node{n.yaml.Content[i+1]}) {
				return
			}
		}
	}
}

// items gives the members of a list.
func (n node) items() []node {
	if n.yaml == nil || n.yaml.Kind != yaml.SequenceNode {
		return nil
	}
	members := make([]node, len(n.yaml.Content))
	for i, member := range n.yaml.Content {
		members[i] = node{member}
	}
	return members
}

// has tells whether a list contains a text.
func (n node) has(text string) bool {
	for _, member := range n.items() {
		if member.value() == text {
			return true
		}
	}
	return false
}

// document finds what references point to.
type document struct{ root node }

// longestChain bounds references to references; a circle ends here.
const longestChain = 16

// resolve follows a reference to its target and gives the target's name, which
// is empty for what stands in place.
func (d document) resolve(n node) (target node, name string) {
	for range longestChain {
		ref := n.text("$ref")
		if ref == "" {
			return n, name
		}
		steps := strings.Split(strings.TrimPrefix(ref, "#/"), "/")
		n, name = d.root.at(steps...), steps[len(steps)-1]
	}
	return node{}, ""
}
