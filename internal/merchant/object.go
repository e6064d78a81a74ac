package merchant

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"
)

// reader collects the mistakes of a file while its records are read.
type reader struct {
	environment Environment
	adapters    []string
	mistakes    []Mistake
	reported    map[string]bool // paths of which something was said
	index       index
}

func (r *reader) wrong(line int, path, format string, args ...any) {
	r.mistakes = append(r.mistakes, Mistake{Line: line, Path: path, Sentence: fmt.Sprintf(format, args...)})
	r.reported[path] = true
}

// object is a mapping of the file whose fields are read one by one. Fields that
// are null are not in it: null means absent.
type object struct {
	r      *reader
	path   string
	line   int
	fields map[string]*yaml.Node
}

// object takes a mapping that may have the given keys and no others.
func (r *reader) object(node *yaml.Node, path string, keys ...string) (object, bool) {
	o := object{r: r, path: path, line: node.Line, fields: map[string]*yaml.Node{}}
	if node.Kind != yaml.MappingNode {
		r.wrong(node.Line, path, "Give an object with its fields, not %s.", kindOf(node))
		return o, false
	}
	seen := map[string]bool{}
	for i := 0; i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		switch name := key.Value; {
		case key.ShortTag() == "!!merge":
			r.wrong(key.Line, path, "Merge keys (<<) are not supported: write the fields out.")
		case key.Kind != yaml.ScalarNode || !slices.Contains(keys, name):
			r.wrong(key.Line, join(path, shown(name)), "This field is not known.%s", didYouMean(name, keys))
		case seen[name]:
			r.wrong(key.Line, join(path, name), "This field is given twice.")
		default:
			seen[name] = true
			if !isNull(value) {
				o.fields[name] = value
			}
		}
	}
	return o, true
}

// at is the path of a field.
func (o object) at(key string) string { return join(o.path, key) }

// lineOf is the line of a field, or of the object when the field is absent.
func (o object) lineOf(key string) int {
	if node := o.fields[key]; node != nil {
		return node.Line
	}
	return o.line
}

// wrong reports a mistake in a field.
func (o object) wrong(key, format string, args ...any) {
	o.r.wrong(o.lineOf(key), o.at(key), format, args...)
}

// has tells whether a field is given.
func (o object) has(key string) bool { return o.fields[key] != nil }

// require reports the fields that are missing.
func (o object) require(keys ...string) {
	for _, key := range keys {
		if !o.has(key) {
			o.wrong(key, "%s is required.", key)
		}
	}
}

// child is an object within the object, or false when it is absent or no object.
func (o object) child(key string, keys ...string) (object, bool) {
	node := o.fields[key]
	if node == nil {
		return object{}, false
	}
	return o.r.object(node, o.at(key), keys...)
}

// list gives the elements of a list, none when it is absent.
func (o object) list(key string) []*yaml.Node {
	node := o.fields[key]
	if node == nil {
		return nil
	}
	if node.Kind != yaml.SequenceNode {
		o.wrong(key, "Give a list, not %s.", kindOf(node))
		return nil
	}
	return node.Content
}

// objects gives the elements of a list of objects that may have the given keys.
func (o object) objects(key string, keys ...string) []object {
	var all []object
	for i, node := range o.list(key) {
		if child, ok := o.r.object(node, fmt.Sprintf("%s[%d]", o.at(key), i), keys...); ok {
			all = append(all, child)
		}
	}
	return all
}

// tree is a free-form object, empty when it is absent.
func (o object) tree(key string) map[string]any {
	node := o.fields[key]
	if node == nil {
		return map[string]any{}
	}
	if node.Kind != yaml.MappingNode {
		o.wrong(key, "Give an object, not %s.", kindOf(node))
		return map[string]any{}
	}
	value, _ := o.r.value(node, o.at(key)).(map[string]any)
	return value
}

// value turns a node into what JSON can say: free-form objects are stored and
// shown as JSON.
func (r *reader) value(node *yaml.Node, path string) any {
	switch node.Kind {
	case yaml.MappingNode:
		object := make(map[string]any, len(node.Content)/2)
		for i := 0; i < len(node.Content); i += 2 {
			key := node.Content[i]
			if _, twice := object[key.Value]; twice {
				r.wrong(key.Line, join(path, shown(key.Value)), "This field is given twice.")
			}
			if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" {
				r.wrong(key.Line, path, "A field's name is a text.")
				continue
			}
			object[key.Value] = r.value(node.Content[i+1], join(path, shown(key.Value)))
		}
		return object
	case yaml.SequenceNode:
		list := make([]any, len(node.Content))
		for i, element := range node.Content {
			list[i] = r.value(element, fmt.Sprintf("%s[%d]", path, i))
		}
		return list
	default:
		return r.scalar(node, path)
	}
}

// scalar reads a single value; what JSON has no form for (a date, an infinity)
// stays the text that was written.
func (r *reader) scalar(node *yaml.Node, path string) any {
	var err error
	switch node.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if err = node.Decode(&b); err == nil {
			return b
		}
	case "!!int":
		var n int64
		if err = node.Decode(&n); err == nil {
			return n
		}
	case "!!float":
		var f float64
		if err = node.Decode(&f); err == nil && f-f == 0 {
			return f
		}
	}
	if err != nil {
		r.wrong(node.Line, path, "This value cannot be read; put it in quotes if it is a text.")
	}
	return node.Value
}

func isNull(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null"
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// kindOf names what stands in the file, never its content.
func kindOf(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "an object"
	case yaml.SequenceNode:
		return "a list"
	}
	switch node.ShortTag() {
	case "!!bool":
		return "true or false"
	case "!!int", "!!float":
		return "a number"
	case "!!null":
		return "nothing"
	default:
		return "a text"
	}
}
