package docsite

import (
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// reference is what the pages of one API are made of.
type reference struct {
	// prefix begins the names of its pages.
	prefix    string
	Title     string
	Version   string
	Summary   string
	Intro     template.HTML
	PublicURL string
	// Document is the name of the file that it is made of.
	Document string
	Groups   []group
	Events   []operation
	Errors   []errorEntry
	Declines []choice
	Schemas  []schemaEntry
}

// group holds the operations of one tag.
type group struct {
	Name        string
	Description template.HTML
	Operations  []operation
}

// operation is one call, or an event that is received.
type operation struct {
	ID          string
	Method      string
	Path        string
	Summary     string
	Description template.HTML
	Auth        []string
	Limit       limit
	Parameters  []row
	// query is what a call cannot do without.
	query     url.Values
	Request   *body
	Responses []response
	Samples   []template.HTML
	Event     bool
	NeedsKey  bool
	// Page is the address of the page that it stands on.
	Page string
	// Right is who may make an operator's call.
	Right string
}

// limit says how often an operation can be called.
type limit struct{ Scope, Rate, Key string }

// body is a request's or response's content.
type body struct {
	// Form tells a body that is sent as a form.
	Form     bool
	Schema   string
	Required bool
	Rows     []row
	Examples []example
}

// response is what one status means for one operation.
type response struct {
	Status      string
	Reason      string
	Success     bool
	Description template.HTML
	Headers     []row
	Body        *body
}

// errorEntry is one status of the error catalogue.
type errorEntry struct {
	Status string
	Reason string
	Causes []errorCause
}

// errorCause is a reason for a status and the operations that share it.
type errorCause struct {
	Description template.HTML
	Operations  []operation
}

// schemaEntry is one named schema.
type schemaEntry struct {
	Name string
	Self row
	Rows []row
}

// declineCodes is the schema whose values the error catalogue explains.
const declineCodes = "DeclineCode"

// readReference gathers an API's document. write gives the calls that readers copy.
func readReference(spec []byte, prefix, publicURL string, write func(operation, node) []template.HTML) (reference, error) {
	root, err := parse(spec)
	if err != nil {
		return reference{}, err
	}
	d := document{root}
	info := root.at("info")
	r := reference{
		prefix: prefix, PublicURL: publicURL,
		Title: info.text("title"), Version: info.text("version"), Summary: info.text("summary"), Intro: template.HTML(strings.ReplaceAll(string(prose(info.text("description"))), "h3>", "h2>")),
	}
	for _, tag := range root.get("tags").items() {
		r.Groups = append(r.Groups, group{Name: tag.text("name"), Description: prose(tag.text("description"))})
	}
	for path, item := range root.get("paths").pairs() {
		for _, op := range d.operations(path, item) {
			op.Page = r.pageOf(op.tag) + ".html"
			op.Samples = write(op.operation, op.sample)
			r.add(op.tag, op.operation)
		}
	}
	for name, item := range root.get("webhooks").pairs() {
		for _, op := range d.operations(name, item) {
			op.Event = true
			r.Events = append(r.Events, op.operation)
		}
	}
	r.Errors = catalogue(r.Groups)
	r.Declines = choices(root.at("components", "schemas", declineCodes))
	for name, schema := range root.at("components", "schemas").pairs() {
		r.Schemas = append(r.Schemas, d.schemaEntry(name, schema))
	}
	return r, nil
}

// pageOf is the name of the page of a tag.
func (r *reference) pageOf(tag string) string { return r.prefix + "-" + slug(tag) }

// add puts an operation under its tag; a tag that was not announced gets a
// group of its own, so that no operation is lost.
func (r *reference) add(tag string, op operation) {
	i := slices.IndexFunc(r.Groups, func(g group) bool { return g.Name == tag })
	if i < 0 {
		r.Groups = append(r.Groups, group{Name: tag})
		i = len(r.Groups) - 1
	}
	r.Groups[i].Operations = append(r.Groups[i].Operations, op)
}

// tagged is an operation with the tag that it is filed under, and a body to send.
type tagged struct {
	operation
	tag    string
	sample node
}

// methods are the keys of a path that are operations.
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

func (d document) operations(path string, item node) []tagged {
	var found []tagged
	for method, entry := range item.pairs() {
		if !slices.Contains(methods, method) {
			continue
		}
		op := tagged{operation: d.operation(strings.ToUpper(method), path, item, entry), tag: "Other"}
		if op.Request != nil && len(op.Request.Examples) > 0 {
			op.sample = op.Request.Examples[0].value
		}
		if tags := entry.get("tags").items(); len(tags) > 0 {
			op.tag = tags[0].value()
		}
		found = append(found, op)
	}
	return found
}

func (d document) operation(method, path string, item, entry node) operation {
	op := operation{
		ID:          entry.text("operationId"),
		Method:      method,
		Path:        path,
		Summary:     entry.text("summary"),
		Description: prose(entry.text("description")),
		query:       url.Values{},
		Right:       entry.text("x-least-role"),
		Limit: limit{
			Scope: entry.at("x-rate-limit").text("scope"),
			Rate:  entry.at("x-rate-limit").text("rate"),
			Key:   entry.at("x-rate-limit").text("key"),
		},
	}
	op.Auth, op.NeedsKey = d.auth(entry)
	for _, parameter := range append(item.get("parameters").items(), entry.get("parameters").items()...) {
		op.Parameters = append(op.Parameters, d.parameter(parameter))
		if needed, _ := d.resolve(parameter); needed.text("in") == "query" && needed.text("required") == "true" {
			op.query.Set(needed.text("name"), needed.text("example"))
		}
	}
	if request := entry.get("requestBody"); request.exists() {
		request, _ = d.resolve(request)
		if op.Request = d.body(request); op.Request != nil {
			op.Request.Required = request.text("required") == "true"
		}
	}
	for status, entry := range entry.get("responses").pairs() {
		op.Responses = append(op.Responses, d.response(status, entry))
	}
	return op
}

// auth lists the credentials that open an operation, any one of them, and tells
// whether one is needed at all.
func (d document) auth(entry node) (ways []string, needed bool) {
	security := entry.get("security")
	if !security.exists() {
		security = d.root.get("security")
	}
	needed = true
	for _, requirement := range security.items() {
		named := false
		for name := range requirement.pairs() {
			named = true
			ways = append(ways, "Bearer "+d.root.at("components", "securitySchemes", name).text("bearerFormat"))
		}
		if !named {
			needed = false
		}
	}
	return ways, needed && len(ways) > 0
}

func (d document) parameter(entry node) row {
	entry, _ = d.resolve(entry)
	line := reader{document: d}.row(d.shape(entry.get("schema")), 0)
	line.Name = entry.text("name")
	line.Required = entry.text("required") == "true"
	line.Description = prose(entry.text("description"))
	if place := entry.text("in"); place != "" {
		line.Type = place + ", " + line.Type
	}
	return line
}

// body reads the content of a request or response: JSON, or a form.
func (d document) body(entry node) *body {
	media, form := entry.at("content", "application/json"), false
	if !media.exists() {
		media, form = entry.at("content", "multipart/form-data"), true
	}
	if !media.exists() {
		return nil
	}
	schema := d.shape(media.get("schema"))
	return &body{Form: form, Schema: schema.name, Rows: reader{document: d}.rows(schema, 0), Examples: d.examples(media)}
}

func (d document) response(status string, entry node) response {
	entry, _ = d.resolve(entry)
	r := response{
		Status:      status,
		Success:     strings.HasPrefix(status, "2"),
		Description: prose(entry.text("description")),
		Body:        d.body(entry),
	}
	if code, err := strconv.Atoi(status); err == nil {
		r.Reason = http.StatusText(code)
	}
	for name, header := range entry.get("headers").pairs() {
		line := d.parameter(header)
		line.Name = name
		r.Headers = append(r.Headers, line)
	}
	return r
}

// catalogue turns the error answers of all operations around: by status, then
// by cause, with the operations that give it.
func catalogue(groups []group) []errorEntry {
	var entries []errorEntry
	for _, g := range groups {
		for _, op := range g.Operations {
			for _, r := range op.Responses {
				if !r.Success {
					entries = addCause(entries, op, r)
				}
			}
		}
	}
	slices.SortStableFunc(entries, func(a, b errorEntry) int { return strings.Compare(a.Status, b.Status) })
	return entries
}

// addCause adds one answer to the catalogue.
func addCause(entries []errorEntry, op operation, r response) []errorEntry {
	i := slices.IndexFunc(entries, func(e errorEntry) bool { return e.Status == r.Status })
	if i < 0 {
		entries = append(entries, errorEntry{Status: r.Status, Reason: r.Reason})
		i = len(entries) - 1
	}
	entry := &entries[i]
	j := slices.IndexFunc(entry.Causes, func(c errorCause) bool { return c.Description == r.Description })
	if j < 0 {
		entry.Causes = append(entry.Causes, errorCause{Description: r.Description})
		j = len(entry.Causes) - 1
	}
	entry.Causes[j].Operations = append(entry.Causes[j].Operations, op)
	return entries
}

func (d document) schemaEntry(name string, schema node) schemaEntry {
	shallow := reader{document: d, shallow: true}
	s := d.shape(schema)
	self := shallow.row(s, 0)
	self.Schema = ""
	return schemaEntry{Name: name, Self: self, Rows: shallow.rows(s, 0)}
}
