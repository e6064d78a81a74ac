package page

import (
	"bytes"
	"embed"
	"net/http"
	"strings"
	"sync"

	"sepad/internal/design"
	"sepad/internal/sepa"
	"sepad/internal/web"
)

//go:embed assets
var assetFiles embed.FS

// loadAssets puts the files together once. The script carries the table of
// IBANs that the server itself checks by.
var loadAssets = sync.OnceValue(func() map[string]web.Asset {
	return map[string]web.Asset{
		"page.js":  web.NewAsset("text/javascript; charset=utf-8", ibanTable(), readAsset("page.js")),
		"icon.svg": web.NewAsset("image/svg+xml", readAsset("icon.svg")),
	}
})

// pageStyle is the stylesheet without a merchant's colours.
var pageStyle = sync.OnceValue(func() []byte { return bytes.Join([][]byte{design.Tokens, readAsset("page.css")}, []byte("\n")) })

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

// assetHash changes with every file, so that each may be kept for good.
var assetHash = sync.OnceValue(func() string {
	return web.HashContents(pageStyle(), loadAssets()["page.js"].Plain, loadAssets()["icon.svg"].Plain)
})

// assetPath is where a file is found.
func assetPath(name string) string { return "/pay/assets/" + assetHash() + "/" + name }

// stylePath is where the style in two colours is found. It is made of nothing
// but the colours, so that no look-up and no token goes with it; and it is one
// file, because nothing is seen before the last one is there.
func stylePath(primary, accent string) string {
	return assetPath("page-" + strings.TrimPrefix(primary, "#") + "-" + strings.TrimPrefix(accent, "#") + ".css")
}

// showAsset answers GET /pay/assets/{hash}/{file}.
func showAsset(w http.ResponseWriter, r *http.Request) error {
	found, known := loadAssets()[r.PathValue("file")]
	if !known {
		if found, known = styleAsset(r.PathValue("file")); !known {
			return web.ErrNotFound
		}
	}
	found.Write(w, r, r.PathValue("hash") == assetHash())
	return nil
}

// styleAsset reads "page-1a56db-0e9f6e.css".
func styleAsset(name string) (web.Asset, bool) {
	digits, isOurs := strings.CutPrefix(name, "page-")
	digits, isStyle := strings.CutSuffix(digits, ".css")
	first, second, _ := strings.Cut(digits, "-")
	primary, ok := parseColor(first)
	accent, also := parseColor(second)
	if !isOurs || !isStyle || !ok || !also {
		return web.Asset{}, false
	}
	return web.NewAsset("text/css; charset=utf-8", pageStyle(), []byte(brandStyle(primary, accent))), true
}
