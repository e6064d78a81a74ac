package apidoc_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"sepad"
	"sepad/internal/apidoc"
)

const publicURL = "https://pay.shop.example"

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

func readPage(t *testing.T, spec []byte) string {
	t.Helper()
	answer := fetch(t, apidoc.Handler(spec, sepad.Guides, publicURL), http.MethodGet, "/docs")
	if answer.Code != http.StatusOK {
		t.Fatalf("GET /docs = %d: %s", answer.Code, answer.Body)
	}
	return answer.Body.String()
}

// section cuts the part of the page that an anchor begins.
func section(t *testing.T, page, id string) string {
	t.Helper()
	_, after, found := strings.Cut(page, `<article class="block operation" id="`+id+`">`)
	if !found {
		t.Fatalf("the page has no operation %s", id)
	}
	part, _, _ := strings.Cut(after, "</article>")
	return part
}

func load(t *testing.T) *openapi3.T {
	t.Helper()
	document, err := openapi3.NewLoader().LoadFromData(sepad.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

func TestThePageShowsTheWholeDocument(t *testing.T) {
	t.Parallel()
	page, document := readPage(t, sepad.OpenAPI), load(t)

	t.Run("every operation with its address, statuses and fields", func(t *testing.T) {
		t.Parallel()
		for path, item := range document.Paths.Map() {
			for method, operation := range item.Operations() {
				part := section(t, page, operation.OperationID)
				wanted := []string{">" + method + "</span>", "<code>" + path + "</code>", operation.Summary, "curl "}
				for status := range operation.Responses.Map() {
					wanted = append(wanted, ">"+status+"</span>")
				}
				if operation.RequestBody != nil {
					for field := range operation.RequestBody.Value.Content.Get("application/json").Schema.Value.Properties {
						wanted = append(wanted, "<code>"+field+"</code>")
					}
				}
				for _, text := range wanted {
					if !strings.Contains(part, text) {
						t.Errorf("operation %s does not show %q", operation.OperationID, text)
					}
				}
			}
		}
	})

	t.Run("every event", func(t *testing.T) {
		t.Parallel()
		for name, item := range document.Webhooks {
			if part := section(t, page, item.Post.OperationID); !strings.Contains(part, "<code>"+name+"</code>") {
				t.Errorf("event %s is not shown", name)
			}
		}
	})

	t.Run("every schema with its fields and values", func(t *testing.T) {
		t.Parallel()
		for name, schema := range document.Components.Schemas {
			_, after, found := strings.Cut(page, `id="schema-`+name+`"`)
			if !found {
				t.Errorf("schema %s is not shown", name)
				continue
			}
			part, _, _ := strings.Cut(after, "</article>")
			for field := range schema.Value.Properties {
				if !strings.Contains(part, "<code>"+field+"</code>") {
					t.Errorf("schema %s does not show field %s", name, field)
				}
			}
		}
	})

	t.Run("every example", func(t *testing.T) {
		t.Parallel()
		for name, example := range document.Components.Examples {
			if !strings.Contains(page, html.EscapeString(example.Value.Summary)) {
				t.Errorf("example %s is not shown", name)
			}
		}
	})
}

func TestAnchorsOfThePage(t *testing.T) {
	t.Parallel()
	page := readPage(t, sepad.OpenAPI)

	t.Run("every link within the page has a target", func(t *testing.T) {
		t.Parallel()
		for _, link := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1) {
			if !strings.Contains(page, `id="`+link[1]+`"`) {
				t.Errorf("link to #%s leads nowhere", link[1])
			}
		}
	})

	t.Run("no anchor stands twice", func(t *testing.T) {
		t.Parallel()
		seen := map[string]bool{}
		for _, anchor := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
			if seen[anchor[1]] {
				t.Errorf("anchor %s stands twice", anchor[1])
			}
			seen[anchor[1]] = true
		}
	})
}

