package docsite

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"
)

// Prefixes of the pages of both references.
const (
	merchantPrefix = "api"
	operatorPrefix = "operator-api"
)

// merchantReference are the pages of the merchants' API.
func (s Sources) merchantReference() (*section, error) {
	write := func(op operation, body node) []template.HTML { return merchantSamples(s.PublicURL, op, body) }
	r, err := readReference(s.OpenAPI, merchantPrefix, s.PublicURL, write)
	if err != nil {
		return nil, err
	}
	r.Document = merchantDocument
	return r.pages("Merchant API")
}

// operatorReference are the pages of the operators' API.
func (s Sources) operatorReference() (*section, error) {
	write := func(op operation, body node) []template.HTML { return operatorSamples(s.PublicURL, op, body) }
	r, err := readReference(s.AdminAPI, operatorPrefix, s.PublicURL, write)
	if err != nil {
		return nil, err
	}
	r.Document = operatorDocument
	return r.pages("Operator API")
}

// referencePage is one page of a reference before it is rendered.
type referencePage struct {
	name, title, summary, template string
	data                           any
	contents                       []heading
	found                          []passage
}

// pages renders a reference: an introduction, a page for each tag, events, errors,
// schemas.
func (r *reference) pages(name string) (*section, error) {
	plan := []referencePage{{
		name: r.prefix, title: "Introduction", summary: r.Summary, template: "introduction", data: r,
		found: []passage{{Title: r.Title, Text: r.Summary + " " + strip(r.Intro)}},
	}}
	for _, g := range r.Groups {
		plan = append(plan, operationsPage(r.pageOf(g.Name), g))
	}
	if len(r.Events) > 0 {
		plan = append(plan, operationsPage(r.prefix+"-webhooks", group{
			Name: "Webhooks", Operations: r.Events, Description: "<p>What sepad sends to the address of your webhook profile, field by field.</p>",
		}))
	}
	plan = append(plan, r.errorsPage(), r.schemasPage())
	made := &section{Name: name}
	for _, p := range plan {
		rendered, err := r.render(p)
		if err != nil {
			return nil, err
		}
		rendered.Section = name
		made.Pages = append(made.Pages, rendered)
	}
	return made, nil
}

func operationsPage(name string, g group) referencePage {
	p := referencePage{name: name, title: g.Name, summary: strip(g.Description), template: "group", data: g}
	p.found = append(p.found, passage{Title: g.Name, Text: p.summary})
	for _, op := range g.Operations {
		entry := heading{ID: op.ID, Text: op.Summary, Level: 2, Method: op.Method}
		if op.Event {
			entry.Text, entry.Method = op.Path, ""
		}
		p.contents = append(p.contents, entry)
		words := []string{op.Method, op.Path, strip(op.Description)}
		for _, line := range op.Parameters {
			words = append(words, line.Name, strip(line.Description))
		}
		if op.Request != nil {
			for _, line := range op.Request.Rows {
				words = append(words, line.Name, strip(line.Description))
			}
		}
		p.found = append(p.found, passage{ID: op.ID, Title: op.Summary, Text: strings.Join(words, " ")})
	}
	return p
}

func (r *reference) errorsPage() referencePage {
	p := referencePage{
		name: r.prefix + "-errors", title: "Error catalogue", template: "errors", data: r,
		summary: "Every status that a call can be answered with, and why.",
	}
	p.found = append(p.found, passage{Title: p.title, Text: p.summary})
	for _, e := range r.Errors {
		p.contents = append(p.contents, heading{ID: "error-" + e.Status, Text: e.Status + " " + e.Reason, Level: 2})
		var words []string
		for _, cause := range e.Causes {
			words = append(words, strip(cause.Description))
		}
		p.found = append(p.found, passage{ID: "error-" + e.Status, Title: e.Status + " " + e.Reason, Text: strings.Join(words, " ")})
	}
	if len(r.Declines) > 0 {
		p.contents = append(p.contents, heading{ID: "decline-codes", Text: "Decline codes", Level: 2})
		var words []string
		for _, code := range r.Declines {
			words = append(words, code.Value, strip(code.Description))
		}
		p.found = append(p.found, passage{ID: "decline-codes", Title: "Decline codes", Text: strings.Join(words, " ")})
	}
	return p
}

func (r *reference) schemasPage() referencePage {
	p := referencePage{
		name: r.prefix + "-schemas", title: "Schemas", template: "schemas", data: r,
		summary: "The named parts that requests and answers are made of.",
	}
	for _, s := range r.Schemas {
		p.contents = append(p.contents, heading{ID: "schema-" + s.Name, Text: s.Name, Level: 2})
		var words []string
		for _, line := range s.Rows {
			words = append(words, line.Name)
		}
		p.found = append(p.found, passage{ID: "schema-" + s.Name, Title: s.Name, Text: strings.Join(words, " ")})
	}
	return p
}

func (r *reference) render(p referencePage) (*page, error) {
	links := template.FuncMap{"schemas": func() string { return r.prefix + "-schemas.html" }}
	parts, err := template.New("").Funcs(links).ParseFS(assets, "assets/reference.html")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := parts.ExecuteTemplate(&out, p.template, p.data); err != nil {
		return nil, fmt.Errorf("render %s: %w", p.name, err)
	}
	return &page{
		Name: p.name, Title: p.title, Summary: p.summary, Body: template.HTML(out.String()),
		Contents: p.contents, IsReference: true, found: p.found,
	}, nil
}

// strip is markup of our own without its tags.
func strip(markup template.HTML) string {
	var out strings.Builder
	inTag := false
	for _, r := range string(markup) {
		switch {
		case r == '<':
			inTag = true
			out.WriteByte(' ')
		case r == '>':
			inTag = false
		case !inTag:
			out.WriteRune(r)
		}
	}
	return unescape.Replace(strings.Join(strings.Fields(out.String()), " "))
}

// unescape takes back what prose has escaped.
var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&#34;", `"`, "&#39;", "'", "&amp;", "&", " .", ".", " ,", ",")
