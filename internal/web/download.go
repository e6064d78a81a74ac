package web

import "net/http"

// Download is an answer that becomes a file with its first byte: until then it can still
// be a refusal.
type Download struct {
	http.ResponseWriter
	Name, ContentType string
	HasBegun          bool
}

func (d *Download) Write(text []byte) (int, error) {
	if !d.HasBegun {
		d.HasBegun = true
		d.Header().Set("Content-Type", d.ContentType)
		d.Header().Set("Content-Disposition", `attachment; filename="`+d.Name+`"`)
		d.Header().Set("Cache-Control", "no-store")
	}
	return d.ResponseWriter.Write(text)
}
