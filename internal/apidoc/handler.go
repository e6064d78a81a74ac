package apidoc

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"time"

	"sepad/internal/design"
)

//go:embed assets
var assets embed.FS

var pageTemplate = template.Must(template.ParseFS(assets, "assets/*.html"))

// contentSecurityPolicy lets the page use what this process serves beside it
// and nothing else: no inline script or style, no other host, no frame.
const contentSecurityPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// file is one thing that can be fetched.
type file struct {
	contentType string
	content     []byte
}

// Handler serves the document at /openapi.yaml and the page that shows it at
// /docs. publicURL is where merchants reach this deployment; it stands in the
// calls that readers copy. The guides among the files are linked and served.
func Handler(spec []byte, files fs.FS, publicURL string) http.Handler {
	read := sync.OnceValues(func() ([]guide, error) { return readGuides(files) })
	render := sync.OnceValues(func() ([]byte, error) {
		guides, err := read()
		if err != nil {
			return nil, err
		}
		return renderPage(spec, guides, publicURL)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			refuse(w, http.StatusMethodNotAllowed, "Method not allowed")
			return
		}
		switch r.URL.Path {
		case "/openapi.yaml":
			serve(w, r, file{"application/yaml", spec})
		case "/docs", "/docs/":
			content, err := render()
			if err != nil {
				refuse(w, http.StatusInternalServerError, "The API document cannot be shown")
				return
			}
			serve(w, r, file{"text/html; charset=utf-8", content})
		default:
			asset, known := findAsset(r.URL.Path)
			if !known {
				guides, _ := read() // without them there is none to find
				asset, known = findGuide(guides, r.URL.Path)
			}
			if !known {
				refuse(w, http.StatusNotFound, "Not found")
				return
			}
			serve(w, r, asset)
		}
	})
}

// assetTypes names what a browser may fetch of the embedded files; templates
// are not among them.
var assetTypes = map[string]string{
	"tokens.css": "text/css; charset=utf-8",
	"style.css":  "text/css; charset=utf-8",
	"copy.js":    "text/javascript; charset=utf-8",
	"icon.svg":   "image/svg+xml",
}

func findAsset(path string) (file, bool) {
	name := strings.TrimPrefix(path, "/docs/")
	contentType, known := assetTypes[name]
	if !known || name == path {
		return file{}, false
	}
	if name == "tokens.css" {
		return file{contentType, design.Tokens}, true
	}
	content, err := assets.ReadFile("assets/" + name)
	return file{contentType, content}, err == nil
}

func renderPage(spec []byte, guides []guide, publicURL string) ([]byte, error) {
	root, err := parse(spec)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := pageTemplate.ExecuteTemplate(&out, "page.html", buildPage(root, guides, strings.TrimSuffix(publicURL, "/"))); err != nil {
		return nil, fmt.Errorf("render the API page: %w", err)
	}
	return out.Bytes(), nil
}

// serve answers with a file. Browsers keep it and ask each time whether it has
// changed: the tag is made of the content, so a new release shows at once.
func serve(w http.ResponseWriter, r *http.Request, f file) {
	sum := sha256.Sum256(f.content)
	header := w.Header()
	header.Set("Content-Type", f.contentType)
	header.Set("ETag", `"`+hex.EncodeToString(sum[:16])+`"`)
	header.Set("Cache-Control", "no-cache")
	header.Set("Content-Security-Policy", contentSecurityPolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.content))
}

// refuse answers in the shape of every error of the service (contract 7.1).
func refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"detail":%q,"status_code":%d}`, detail, status)
}
