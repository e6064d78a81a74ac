package dashboard

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"strconv"
	"sync"

	"sepad/internal/design"
	"sepad/internal/web"
)

//go:embed assets
var assetFiles embed.FS

// asset is a file for browsers, also in its compressed form.
type asset struct {
	contentType       string
	plain, compressed []byte
}

// assets are what pages load, put together once.
var assets = sync.OnceValue(func() map[string]asset {
	read := func(name string) []byte {
		content, err := assetFiles.ReadFile("assets/" + name)
		if err != nil {
			panic(err) // it is embedded under this name
		}
		return content
	}
	all := map[string]asset{
		"dashboard.css": {contentType: "text/css; charset=utf-8", plain: bytes.Join([][]byte{design.Tokens, read("dashboard.css")}, []byte("\n"))},
		"dashboard.js":  {contentType: "text/javascript; charset=utf-8", plain: read("dashboard.js")},
		"icon.svg":      {contentType: "image/svg+xml", plain: read("icon.svg")},
	}
	for name, a := range all {
		a.compressed = web.Compress(a.plain)
		all[name] = a
	}
	return all
})

// assetHash changes with every file, so that each may be kept for good.
var assetHash = sync.OnceValue(func() string {
	sum := sha256.New()
	for _, name := range []string{"dashboard.css", "dashboard.js", "icon.svg"} {
		sum.Write(assets()[name].plain)
	}
	const letters = 12
	return hex.EncodeToString(sum.Sum(nil))[:letters]
})

func assetPath(name string) string { return "/dashboard/assets/" + assetHash() + "/" + name }

// showAsset answers GET /dashboard/assets/{hash}/{file}.
func showAsset(w http.ResponseWriter, r *http.Request) error {
	found, known := assets()[r.PathValue("file")]
	if !known {
		return web.ErrNotFound
	}
	header := w.Header()
	header.Set("Cache-Control", "no-cache")
	if r.PathValue("hash") == assetHash() {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	body := found.plain
	header.Set("Vary", "Accept-Encoding")
	if web.AcceptsGzip(r) {
		header.Set("Content-Encoding", "gzip")
		body = found.compressed
	}
	header.Set("Content-Type", found.contentType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
	return nil
}
