package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
)

// Asset is a file for browsers, also in its compressed form.
type Asset struct {
	Plain       []byte
	contentType string
	compressed  []byte
}

// NewAsset puts a file together.
func NewAsset(contentType string, parts ...[]byte) Asset {
	a := Asset{contentType: contentType, Plain: bytes.Join(parts, []byte("\n"))}
	a.compressed = Compress(a.Plain)
	return a
}

// HashContents is a short name that changes with every content, so that what is found
// under it may be kept for good.
func HashContents(contents ...[]byte) string {
	sum := sha256.New()
	for _, content := range contents {
		sum.Write(content)
	}
	const letters = 12
	return hex.EncodeToString(sum.Sum(nil))[:letters]
}

// Write answers with the file. While two versions run side by side a page may ask for the
// other one's: it gets ours, but not for good.
func (a Asset) Write(w http.ResponseWriter, r *http.Request, isCurrent bool) {
	header := w.Header()
	header.Set("Cache-Control", "no-cache")
	if isCurrent {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	header.Set("Content-Type", a.contentType)
	header.Set("X-Content-Type-Options", "nosniff")
	writeEither(w, r, http.StatusOK, a.Plain, func() []byte { return a.compressed })
}

// WritePage answers with a page that is whole before its first byte is sent, and that
// loads what its policy says. It may be compressed although it holds what nobody else
// should read: nothing that another site could choose stands beside it.
func WritePage(w http.ResponseWriter, r *http.Request, status int, html []byte, policy, referrer string) {
	setPageHeaders(w.Header(), policy, referrer)
	writeEither(w, r, status, html, func() []byte { return Compress(html) })
}

// WriteAsPage answers like WritePage with a page that was made beforehand.
func (a Asset) WriteAsPage(w http.ResponseWriter, r *http.Request, status int, policy, referrer string) {
	setPageHeaders(w.Header(), policy, referrer)
	writeEither(w, r, status, a.Plain, func() []byte { return a.compressed })
}

func setPageHeaders(header http.Header, policy, referrer string) {
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", policy)
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", referrer)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Robots-Tag", "noindex, nofollow")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
}

func writeEither(w http.ResponseWriter, r *http.Request, status int, plain []byte, compressed func() []byte) {
	header := w.Header()
	header.Set("Vary", "Accept-Encoding")
	if AcceptsGzip(r) {
		header.Set("Content-Encoding", "gzip")
		plain = compressed()
	}
	header.Set("Content-Length", strconv.Itoa(len(plain)))
	w.WriteHeader(status)
	_, _ = w.Write(plain) // a browser that has gone cannot be told so
}
