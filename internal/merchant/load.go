package merchant

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Bounds of a resource file. An alias counts for everything that it stands for,
// so that a few lines cannot grow into a tree that fills the memory.
const (
	maxFileBytes = 8 << 20
	maxFileNodes = 500_000
	maxFileDepth = 32
)

// load reads a file into a tree that has no aliases left. It is the one place
// that knows how YAML is read.
func load(data []byte) (*node, *Mistake) {
	if len(data) > maxFileBytes {
		return nil, &Mistake{Sentence: fmt.Sprintf("The file is larger than %d MiB.", maxFileBytes>>20)}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, another yaml.Node
	if err := decoder.Decode(&document); err != nil {
		return nil, syntaxMistake(err)
	}
	switch err := decoder.Decode(&another); {
	case err == nil:
		return nil, &Mistake{Line: another.Line, Sentence: "A resource file is one YAML document, and another one begins here."}
	case !errors.Is(err, io.EOF):
		return nil, syntaxMistake(err)
	}
	expansion := expansion{left: maxFileNodes}
	return expansion.expand(document.Content[0], 0)
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// syntaxMistake says in our form what the YAML reader has to say.
func syntaxMistake(err error) *Mistake {
	if errors.Is(err, io.EOF) {
		return &Mistake{Sentence: "The file is empty."}
	}
	m := &Mistake{Sentence: "This is no YAML: " + err.Error() + "."}
	if parts := yamlLine.FindStringSubmatch(strings.ReplaceAll(err.Error(), "\n", " ")); parts != nil {
		m.Line, _ = strconv.Atoi(parts[1])
		m.Sentence = "This is no YAML: " + parts[2] + "."
	}
	return m
}

// expansion replaces aliases by what they stand for, within bounds.
type expansion struct{ left int }

func (e *expansion) expand(from *yaml.Node, depth int) (*node, *Mistake) {
	if e.left--; e.left < 0 {
		return nil, &Mistake{Line: from.Line, Sentence: "The file is too large once its aliases are followed."}
	}
	if depth > maxFileDepth {
		return nil, &Mistake{Line: from.Line, Sentence: fmt.Sprintf("The file is nested deeper than %d levels.", maxFileDepth)}
	}
	switch from.Kind {
	case yaml.AliasNode:
		return e.expand(from.Alias, depth+1)
	case yaml.ScalarNode:
		return scalarNode(from), nil
	}
	children := make([]*node, len(from.Content))
	for i, child := range from.Content {
		expanded, mistake := e.expand(child, depth+1)
		if mistake != nil {
			return nil, mistake
		}
		children[i] = expanded
	}
	if from.Kind == yaml.SequenceNode {
		return &node{kind: listNode, line: from.Line, items: children}, nil
	}
	object := &node{kind: objectNode, line: from.Line}
	for i := 0; i < len(children); i += 2 {
		object.fields = append(object.fields, nodeField{children[i], children[i+1]})
	}
	return object, nil
}

var scalarKinds = map[string]nodeKind{
	"!!null": nullNode, "!!bool": boolNode, "!!int": wholeNode, "!!float": fractionNode,
	"!!str": textNode, "!!timestamp": dateNode, "!!merge": mergeNode,
}

// scalarNode reads a single value; what JSON has no form for (a date, an
// infinity) stays the text that was written.
func scalarNode(from *yaml.Node) *node {
	n := &node{kind: scalarKinds[from.ShortTag()], line: from.Line, text: from.Value, value: from.Value}
	var err error
	switch n.kind {
	case nullNode:
		n.value = nil
	case boolNode:
		var b bool
		err = from.Decode(&b)
		n.value = b
	case wholeNode:
		var i int64
		err = from.Decode(&i)
		n.value = i
	case fractionNode:
		var f float64
		if err = from.Decode(&f); !math.IsInf(f, 0) && !math.IsNaN(f) {
			n.value = f
		}
	}
	n.readable = err == nil
	return n
}