func TestCallsToCopyAreReadyForTheShell(t *testing.T) {
	t.Parallel()
	page := readPage(t, sepad.OpenAPI)
	for id, text := range map[string]string{
		"createSession":    `curl "` + publicURL + `/api/v1/payment-sessions/" \`,
		"listTransactions": `curl "` + publicURL + `/api/v1/reconciliation/transactions/?start_date=2026-03-01" \`,
		"retrieveSession":  `curl "` + publicURL + `/api/v1/payment-sessions/$TOKEN/"`,
		"cancelSession":    `curl -X POST "` + publicURL + `/api/v1/payment-sessions/$TOKEN/cancel/" \` + "\n" + `  -H "Authorization: Bearer $API_KEY"`,
	} {
		if part := html.UnescapeString(section(t, page, id)); !strings.Contains(part, text) {
			t.Errorf("operation %s lacks the call %q", id, text)
		}
	}
	if part := html.UnescapeString(section(t, page, "paySession")); strings.Contains(part, "$API_KEY") {
		t.Error("pay needs no API key, but its call sends one")
	}
}

func TestThePageAsksNoOtherHost(t *testing.T) {
	t.Parallel()
	handler := apidoc.Handler(sepad.OpenAPI, sepad.Guides, publicURL)
	page := fetch(t, handler, http.MethodGet, "/docs").Body.String()

	for _, attribute := range regexp.MustCompile(`(?:href|src|action|srcset|data)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if address := attribute[1]; !strings.HasPrefix(address, "#") && (!strings.HasPrefix(address, "/") || strings.HasPrefix(address, "//")) {
			t.Errorf("the page refers to %s", address)
		}
	}
	for _, pattern := range []string{`<style`, ` style="`, `<script>`, ` on[a-z]+="`, `<base`, `<iframe`} {
		if found := regexp.MustCompile(pattern).FindString(page); found != "" {
			t.Errorf("the page contains %q, which the policy forbids", found)
		}
	}
	for _, asset := range []string{"/docs/tokens.css", "/docs/style.css", "/docs/copy.js"} {
		content := fetch(t, handler, http.MethodGet, asset).Body.String()
		if found := regexp.MustCompile(`https?:|url\(|@import|fetch\(`).FindString(content); found != "" {
			t.Errorf("%s contains %q", asset, found)
		}
	}
}

func TestHostileTextIsEscaped(t *testing.T) {
	t.Parallel()
	const attack = `"><script>alert(1)</script>{{.}}&lt;`
	quoted := "'" + strings.ReplaceAll(attack, "'", "''") + "'"
	spec := strings.ReplaceAll(`
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
`, "X", quoted)
	page := readPage(t, []byte(spec))
	if strings.Contains(page, "<script>alert") {
		t.Error("a script of the document reached the page")
	}
	if strings.Count(page, html.EscapeString("<script>alert(1)</script>")) < 20 {
		t.Error("the hostile text is not shown as text")
	}
	if tags := strings.Count(page, "<script"); tags != 1 {
		t.Errorf("the page has %d script tags, want the one of our own", tags)
	}
}

func TestAnswersOfTheHandler(t *testing.T) {
	t.Parallel()
	handler := apidoc.Handler(sepad.OpenAPI, sepad.Guides, publicURL)

	t.Run("the document is served byte for byte", func(t *testing.T) {
		t.Parallel()
		answer := fetch(t, handler, http.MethodGet, "/openapi.yaml")
		if answer.Body.String() != string(sepad.OpenAPI) || answer.Header().Get("Content-Type") != "application/yaml" {
			t.Errorf("type %q, %d bytes", answer.Header().Get("Content-Type"), answer.Body.Len())
		}
	})

	t.Run("both forms of the address show the page", func(t *testing.T) {
		t.Parallel()
		bare, slashed := fetch(t, handler, http.MethodGet, "/docs"), fetch(t, handler, http.MethodGet, "/docs/")
		if bare.Code != http.StatusOK || bare.Body.String() != slashed.Body.String() {
			t.Errorf("/docs = %d, /docs/ = %d", bare.Code, slashed.Code)
		}
	})

	t.Run("the policy is strict", func(t *testing.T) {
		t.Parallel()
		policy := fetch(t, handler, http.MethodGet, "/docs").Header().Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
			t.Errorf("policy %q", policy)
		}
	})
}

