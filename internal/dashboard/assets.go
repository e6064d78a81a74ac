package dashboard

import (
	"embed"
	"maps"
	"net/http"
	"slices"
	"sync"

	"sepad/internal/design"
	"sepad/internal/web"
)

//go:embed assets
var assetFiles embed.FS

// assets are what pages load, put together once.
var assets = sync.OnceValue(func() map[string]web.Asset {
	read := func(name string) []byte {
		content, err := assetFiles.ReadFile("assets/" + name)
		if err != nil {
			panic(err) // it is embedded under this name
		}
		return content
	}
	return map[string]web.Asset{
		"dashboard.css": web.NewAsset("text/css; charset=utf-8", design.Tokens, read("uplot.css"), read("dashboard.css")),
		"dashboard.js":  web.NewAsset("text/javascript; charset=utf-8", read("uplot.js"), read("dashboard.js")),
		"icon.svg":      web.NewAsset("image/svg+xml", read("icon.svg")),
	}
})

// assetHash changes with every file, so that each may be kept for good.
var assetHash = sync.OnceValue(func() string {
	var contents [][]byte
	for _, name := range slices.Sorted(maps.Keys(assets())) {
		contents = append(contents, assets()[name].Plain)
	}
	return web.HashContents(contents...)
})

func assetPath(name string) string { return "/dashboard/assets/" + assetHash() + "/" + name }

// showAsset answers GET /dashboard/assets/{hash}/{file}.
func showAsset(w http.ResponseWriter, r *http.Request) error {
	found, known := assets()[r.PathValue("file")]
	if !known {
		return web.ErrNotFound
	}
	found.Write(w, r, r.PathValue("hash") == assetHash())
	return nil
}
