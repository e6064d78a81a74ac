package apptest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"sepad"
)

// witness is a transport that holds every exchange against the document of its API,
// openapi.yaml or openapi-admin.yaml: each answer, and each request that was accepted.
type witness struct{ base http.RoundTripper }

// exchange is what the test says about a request, in its context.
type exchange struct {
	t testing.TB
	// undocumented marks a request that is taken although the document does
	// not promise it.
	undocumented bool
}

type exchangeKey struct{}

func (w *witness) RoundTrip(r *http.Request) (*http.Response, error) {
	request, err := readAll(&r.Body)
	if err != nil {
		return nil, err
	}
	response, err := w.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer, err := readAll(&response.Body)
	if err != nil {
		return nil, err
	}
	about, ok := r.Context().Value(exchangeKey{}).(exchange)
	if !ok || r.Method == http.MethodHead {
		return response, nil
	}
	if err := check(r, request, response, answer, about.undocumented); err != nil {
		about.t.Errorf("%s %s answered %d, against its document: %v\n%s", r.Method, r.URL.Path, response.StatusCode, err, answer)
	}
	return response, nil
}

// CloseIdleConnections is passed on: http.Client asks its transport for it.
func (w *witness) CloseIdleConnections() {
	if t, ok := w.base.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

// readAll reads a body and puts it back.
func readAll(body *io.ReadCloser) ([]byte, error) {
	if *body == nil {
		return nil, nil
	}
	defer (*body).Close()
	text, err := io.ReadAll(*body)
	*body = io.NopCloser(bytes.NewReader(text))
	return text, err
}

func check(r *http.Request, request []byte, response *http.Response, answer []byte, undocumented bool) error {
	doc, err := documentOf(r.URL.Path)
	if err != nil {
		return err
	}
	operation := doc.find(r.Method, r.URL.EscapedPath())
	if operation == nil {
		return checkUnrouted(r, response, answer)
	}
	promised := operation.Responses.Value(strconv.Itoa(response.StatusCode))
	if promised == nil {
		return fmt.Errorf("the status is not documented")
	}
	doc.saw(operation, response.StatusCode)
	if len(promised.Value.Content) == 0 {
		if len(answer) > 0 {
			return fmt.Errorf("no body is documented")
		}
		return nil
	}
	if !isOther(promised.Value.Content, response.Header) {
		if err := doc.fits(promised.Value.Content, answer); err != nil {
			return err
		}
	}
	if err := checkHeaders(promised.Value, response.Header); err != nil {
		return err
	}
	if response.StatusCode >= http.StatusMultipleChoices || undocumented {
		return nil
	}
	return doc.checkRequest(operation, r, request)
}

// checkUnrouted is for what the document says of all paths in prose: a refusal
// has a detail and a status code.
func checkUnrouted(r *http.Request, response *http.Response, answer []byte) error {
	if response.StatusCode < http.StatusBadRequest || !strings.HasPrefix(r.URL.Path, "/api/") {
		return nil
	}
	var body struct {
		Detail     string `json:"detail"`
		StatusCode int    `json:"status_code"`
	}
	if err := json.Unmarshal(answer, &body); err != nil || body.Detail == "" || body.StatusCode != response.StatusCode {
		return fmt.Errorf("a refusal without detail and status_code")
	}
	return nil
}

// isOther tells an answer in a documented format beside JSON, whose content the
// document does not describe any further.
func isOther(promised openapi3.Content, got http.Header) bool {
	kind, _, _ := strings.Cut(got.Get("Content-Type"), ";")
	return kind != "application/json" && promised[kind] != nil
}

func checkHeaders(promised *openapi3.Response, got http.Header) error {
	if kind := got.Get("Content-Type"); kind != "application/json" && !isOther(promised.Content, got) {
		return fmt.Errorf("the media type is %q", kind)
	}
	for name, header := range promised.Headers {
		if header.Value.Required && got.Get(name) == "" {
			return fmt.Errorf("the header %s is missing", name)
		}
	}
	return nil
}

func (d *apiDocument) checkRequest(operation *openapi3.Operation, r *http.Request, body []byte) error {
	security := &d.Security
	if operation.Security != nil {
		security = operation.Security
	}
	if len(*security) > 0 && len((*security)[0]) > 0 && r.Header.Get("Authorization") == "" {
		return fmt.Errorf("the request has no credential and was accepted")
	}
	if operation.RequestBody == nil || len(body) == 0 && !operation.RequestBody.Value.Required || isForm(operation.RequestBody.Value) {
		return nil
	}
	if err := d.fits(operation.RequestBody.Value.Content, body); err != nil {
		return fmt.Errorf("the request was accepted: %w", err)
	}
	return nil
}

// isForm tells a body of parts, whose fields its handler reads as text.
func isForm(body *openapi3.RequestBody) bool { return body.Content["multipart/form-data"] != nil }

// apiDocument is an API's document and what of it was seen.
type apiDocument struct {
	*openapi3.T
	mu   sync.Mutex
	seen map[string]bool
	// schemas are what bodies must fit, and known those that were found to, as many equal refusals.
	schemas schemas
	known   sync.Map
}

var (
	document      = sync.OnceValues(func() (*apiDocument, error) { return loadDocument(sepad.OpenAPI) })
	adminDocument = sync.OnceValues(func() (*apiDocument, error) { return loadDocument(sepad.AdminAPI) })
)

// HoldsOperators has operators' exchanges held against their document, too.
var HoldsOperators bool

// documentOf is the document of the API that a path belongs to.
func documentOf(path string) (*apiDocument, error) {
	if HoldsOperators && (strings.HasPrefix(path, "/admin/") || strings.HasPrefix(path, "/pay/preview/")) {
		return adminDocument()
	}
	return document()
}

func loadDocument(text []byte) (*apiDocument, error) {
	loaded, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	return &apiDocument{
		T: loaded, seen: map[string]bool{},
		schemas: schemas{components: loaded.Components, compiled: map[*openapi3.Schema]*jsonschema.Schema{}},
	}, nil
}

// fits holds a JSON text against the schema of a body.
func (d *apiDocument) fits(content openapi3.Content, text []byte) error {
	media := content.Get("application/json")
	if media == nil {
		return fmt.Errorf("no JSON body is documented")
	}
	body := fitting{media.Schema.Value, string(text)}
	if _, known := d.known.Load(body); known {
		return nil
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return fmt.Errorf("the body is no JSON: %w", err)
	}
	err := d.schemas.validate(body.schema, value)
	if err == nil {
		d.known.Store(body, true)
	}
	return err
}

// fitting is a body that fits a schema.
type fitting struct {
	schema *openapi3.Schema
	text   string
}

// find gives the documented operation of a method and path, nil for none.
func (d *apiDocument) find(method, path string) *openapi3.Operation {
	var found *openapi3.Operation
	for pattern, item := range d.Paths.Map() {
		operation := item.Operations()[method]
		if operation == nil || !matches(pattern, path) {
			continue
		}
		if pattern == path {
			return operation // no parameter stands for a word that is written out
		}
		found = operation
	}
	return found
}

// matches compares piece by piece; one in braces stands for any.
func matches(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if want[i] != got[i] && (!strings.HasPrefix(want[i], "{") || got[i] == "") {
			return false
		}
	}
	return true
}

func (d *apiDocument) saw(operation *openapi3.Operation, status int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen[operation.OperationID+" "+strconv.Itoa(status)] = true
}

// unseen lists what the document promises and no exchange has shown.
func (d *apiDocument) unseen() (missing []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, item := range d.Paths.Map() {
		for _, operation := range item.Operations() {
			for status := range operation.Responses.Map() {
				if name := operation.OperationID + " " + status; !d.seen[name] {
					missing = append(missing, name)
				}
			}
		}
	}
	return missing
}

// withExchange tells the witness who asks.
func withExchange(about exchange) context.Context {
	return context.WithValue(about.t.Context(), exchangeKey{}, about)
}
