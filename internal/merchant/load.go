package merchant

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Bounds of a resource file. An alias counts for everything that it stands for,
// so that a few lines cannot grow into a tree that fills the memory.
const (
	maxFileBytes = 8 << 20
	maxFileNodes = 500_000
	maxFileDepth = 32
)

// load reads a file into a tree that has no aliases left.
func load(data []byte) (*yaml.Node, *Mistake) {
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

func (e *expansion) expand(node *yaml.Node, depth int) (*yaml.Node, *Mistake) {
	if e.left--; e.left < 0 {
		return nil, &Mistake{Line: node.Line, Sentence: "The file is too large once its aliases are followed."}
	}
	if depth > maxFileDepth {
		return nil, &Mistake{Line: node.Line, Sentence: fmt.Sprintf("The file is nested deeper than %d levels.", maxFileDepth)}
	}
	if node.Kind == yaml.AliasNode {
		return e.expand(node.Alias, depth+1)
	}
	if len(node.Content) == 0 {
		return node, nil
	}
	full := *node
	full.Content = make([]*yaml.Node, len(node.Content))
	for i, child := range node.Content {
		expanded, mistake := e.expand(child, depth+1)
		if mistake != nil {
			return nil, mistake
		}
		full.Content[i] = expanded
	}
	return &full, nil
}
