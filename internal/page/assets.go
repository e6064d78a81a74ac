package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"sepad/internal/design"
	"sepad/internal/sepa"
	"sepad/internal/web"
)

//go:embed assets
var assetFiles embed.FS

// asset is a file for browsers, also in its compressed form.
type asset struct {
	contentType string
	plain       []byte
	compressed  []byte
}

func newAsset(contentType string, parts ...[]byte) asset {
	a := asset{contentType: contentType, plain: bytes.Join(parts, []byte("\n"))}
	var packed bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is a good one
	_, _ = writer.Write(a.plain)                                    // a buffer takes everything
	_ = writer.Close()
	a.compressed = packed.Bytes()
	return a
}

// loadAssets puts the files together once. The script carries the table of
// IBANs that the server itself checks by.
var loadAssets = sync.OnceValue(func() map[string]asset {
	const css, js = "text/css; charset=utf-8", "text/javascript; charset=utf-8"
	return map[string]asset{
		"page.css": newAsset(css, design.Tokens, readAsset("page.css")),
		"page.js":  newAsset(js, ibanTable(), readAsset("page.js")),
		"icon.svg": newAsset("image/svg+xml", readAsset("icon.svg")),
	}
})

func readAsset(name string) []byte {
	content, err := assetFiles.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is embedded under this name
	}
	return content
}

// ibanTable is the registry as a line of script: "DE":"8n10n".
func ibanTable() []byte {
	var table strings.Builder
	table.WriteString("const ibanForms = {")
	for _, country := range sepa.Countries() {
		table.WriteString(country.Code + `:"` + strings.ReplaceAll(country.BBAN, "!", "") + `",`)
	}
	table.WriteString("};")
	return []byte(table.String())
}

// mandateStyle is the style of a mandate that is saved as a file.
func mandateStyle() []byte { return loadAssets()["page.css"].plain }

// assetHash changes with every file, so that each may be kept for good.
var assetHash = sync.OnceValue(func() string {
	sum := sha256.New()
	for _, name := range []string{"icon.svg", "page.css", "page.js"} {
		sum.Write(loadAssets()[name].plain)
	}
	const letters = 12
	return hex.EncodeToString(sum.Sum(nil))[:letters]
})

// assetPath is where a file is found.
func assetPath(name string) string { return "/pay/assets/" + assetHash() + "/" + name }

// brandPath is where the style of two colours is found. It is made of nothing
// but the colours, so that no look-up and no token goes with it.
func brandPath(primary, accent string) string {
	return assetPath("brand-" + strings.TrimPrefix(primary, "#") + "-" + strings.TrimPrefix(accent, "#") + ".css")
}

// showAsset answers GET /pay/assets/{hash}/{file}. While two versions run side
// by side a page may ask for the other one's files: it gets ours, but not for
// good.
func showAsset(w http.ResponseWriter, r *http.Request) error {
	found, known := loadAssets()[r.PathValue("file")]
	if !known {
		if found, known = brandAsset(r.PathValue("file")); !known {
			return web.ErrNotFound
		}
	}
	header := w.Header()
	header.Set("Cache-Control", "no-cache")
	if r.PathValue("hash") == assetHash() {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	body := found.plain
	header.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		body = found.compressed
	}
	header.Set("Content-Type", found.contentType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(body)
	return nil
}

// brandAsset reads "brand-1a56db-0e9f6e.css".
func brandAsset(name string) (asset, bool) {
	digits, isBrand := strings.CutPrefix(name, "brand-")
	digits, isStyle := strings.CutSuffix(digits, ".css")
	first, second, _ := strings.Cut(digits, "-")
	primary, ok := parseColor(first)
	accent, also := parseColor(second)
	if !isBrand || !isStyle || !ok || !also {
		return asset{}, false
	}
	return newAsset("text/css; charset=utf-8", []byte(brandStyle(primary, accent))), true
}
