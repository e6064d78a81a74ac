package docsite

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// row is one line of a field table.
type row struct {
	Name        string
	Depth       int
	Type        string
	Schema      string // component that the field refers to, for the link
	Required    bool
	Nullable    bool
	Description template.HTML
	Rules       []template.HTML
	Values      []choice
	Variant     string // set on a heading between alternative shapes
}

// choice is one value that a field can have.
type choice struct {
	Value       string
	Description template.HTML
}

// shape is a schema with its references followed and "or null" taken apart.
type shape struct {
	schema      node
	name        string
	description string
	nullable    bool
	variants    []node
}

// shape reads a schema. A description beside a reference wins over the one it
// refers to.
func (d document) shape(schema node) shape {
	target, name := d.resolve(schema)
	s := shape{schema: target, name: name, description: schema.text("description")}
	if s.description == "" {
		s.description = target.text("description")
	}
	s.nullable = target.get("type").has("null")
	for _, keyword := range []string{"oneOf", "anyOf"} {
		for _, variant := range target.get(keyword).items() {
			if variant.text("type") == "null" {
				s.nullable = true
				continue
			}
			s.variants = append(s.variants, variant)
		}
	}
	if len(s.variants) != 1 {
		return s
	}
	only := d.shape(s.variants[0])
	only.nullable = only.nullable || s.nullable
	if s.description != "" {
		only.description = s.description
	}
	return only
}

// typeText names the type in words.
func (d document) typeText(s shape) string {
	if len(s.variants) > 0 {
		var names []string
		for _, variant := range s.variants {
			if name := d.typeText(d.shape(variant)); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		return strings.Join(names, " or ")
	}
	if format := s.schema.text("format"); format != "" {
		return format
	}
	if s.schema.get("additionalProperties").get("type").exists() {
		return "object of " + s.schema.get("additionalProperties").text("type") + "s"
	}
	if name := s.schema.text("type"); name != "" {
		return name
	}
	for _, name := range s.schema.get("type").items() {
		if name.value() != "null" {
			return name.value()
		}
	}
	return "any"
}

// reader walks a schema into rows. A shallow one stops at references: the
// schema section links to them instead.
type reader struct {
	document document
	shallow  bool
	// open holds the components being read, so that a schema that contains
	// itself ends.
	open []string
}

// rows lists the fields of an object and, indented, those inside them.
func (r reader) rows(s shape, depth int) []row {
	if s.name != "" {
		if slices.Contains(r.open, s.name) {
			return nil
		}
		r.open = append(slices.Clone(r.open), s.name)
	}
	var rows []row
	for name, property := range s.schema.get("properties").pairs() {
		field := r.document.shape(property)
		line := r.row(field, depth)
		line.Name = name
		line.Required = s.schema.get("required").has(name)
		rows = append(rows, line)
		if !r.shallow || field.name == "" {
			rows = append(rows, r.rows(field, depth+1)...)
		}
	}
	return append(rows, r.variantRows(s, depth)...)
}

// variantRows lists the alternatives of a schema that are objects, each under
// its title.
func (r reader) variantRows(s shape, depth int) []row {
	var rows []row
	for _, alternative := range s.variants {
		variant := r.document.shape(alternative)
		if r.document.typeText(variant) != "object" {
			continue
		}
		title := variant.schema.text("title")
		if title == "" {
			title = variant.name
		}
		rows = append(rows, row{Variant: title, Depth: depth, Schema: variant.name})
		if !r.shallow || variant.name == "" {
			rows = append(rows, r.rows(variant, depth)...)
		}
	}
	return rows
}

// row describes one schema without its fields.
func (r reader) row(s shape, depth int) row {
	return row{
		Depth:       depth,
		Type:        r.document.typeText(s),
		Schema:      s.name,
		Nullable:    s.nullable,
		Description: prose(s.description),
		Rules:       rules(s.schema),
		Values:      choices(s.schema),
	}
}

// choices lists the values of an enumeration, null apart.
func choices(schema node) []choice {
	var values []choice
	for _, value := range schema.get("enum").items() {
		if value.isNull() {
			continue
		}
		meaning := schema.get("x-enum-descriptions").text(value.value())
		values = append(values, choice{Value: value.value(), Description: inline(meaning)})
	}
	return values
}

// rules says in words what a value has to satisfy.
func rules(schema node) []template.HTML {
	var said []template.HTML
	say := func(format, key string) {
		if limit := schema.text(key); limit != "" {
			said = append(said, inline(fmt.Sprintf(format, limit)))
		}
	}
	if least, most := schema.text("minimum"), schema.text("maximum"); least != "" && most != "" {
		said = append(said, inline(least+" to "+most))
	} else {
		say("at least %s", "minimum")
		say("at most %s", "maximum")
	}
	say("more than %s", "exclusiveMinimum")
	if schema.text("minLength") == "1" {
		said = append(said, "not empty")
	}
	say("at most %s characters", "maxLength")
	say("matches `%s`", "pattern")
	return said
}