func TestUnchangedPagesAreNotSentAgain(t *testing.T) {
	t.Parallel()
	handler := apidoc.Handler(sepad.OpenAPI, sepad.Guides, publicURL)

	t.Run("an unchanged page is not sent again", func(t *testing.T) {
		t.Parallel()
		first := fetch(t, handler, http.MethodGet, "/docs")
		tag := first.Header().Get("ETag")
		if tag == "" || first.Header().Get("Cache-Control") != "no-cache" {
			t.Fatalf("ETag %q, Cache-Control %q", tag, first.Header().Get("Cache-Control"))
		}
		again := fetch(t, handler, http.MethodGet, "/docs", "If-None-Match", tag)
		if again.Code != http.StatusNotModified || again.Body.Len() != 0 {
			t.Errorf("answer %d with %d bytes, want 304 without any", again.Code, again.Body.Len())
		}
	})

	t.Run("a changed document changes the tag", func(t *testing.T) {
		t.Parallel()
		other := apidoc.Handler(append([]byte("# new\n"), sepad.OpenAPI...), sepad.Guides, publicURL)
		if fetch(t, handler, http.MethodGet, "/openapi.yaml").Header().Get("ETag") == fetch(t, other, http.MethodGet, "/openapi.yaml").Header().Get("ETag") {
			t.Error("two documents share a tag")
		}
	})
}

func TestRefusalsOfTheHandler(t *testing.T) {
	t.Parallel()
	handler := apidoc.Handler(sepad.OpenAPI, sepad.Guides, publicURL)

	t.Run("other methods are refused with Allow", func(t *testing.T) {
		t.Parallel()
		answer := fetch(t, handler, http.MethodPost, "/docs")
		if answer.Code != http.StatusMethodNotAllowed || answer.Header().Get("Allow") != "GET, HEAD" || !strings.Contains(answer.Body.String(), `"status_code":405`) {
			t.Errorf("answer %d, Allow %q: %s", answer.Code, answer.Header().Get("Allow"), answer.Body)
		}
	})

	t.Run("other paths and templates are not found", func(t *testing.T) {
		t.Parallel()
		for _, path := range []string{"/docs/page.html", "/docs/none.css", "/style.css", "/docs//style.css", "/docs/style.css/"} {
			answer := fetch(t, handler, http.MethodGet, path)
			if answer.Code != http.StatusNotFound || !strings.Contains(answer.Body.String(), `"status_code":404`) {
				t.Errorf("%s = %d: %s", path, answer.Code, answer.Body)
			}
		}
	})

	t.Run("a document that cannot be read is a 500 that says nothing internal", func(t *testing.T) {
		t.Parallel()
		for _, spec := range []string{"", "- a list", "a: [", "just text"} {
			answer := fetch(t, apidoc.Handler([]byte(spec), sepad.Guides, publicURL), http.MethodGet, "/docs")
			if answer.Code != http.StatusInternalServerError || strings.Contains(answer.Body.String(), "yaml") {
				t.Errorf("document %q: %d %s", spec, answer.Code, answer.Body)
			}
		}
	})
}

func TestTheReferenceLeadsToGuidesAndTestAccounts(t *testing.T) {
	t.Parallel()
	handler := apidoc.Handler(sepad.OpenAPI, sepad.Guides, publicURL)
	docs := fetch(t, handler, http.MethodGet, "/docs").Body.String()
	for _, wanted := range []string{`<a href="/docs/guides/hosted-page.md">The hosted payment page</a>`, "DE89370400440532013000", "Approved at once."} {
		if !strings.Contains(docs, wanted) {
			t.Errorf("%s is missing", wanted)
		}
	}
	guide := fetch(t, handler, http.MethodGet, "/docs/guides/hosted-page.md")
	if !strings.HasPrefix(guide.Body.String(), "# The hosted payment page") || guide.Header().Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("the guide is %s", guide.Header().Get("Content-Type"))
	}
	for _, path := range []string{"/docs/guides/none.md", "/docs/guides/", "/docs/guides/../openapi.go"} {
		if answer := fetch(t, handler, http.MethodGet, path); answer.Code != http.StatusNotFound {
			t.Errorf("%s: status %d", path, answer.Code)
		}
	}
}
