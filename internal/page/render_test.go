package page

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sepad/internal/checkout"
	"sepad/internal/payment"
	"sepad/internal/web"
)

// TestWhoIsTurnedAwayCostsLittle counts what a refusal takes: strangers can have as many as they
// like, and a page made anew for each kept a processor busy that payments need. It does not run
// beside others, whose memory would be counted too.
func TestWhoIsTurnedAwayCostsLittle(t *testing.T) {
	p := &Page{Checkout: &checkout.Checkout{PublicURL: "https://pay.example"}}
	for name, refusal := range map[string]error{"too many": web.Throttled(time.Second), "unknown": payment.ErrSessionNotFound} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/pay/ps_unknown/", http.NoBody)
		request.Header.Set("Accept-Encoding", "gzip")
		request.Header.Set("Accept-Language", "de")
		var answered *httptest.ResponseRecorder
		const most = 80 // a page that is made takes hundreds
		took := testing.AllocsPerRun(20, func() {
			answered = httptest.NewRecorder()
			if err := p.Explain(answered, request, refusal); err != nil {
				t.Error(err)
			}
		})
		if took > most || answered.Header().Get("Content-Encoding") != "gzip" || answered.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %.0f pieces of memory, %v", name, took, answered.Header())
		}
	}
	for language, words := range map[string]string{"de": "Einen Moment, bitte", "en": "One moment, please"} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/pay/ps_unknown/", http.NoBody)
		request.Header.Set("Accept-Language", language)
		answered := httptest.NewRecorder()
		if err := p.Explain(answered, request, web.Throttled(time.Second)); err != nil || !strings.Contains(answered.Body.String(), words) {
			t.Errorf("%s: %v\n%s", language, err, answered.Body)
		}
	}
}
