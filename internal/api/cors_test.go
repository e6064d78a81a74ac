package api_test

import (
	"net/http"
	"testing"

	"sepad/internal/app/apptest"
)

func TestBrowsersMayMakeFourCalls(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		token := s.Create(t, apptest.Direct())
		origin := map[string]string{"Origin": "https://shop.example"}
		allowed := func(t *testing.T, answer apptest.Answer, want string) {
			t.Helper()
			if got := answer.Header.Get("Access-Control-Allow-Origin"); got != want {
				t.Errorf("%d is answered with %q, want %q", answer.Status, got, want)
			}
			if answer.Header.Get("Access-Control-Allow-Credentials") != "" {
				t.Error("credentials are let through")
			}
		}
		for path, method := range map[string]string{
			apptest.Path(token): http.MethodGet, apptest.Path(token, "pay"): http.MethodPost, apptest.Path(token, "verify"): http.MethodPost, ibanPath: http.MethodPost,
		} {
			t.Run("asked before "+method+" "+path[len("/api/v1/"):], func(t *testing.T) {
				answer := s.Do(t, apptest.Request{Method: http.MethodOptions, Path: path, Header: map[string]string{
					"Origin": "https://shop.example", "Access-Control-Request-Method": method, "Access-Control-Request-Headers": "content-type",
				}})
				allowed(t, answer, "*")
				if answer.Status != http.StatusNoContent || answer.Header.Get("Access-Control-Allow-Methods") != method ||
					answer.Header.Get("Access-Control-Allow-Headers") != "Authorization, Content-Type" {
					t.Errorf("%d: %v", answer.Status, answer.Header)
				}
				plain := s.Do(t, apptest.Request{Method: http.MethodOptions, Path: path})
				allowed(t, plain, "")
				if plain.Status != http.StatusNoContent || plain.Header.Get("Allow") == "" {
					t.Errorf("%d: %v", plain.Status, plain.Header)
				}
			})
		}
		t.Run("an answer can be read, a refusal too", func(t *testing.T) {
			allowed(t, s.Do(t, apptest.Request{Path: apptest.Path(token), Header: origin}), "*")
			allowed(t, s.Do(t, apptest.Request{Path: apptest.Path(token, "pay"), Body: body{"iban": "x"}, Header: origin}), "*")
			allowed(t, s.Do(t, apptest.Request{Path: ibanPath, Key: token, Body: body{"iban": apptest.Approved}, Header: origin}), "*")
			allowed(t, s.Do(t, apptest.Request{Path: apptest.Path(token)}), "")
		})
		t.Run("nothing else", func(t *testing.T) {
			for _, request := range []apptest.Request{
				{Path: apptest.Sessions, Key: s.Key, Body: apptest.Direct()}, {Path: apptest.Sessions, Key: s.Key}, {Method: http.MethodPost, Path: apptest.Path(token, "cancel"), Key: s.Key},
				{Path: apptest.Path(token, "result"), Key: s.Key}, {Method: http.MethodOptions, Path: apptest.Sessions}, {Method: http.MethodOptions, Path: apptest.Path(token, "cancel")},
			} {
				request.Header = map[string]string{"Origin": "https://shop.example", "Access-Control-Request-Method": http.MethodPost}
				allowed(t, s.Do(t, request), "")
			}
		})
	})
}
