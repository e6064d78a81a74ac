package web

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"sync"
)

// AcceptsGzip tells whether a caller takes a compressed answer.
func AcceptsGzip(r *http.Request) bool {
	for _, offer := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(offer, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			weight = strings.ReplaceAll(weight, " ", "")
			return strings.Trim(strings.TrimPrefix(weight, "q="), "0.") != "" || weight == ""
		}
	}
	return false
}

// packers are kept: a new one clears most of a megabyte.
var packers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// Compress packs a content for one answer.
func Compress(content []byte) []byte {
	var packed bytes.Buffer
	writer := packers.Get().(*gzip.Writer)
	defer packers.Put(writer)
	writer.Reset(&packed)
	_, _ = writer.Write(content) // a buffer takes everything
	_ = writer.Close()
	return packed.Bytes()
}
