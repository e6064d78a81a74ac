package docsite_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"sepad"
	"sepad/internal/docsite"
)

const publicURL = "https://pay.shop.example"

// sources are those of the program.
func sources() docsite.Sources {
	return docsite.Sources{OpenAPI: sepad.OpenAPI, AdminAPI: sepad.AdminAPI, Files: sepad.Documents, PublicURL: publicURL}
}

func fetch(t *testing.T, handler http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer
}

func TestAnswersOfTheHandler(t *testing.T) {
	t.Parallel()
	handler := docsite.Handler(sources())

	t.Run("the documents are served byte for byte", func(t *testing.T) {
		t.Parallel()
		for path, want := range map[string][]byte{
			"/openapi.yaml": sepad.OpenAPI, "/docs/openapi.yaml": sepad.OpenAPI,
			"/openapi-admin.yaml": sepad.AdminAPI, "/docs/openapi-admin.yaml": sepad.AdminAPI,
		} {
			answer := fetch(t, handler, http.MethodGet, path)
			if answer.Body.String() != string(want) || answer.Header().Get("Content-Type") != "application/yaml" {
				t.Errorf("%s: type %q, %d bytes", path, answer.Header().Get("Content-Type"), answer.Body.Len())
			}
		}
	})

	t.Run("both forms of the address show the first page, each with addresses that work there", func(t *testing.T) {
		t.Parallel()
		bare, slashed := fetch(t, handler, http.MethodGet, "/docs").Body.String(), fetch(t, handler, http.MethodGet, "/docs/").Body.String()
		if !strings.Contains(slashed, ` href="api.html"`) || strings.ReplaceAll(bare, `="docs/`, `="`) != slashed {
			t.Error("the two differ in more than their addresses")
		}
		for _, address := range regexp.MustCompile(` (?:href|src)="([^"#]+)`).FindAllStringSubmatch(bare, -1) {
			if answer := fetch(t, handler, http.MethodGet, "/"+address[1]); answer.Code != http.StatusOK {
				t.Errorf("%s = %d", address[1], answer.Code)
			}
		}
	})

	t.Run("the policy is strict on every page", func(t *testing.T) {
		t.Parallel()
		for _, path := range []string{"/docs", "/docs/webhooks.html", "/docs/api-errors.html"} {
			policy := fetch(t, handler, http.MethodGet, path).Header().Get("Content-Security-Policy")
			if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
				t.Errorf("policy %q", policy)
			}
		}
	})
}

func TestUnchangedPagesAreNotSentAgain(t *testing.T) {
	t.Parallel()
	handler := docsite.Handler(sources())

	t.Run("an unchanged page is not sent again", func(t *testing.T) {
		t.Parallel()
		first := fetch(t, handler, http.MethodGet, "/docs/webhooks.html")
		tag := first.Header().Get("ETag")
		if tag == "" || first.Header().Get("Cache-Control") != "no-cache" {
			t.Fatalf("ETag %q, Cache-Control %q", tag, first.Header().Get("Cache-Control"))
		}
		again := fetch(t, handler, http.MethodGet, "/docs/webhooks.html", "If-None-Match", tag)
		if again.Code != http.StatusNotModified || again.Body.Len() != 0 {
			t.Errorf("answer %d with %d bytes, want 304 without any", again.Code, again.Body.Len())
		}
	})

	t.Run("a changed document changes the tag", func(t *testing.T) {
		t.Parallel()
		changed := sources()
		changed.OpenAPI = append([]byte("# new\n"), changed.OpenAPI...)
		if fetch(t, handler, http.MethodGet, "/openapi.yaml").Header().Get("ETag") == fetch(t, docsite.Handler(changed), http.MethodGet, "/openapi.yaml").Header().Get("ETag") {
			t.Error("two documents share a tag")
		}
	})
}

func TestRefusalsOfTheHandler(t *testing.T) {
	t.Parallel()
	handler := docsite.Handler(sources())

	t.Run("other methods are refused with Allow", func(t *testing.T) {
		t.Parallel()
		answer := fetch(t, handler, http.MethodPost, "/docs")
		if answer.Code != http.StatusMethodNotAllowed || answer.Header().Get("Allow") != "GET, HEAD" || !strings.Contains(answer.Body.String(), `"status_code":405`) {
			t.Errorf("answer %d, Allow %q: %s", answer.Code, answer.Header().Get("Allow"), answer.Body)
		}
	})

	t.Run("other paths, templates and sources are not found", func(t *testing.T) {
		t.Parallel()
		for _, path := range []string{
			"/docs/layout.html", "/docs/reference.html", "/docs/none.css", "/style.css", "/docs//style.css", "/docs/style.css/",
			"/docs/guides/webhooks.md", "/docs/../openapi.go", "/index.html", "/webhooks.html",
		} {
			answer := fetch(t, handler, http.MethodGet, path)
			if answer.Code != http.StatusNotFound || !strings.Contains(answer.Body.String(), `"status_code":404`) {
				t.Errorf("%s = %d: %s", path, answer.Code, answer.Body)
			}
		}
	})

	t.Run("a document that cannot be read is a 500 that says nothing internal", func(t *testing.T) {
		t.Parallel()
		for _, spec := range []string{"", "- a list", "a: [", "just text"} {
			broken := sources()
			broken.OpenAPI = []byte(spec)
			answer := fetch(t, docsite.Handler(broken), http.MethodGet, "/docs")
			if answer.Code != http.StatusInternalServerError || strings.Contains(answer.Body.String(), "yaml") {
				t.Errorf("document %q: %d %s", spec, answer.Code, answer.Body)
			}
		}
	})
}

func TestHostileTextIsEscaped(t *testing.T) {
	t.Parallel()
	const attack = `"><script>alert(1)</script>{{.}}&lt;`
	quoted := "'" + strings.ReplaceAll(attack, "'", "''") + "'"
	hostile := sources()
	hostile.OpenAPI = []byte(strings.ReplaceAll(`
openapi: 3.1.0
info: {title: X, version: X, summary: X, description: X}
tags: [{name: X, description: X}]
paths:
  X:
    post:
      operationId: X
      summary: X
      description: X
      tags: [X]
      x-rate-limit: {scope: X, rate: X, key: X}
      security: [{X: []}]
      parameters: [{name: X, in: X, description: X, schema: {type: X, pattern: X, maxLength: X}}]
      requestBody:
        content:
          application/json:
            schema: {$ref: '#/components/schemas/Thing'}
            examples: {X: {summary: X, value: {X: X, list: [X, 1, true, null]}}}
      responses:
        X: {description: X, headers: {X: {description: X}}}
webhooks:
  X: {post: {operationId: X, summary: X}}
components:
  securitySchemes: {X: {bearerFormat: X}}
  schemas:
    Thing:
      description: X
      properties: {X: {type: string, enum: [X], x-enum-descriptions: {X: X}, description: X}}
      oneOf: [{type: object, title: X}, {type: object, title: X}]
    X: {type: X, format: X}
    DeclineCode: {enum: [X]}
`, "X", quoted))
	site, err := docsite.Build(hostile)
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for name, content := range site {
		page := string(content)
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		if strings.Contains(page, "<script>alert") {
			t.Errorf("a script of the document reached %s", name)
		}
		if tags := strings.Count(page, "<script"); tags != 1 {
			t.Errorf("%s has %d script tags, want the one of our own", name, tags)
		}
		shown += strings.Count(page, html.EscapeString("<script>alert(1)</script>"))
	}
	if shown < 20 {
		t.Errorf("the hostile text is shown as text %d times", shown)
	}
}
