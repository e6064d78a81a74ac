package page

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sepad/internal/checkout"
	"sepad/internal/payment"
	"sepad/internal/vault"
)

// stopped is a clock that stands.
type stopped struct{ at time.Time }

func (s *stopped) Now() time.Time { return s.at }

func TestTheDraftCookieIsGuarded(t *testing.T) {
	t.Parallel()
	for address, name := range map[string]string{"https://pay.example": "__Secure-sepad_draft", "http://localhost:8080": "sepad_draft"} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			keys, err := vault.New(vault.GenerateKey())
			if err != nil {
				t.Fatal(err)
			}
			clock := &stopped{time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)}
			p := &Page{Checkout: &checkout.Checkout{Vault: keys, PublicURL: address}, Real: clock}
			session := payment.Session{ID: payment.NewID(), TenantID: payment.NewID(), Token: payment.NewToken(1)}
			const typed = "DE89370400440532013000"
			answer := httptest.NewRecorder()
			p.keepDraft(answer, session, draft{GaveStreet: typed})
			cookie := answer.Result().Cookies()[0]
			isSecure := strings.HasPrefix(address, "https:")
			if cookie.Name != name || cookie.Secure != isSecure || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode ||
				cookie.Path != "/pay/"+session.Token+"/" || strings.Contains(cookie.Value, typed) {
				t.Errorf("the cookie is %v", cookie)
			}
			read := func(s payment.Session) bool {
				request := httptest.NewRequest(http.MethodGet, "/", nil)
				request.AddCookie(cookie)
				kept := p.readDraft(request, s)
				return kept != nil && kept.GaveStreet == typed
			}
			other := session
			other.ID = payment.NewID()
			if !read(session) || read(other) {
				t.Error("it belongs to its session, and to no other")
			}
			if clock.at = clock.at.Add(draftLife); read(session) {
				t.Error("it has no end")
			}
		})
	}
}
