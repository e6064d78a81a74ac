package docsite

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"
)

// contentSecurityPolicy lets a page use what this process serves beside it and
// nothing else: no inline script or style, no other host, no frame.
const contentSecurityPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// folder is where the site is served.
const folder = "/docs/"

// Handler serves the site at /docs/, and the documents of the APIs at the root as
// well. The site is made when the first reader asks for it.
func Handler(sources Sources) http.Handler {
	build := sync.OnceValues(func() (Site, error) { return Build(sources) })
	var files tags
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			refuse(w, http.StatusMethodNotAllowed, "Method not allowed")
			return
		}
		// What is served as it was written needs no site.
		switch r.URL.Path {
		case "/" + merchantDocument:
			files.serve(w, r, merchantDocument, sources.OpenAPI)
			return
		case "/" + operatorDocument:
			files.serve(w, r, operatorDocument, sources.AdminAPI)
			return
		}
		site, err := build()
		if err != nil {
			refuse(w, http.StatusInternalServerError, "The documentation cannot be shown")
			return
		}
		if r.URL.Path+"/" == folder {
			files.serve(w, r, homePage, below(site[homePage]))
			return
		}
		name := strings.TrimPrefix(r.URL.Path, folder)
		if name == "" {
			name = homePage
		}
		content, known := site[name]
		if !known || !strings.HasPrefix(r.URL.Path, folder) {
			refuse(w, http.StatusNotFound, "Not found")
			return
		}
		files.serve(w, r, name, content)
	})
}

var relativeAddress = regexp.MustCompile(` (href|src)="([a-z])`)

// below is a page as it is read from the address above its folder, /docs.
func below(page []byte) []byte {
	return relativeAddress.ReplaceAll(page, []byte(` $1="`+strings.Trim(folder, "/")+`/$2`))
}

// contentTypes are those of the site's files.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".png":  "image/png",
	".yaml": "application/yaml",
}

// tags name the contents of files by their hashes, by the path that they are served at. They are made once: the largest
// file takes a processor longer than its answer.
type tags struct{ byPath sync.Map }

func (t *tags) of(path string, content []byte) string {
	if known, isKnown := t.byPath.Load(path); isKnown {
		return known.(string)
	}
	sum := sha256.Sum256(content)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	t.byPath.Store(path, tag)
	return tag
}

// serve answers with a file. Browsers keep it and ask each time whether it has
// changed: the tag is made of the content, so a new release shows at once.
func (t *tags) serve(w http.ResponseWriter, r *http.Request, name string, content []byte) {
	header := w.Header()
	header.Set("Content-Type", contentTypes[path.Ext(name)])
	header.Set("ETag", t.of(r.URL.Path, content))
	header.Set("Cache-Control", "no-cache")
	header.Set("Content-Security-Policy", contentSecurityPolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// refuse answers in the shape of every error of the service (contract 7.1).
func refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"detail":%q,"status_code":%d}`, detail, status)
}
