package docsite_test

import (
	"encoding/json"
	"html"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"sepad"
	"sepad/internal/docsite"
)

// built is the site of this program, made once.
var built = sync.OnceValues(func() (docsite.Site, error) { return docsite.Build(sources()) })

func build(t *testing.T) docsite.Site {
	t.Helper()
	site, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return site
}

// pagesOf are the pages of a site, by their names.
func pagesOf(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	for name, content := range build(t) {
		if strings.HasSuffix(name, ".html") {
			pages[name] = string(content)
		}
	}
	return pages
}

// all is the text of every page whose name begins so.
func all(t *testing.T, prefix string) string {
	t.Helper()
	var text strings.Builder
	pages := pagesOf(t)
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		if strings.HasPrefix(name, prefix) {
			text.WriteString(pages[name])
		}
	}
	return text.String()
}

// section cuts the part of the pages that an anchor begins.
func section(t *testing.T, pages, id string) string {
	t.Helper()
	_, after, found := strings.Cut(pages, `<article class="block operation" id="`+id+`">`)
	if !found {
		t.Fatalf("the pages have no operation %s", id)
	}
	part, _, _ := strings.Cut(after, "</article>")
	return part
}

func load(t *testing.T, spec []byte) *openapi3.T {
	t.Helper()
	document, err := openapi3.NewLoader().LoadFromData(spec)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

func TestTheReferencesShowTheWholeDocuments(t *testing.T) {
	t.Parallel()
	for prefix, spec := range map[string][]byte{"api": sepad.OpenAPI, "operator-api": sepad.AdminAPI} {
		pages, document := all(t, prefix), load(t, spec)
		for path, item := range document.Paths.Map() {
			for method, operation := range item.Operations() {
				part := section(t, pages, operation.OperationID)
				wanted := []string{">" + method + "</span>", "<code>" + path + "</code>", html.EscapeString(operation.Summary), `<p class="caption">curl</p>`}
				for status := range operation.Responses.Map() {
					wanted = append(wanted, ">"+status+"</span>")
				}
				if operation.RequestBody != nil {
					for _, media := range operation.RequestBody.Value.Content {
						for field := range media.Schema.Value.Properties {
							wanted = append(wanted, "<code>"+field+"</code>")
						}
					}
				}
				for _, text := range wanted {
					if !strings.Contains(part, text) {
						t.Errorf("operation %s does not show %q", operation.OperationID, text)
					}
				}
			}
		}
		for name, item := range document.Webhooks {
			if part := section(t, pages, item.Post.OperationID); !strings.Contains(part, "<code>"+name+"</code>") {
				t.Errorf("event %s is not shown", name)
			}
		}
		for name, schema := range document.Components.Schemas {
			_, after, found := strings.Cut(pages, `id="schema-`+name+`"`)
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
		for name, example := range document.Components.Examples {
			if !strings.Contains(pages, html.EscapeString(example.Value.Summary)) {
				t.Errorf("example %s is not shown", name)
			}
		}
	}
}

var (
	linkPattern   = regexp.MustCompile(`<a [^>]*href="([^"]*)"`)
	loadPattern   = regexp.MustCompile(`<(?:link|script|img|iframe|source)[^>]* (?:href|src|srcset)="([^"]*)"`)
	anchorPattern = regexp.MustCompile(` id="([^"]+)"`)
)

func TestNoLinkIsBroken(t *testing.T) {
	t.Parallel()
	site, pages := build(t), pagesOf(t)
	walked := 0
	for name, page := range pages {
		for _, link := range linkPattern.FindAllStringSubmatch(page, -1) {
			address, err := url.Parse(html.UnescapeString(link[1]))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if address.IsAbs() {
				continue // another site; nobody is asked in tests
			}
			walked++
			target := address.Path
			if target == "" {
				target = name
			}
			if site[target] == nil {
				t.Errorf("%s links %s, which is not there", name, link[1])
			} else if address.Fragment != "" && !strings.Contains(pages[target], ` id="`+html.EscapeString(address.Fragment)+`"`) {
				t.Errorf("%s links %s, where there is no such part", name, link[1])
			}
		}
		for _, file := range loadPattern.FindAllStringSubmatch(page, -1) {
			if site[file[1]] == nil {
				t.Errorf("%s loads %s, which is not there", name, file[1])
			}
		}
	}
	if walked < 1000 {
		t.Errorf("only %d links were walked", walked)
	}
}

func TestNoAnchorStandsTwice(t *testing.T) {
	t.Parallel()
	for name, page := range pagesOf(t) {
		seen := map[string]bool{}
		for _, anchor := range anchorPattern.FindAllStringSubmatch(page, -1) {
			if seen[anchor[1]] {
				t.Errorf("%s: anchor %s stands twice", name, anchor[1])
			}
			seen[anchor[1]] = true
		}
	}
}

// TestLinksOfTheTextsLeadSomewhere: links of texts to files that are no page
// lose their link on the site; in the repository they must lead somewhere.
func TestLinksOfTheTextsLeadSomewhere(t *testing.T) {
	t.Parallel()
	texts, err := filepath.Glob("../../docs/guides/*.md")
	if err != nil || len(texts) < 10 {
		t.Fatalf("%d guides: %v", len(texts), err)
	}
	more, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	texts = append(texts, more...)
	texts = append(texts, "../../README.md", "../../CHANGELOG.md")
	for _, path := range texts {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`).FindAllStringSubmatch(string(content), -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), link[1])); err != nil {
				t.Errorf("%s links %s, which is not there", path, link[1])
			}
		}
	}
}

func TestThePagesAskNoOtherHost(t *testing.T) {
	t.Parallel()
	for name, content := range build(t) {
		text := string(content)
		switch filepath.Ext(name) {
		case ".html":
			for _, file := range loadPattern.FindAllStringSubmatch(text, -1) {
				if strings.ContainsAny(file[1], ":/") {
					t.Errorf("%s loads %s", name, file[1])
				}
			}
			for _, pattern := range []string{`<style`, ` style="`, `<script>`, `<[^>]* on[a-z]+="`, `<base`, `<iframe`, `<form`} {
				if found := regexp.MustCompile(pattern).FindString(text); found != "" {
					t.Errorf("%s contains %q, which the policy forbids", name, found)
				}
			}
		case ".css", ".js":
			if name == "search-index.js" {
				continue // it is text
			}
			if found := regexp.MustCompile(`https?:|url\(|@import|fetch\(|eval\(|innerHTML`).FindString(text); found != "" {
				t.Errorf("%s contains %q", name, found)
			}
		}
	}
}

func TestCallsToCopyAreReady(t *testing.T) {
	t.Parallel()
	pages := all(t, "api")
	tag := regexp.MustCompile(`</?span[^>]*>`)
	for id, wanted := range map[string][]string{
		"createSession": {
			`curl "` + publicURL + `/api/v1/payment-sessions/" \`,
			`client := sepad.New("` + publicURL + `", os.Getenv("API_KEY"))`,
			"CampaignID: \"018f0000-0000-7000-8000-000000000050\",\n\tLead: sepad.Lead{\n\t\tFirstName: \"Ada\",",
			"const created = await sepad.createSession({\n  campaign_id: \"018f0000",
			"data=json.dumps({\n      \"campaign_id\"",
		},
		"listTransactions": {`curl "` + publicURL + `/api/v1/reconciliation/transactions/?start_date=2026-03-01" \`},
		"retrieveSession":  {`curl "` + publicURL + `/api/v1/payment-sessions/$TOKEN/"`, `f"` + publicURL + `/api/v1/payment-sessions/{token}/"`},
		"cancelSession":    {`curl -X POST "` + publicURL + `/api/v1/payment-sessions/$TOKEN/cancel/" \` + "\n" + `  -H "Authorization: Bearer $API_KEY"`},
	} {
		part := html.UnescapeString(tag.ReplaceAllString(section(t, pages, id), ""))
		for _, text := range wanted {
			if !strings.Contains(part, text) {
				t.Errorf("operation %s lacks %q", id, text)
			}
		}
	}
	curl, _, _ := strings.Cut(html.UnescapeString(section(t, pages, "paySession")), "</pre>")
	if strings.Contains(curl, "$API_KEY") {
		t.Error("pay needs no API key, but its call sends one")
	}
}

// TestEveryCallIsShownInEveryLanguage: a new call of the API has to be written into the
// client libraries, and into the table of their calls.
func TestEveryCallIsShownInEveryLanguage(t *testing.T) {
	t.Parallel()
	pages := all(t, "api")
	for path, item := range load(t, sepad.OpenAPI).Paths.Map() {
		for method, operation := range item.Operations() {
			part := section(t, pages, operation.OperationID)
			for _, language := range []string{"curl", "Go", "TypeScript", "Python"} {
				if !strings.Contains(part, `<p class="caption">`+language+"</p>") {
					t.Errorf("%s %s is not shown in %s", method, path, language)
				}
			}
		}
	}
}

func TestTheIndexHasEverything(t *testing.T) {
	t.Parallel()
	text, isScript := strings.CutPrefix(string(build(t)["search-index.js"]), "globalThis.sepadDocs = ")
	var entries []struct{ U, P, T, X string }
	if err := json.Unmarshal([]byte(text), &entries); err != nil || !isScript {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, entry := range entries {
		found[entry.U] = true
	}
	for _, address := range []string{
		"getting-started.html", "webhooks.html#when-to-ship", "webhooks.html#the-order-is-not-promised", "api-payment-sessions.html#paySession",
		"api-errors.html#error-409", "events.html#chargebackcreated", "operations.html#settings", "changelog.html",
	} {
		if !found[address] {
			t.Errorf("%s cannot be found", address)
		}
	}
	for name := range pagesOf(t) {
		if name != "index.html" && !found[name] && !strings.HasSuffix(name, "-schemas.html") {
			t.Errorf("%s cannot be found", name)
		}
	}
}

func TestTheSiteIsWrittenIntoAFolder(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "new", "site")
	site := build(t)
	if err := site.Write(folder); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != len(site) {
		t.Fatalf("%d files of %d: %v", len(files), len(site), err)
	}
	page, err := os.ReadFile(filepath.Join(folder, "index.html"))
	if err != nil || string(page) != string(site["index.html"]) {
		t.Errorf("the first page is another one: %v", err)
	}
}
