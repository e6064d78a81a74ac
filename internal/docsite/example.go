package docsite

import (
	"encoding/json"
	"html"
	"html/template"
	"strings"

	"go.yaml.in/yaml/v3"
)

// example is a body worth showing.
type example struct {
	Title string
	Body  template.HTML
	value node
}

// examples gives the examples of a media type, each written as JSON with its
// keys in the order of the document.
func (d document) examples(media node) []example {
	var shown []example
	for name, entry := range media.get("examples").pairs() {
		target, _ := d.resolve(entry)
		title := target.text("summary")
		if title == "" {
			title = name
		}
		value := target.get("value")
		shown = append(shown, example{
			Title: title,
			Body:  template.HTML(writeJSON(value, 0, htmlMarks)),
			value: value,
		})
	}
	return shown
}

// marks puts a token of JSON on the page, coloured or not.
type marks func(class, token string) string

func noMarks(_, token string) string { return token }

func htmlMarks(class, token string) string {
	return `<span class="` + class + `">` + html.EscapeString(token) + `</span>`
}

// writeJSON writes a YAML value as indented JSON.
func writeJSON(value node, depth int, mark marks) string {
	switch {
	case value.yaml == nil:
		return mark("word", "null")
	case value.yaml.Kind == yaml.MappingNode:
		var members []string
		for key, member := range value.pairs() {
			members = append(members, mark("key", quote(key))+": "+writeJSON(member, depth+1, mark))
		}
		return enclose("{", "}", members, depth)
	case value.yaml.Kind == yaml.SequenceNode:
		var members []string
		for _, member := range value.items() {
			members = append(members, writeJSON(member, depth+1, mark))
		}
		return enclose("[", "]", members, depth)
	default:
		return writeScalar(value, mark)
	}
}

func writeScalar(value node, mark marks) string {
	switch value.yaml.Tag {
	case "!!null":
		return mark("word", "null")
	case "!!bool":
		return mark("word", value.value())
	case "!!int", "!!float":
		return mark("number", value.value())
	default:
		return mark("str", quote(value.value()))
	}
}

func enclose(open, shut string, members []string, depth int) string {
	if len(members) == 0 {
		return open + shut
	}
	indent := strings.Repeat("  ", depth)
	return open + "\n" + indent + "  " + strings.Join(members, ",\n"+indent+"  ") + "\n" + indent + shut
}

// quote writes a JSON string as a person would: the page escapes for HTML, so
// JSON need not.
func quote(text string) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return `""`
	}
	return strings.TrimSuffix(out.String(), "\n")
}
