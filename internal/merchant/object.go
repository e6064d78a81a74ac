package merchant

import (
	"fmt"
	"slices"
)

// reader collects mistakes while records are read.
type reader struct {
	rules    Rules
	mistakes []Mistake
	reported map[string]bool // paths of which something was said
	index    index
}

func newReader(rules Rules) *reader {
	return &reader{rules: rules, reported: map[string]bool{}, index: newIndex()}
}

func (r *reader) wrong(line int, path, format string, args ...any) {
	r.mistakes = append(r.mistakes, Mistake{Line: line, Path: path, Sentence: fmt.Sprintf(format, args...)})
	r.reported[path] = true
}

// object is an object whose fields are read one by one. Fields that are null are
// not in it: null means absent.
type object struct {
	r      *reader
	path   string
	line   int
	fields map[string]*node
}

// object reads an object that may have the given keys and no others.
func (r *reader) object(from *node, path string, keys ...string) (object, bool) {
	o := object{r: r, path: path, line: from.line, fields: map[string]*node{}}
	if from.kind != objectNode {
		r.wrong(from.line, path, "Give an object with its fields, not %s.", from.kind.described())
		return o, false
	}
	seen := map[string]bool{}
	for _, field := range from.fields {
		switch name := field.name.text; {
		case field.name.kind == mergeNode:
			r.wrong(field.name.line, path, "Merge keys (<<) are not supported: write the fields out.")
		case !slices.Contains(keys, name):
			r.wrong(field.name.line, join(path, shown(name)), "This field is not known.%s", DidYouMean(name, keys))
		case seen[name]:
			r.wrong(field.name.line, join(path, name), "This field is given twice.")
		default:
			seen[name] = true
			if field.value.kind != nullNode {
				o.fields[name] = field.value
			}
		}
	}
	return o, true
}

// at is the path of a field.
func (o object) at(key string) string { return join(o.path, key) }

// lineOf is the line of a field, or of the object when the field is absent.
func (o object) lineOf(key string) int {
	if field := o.fields[key]; field != nil {
		return field.line
	}
	return o.line
}

// wrong reports a mistake in a field.
func (o object) wrong(key, format string, args ...any) {
	o.r.wrong(o.lineOf(key), o.at(key), format, args...)
}

// has tells whether a field is there.
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
	field := o.fields[key]
	if field == nil {
		return object{}, false
	}
	return o.r.object(field, o.at(key), keys...)
}

// list gives the elements of a list, none when it is absent.
func (o object) list(key string) []*node {
	field := o.fields[key]
	if field == nil {
		return nil
	}
	if field.kind != listNode {
		o.wrong(key, "Give a list, not %s.", field.kind.described())
		return nil
	}
	return field.items
}

// objects gives the elements of a list of objects that may have the given keys.
func (o object) objects(key string, keys ...string) []object {
	var all []object
	for i, item := range o.list(key) {
		if child, ok := o.r.object(item, fmt.Sprintf("%s[%d]", o.at(key), i), keys...); ok {
			all = append(all, child)
		}
	}
	return all
}

// tree is a free-form object, empty when it is absent.
func (o object) tree(key string) map[string]any {
	field := o.fields[key]
	if field == nil {
		return map[string]any{}
	}
	if field.kind != objectNode {
		o.wrong(key, "Give an object, not %s.", field.kind.described())
		return map[string]any{}
	}
	value, _ := o.r.value(field, o.at(key)).(map[string]any)
	return value
}

// value turns a node into what JSON can say: free-form objects are stored and
// shown as JSON.
func (r *reader) value(from *node, path string) any {
	switch from.kind {
	case objectNode:
		object := make(map[string]any, len(from.fields))
		for _, field := range from.fields {
			name := field.name.text
			if _, twice := object[name]; twice {
				r.wrong(field.name.line, join(path, shown(name)), "This field is given twice.")
			}
			if kind := field.name.kind; kind == mergeNode || kind == objectNode || kind == listNode {
				r.wrong(field.name.line, path, "A field's name is a text.")
				continue
			}
			object[name] = r.value(field.value, join(path, shown(name)))
		}
		return object
	case listNode:
		list := make([]any, len(from.items))
		for i, item := range from.items {
			list[i] = r.value(item, fmt.Sprintf("%s[%d]", path, i))
		}
		return list
	default:
		if !from.readable {
			r.wrong(from.line, path, "This value cannot be read; put it in quotes if it is a text.")
		}
		return from.value
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
