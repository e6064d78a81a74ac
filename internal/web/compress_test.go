package web_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"sepad/internal/web"
)

func TestAcceptsGzip(t *testing.T) {
	t.Parallel()
	for offer, want := range map[string]bool{
		"": false, "gzip": true, "gzip, deflate, br": true, "br;q=1.0, GZIP;q=0.8": true, "gzip;q=1": true, "gzip; q=0.001": true,
		"gzip;q=0": false, "gzip; q=0.000": false, "br": false, "identity": false, "x-gzip": false,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept-Encoding", offer)
		if got := web.AcceptsGzip(r); got != want {
			t.Errorf("%q: accepted is %v", offer, got)
		}
	}
}

func TestCompress(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("a page ", 500), "", strings.Repeat("another ", 300)} {
		packed := web.Compress([]byte(text))
		reader, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		if whole, err := io.ReadAll(reader); err != nil || string(whole) != text {
			t.Errorf("%d characters come back as %d: %v", len(text), len(whole), err)
		}
	}
}
