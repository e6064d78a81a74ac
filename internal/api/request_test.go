package api_test

import (
	"net/http"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
)

// bodied are the endpoints that read a body, each with what makes it read one.
func bodied(t *testing.T, s *apptest.Server) map[string]apptest.Request {
	t.Helper()
	token := s.Create(t, apptest.Direct())
	awaiting, _ := s.Awaiting(t, apptest.Direct(), apptest.VerificationApproved)
	return map[string]apptest.Request{
		"create":        {Path: apptest.Sessions, Key: s.Key},
		"pay":           {Path: apptest.Path(token, "pay")},
		"verify":        {Path: apptest.Path(awaiting, "verify")},
		"iban-validate": {Path: ibanPath, Key: s.Key},
	}
}

func TestBodiesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		requests, before := bodied(t, s), s.Footprint(t)
		const notJSON, notObject = "The request body is not valid JSON.", "The request body must be a JSON object."
		for name, request := range requests {
			for text, detail := range map[string]string{
				`{`: notJSON, `{"a":1,}`: notJSON, `{"a" 1}`: notJSON, `{'a':1}`: notJSON, `{"a":01}`: notJSON, `{"a":NaN}`: notJSON, `{} {}`: notJSON,
				"{\"a\":\"\n\"}": notJSON, `{"a":"\x"}`: notJSON, "\ufeff{}": notJSON, `not JSON`: notJSON, `{"a":tru}`: notJSON, "{\"a\":1}\x00": notJSON,
				`[]`: notObject, `[{}]`: notObject, `"text"`: notObject, `5`: notObject, `null`: notObject, `true`: notObject,
				`{"iban":"a","iban":"b"}`:        "The request body gives a field twice: iban.",
				`{"lead":{"email":1,"email":2}}`: "The request body gives a field twice: email.",
				`{"a":"\ud800"}`:                 "The request body holds text that is not valid Unicode.",
				"{\"a\":\"\xff\xfe\"}":           "The request body holds text that is not valid Unicode.",
				"{\"a\":\"\xc0\x80\"}":           "The request body holds text that is not valid Unicode.",
				strings.Repeat(`{"a":`, 5000) + `1` + strings.Repeat(`}`, 5000):         "The request body is nested too deeply.",
				`{"a":` + strings.Repeat(`[`, 30000) + strings.Repeat(`]`, 30000) + `}`: "The request body is nested too deeply.",
			} {
				request.Body = text
				answer := s.Do(t, request)
				if answer.Status != http.StatusBadRequest || answer.Get(t, "detail") != detail {
					t.Errorf("%s with %.40q answers %d with %s", name, text, answer.Status, answer.Raw)
				}
			}
		}
		if after := s.Footprint(t); after != before {
			t.Errorf("something was left behind: %s became %s", before, after)
		}
	})
}

func TestBodiesOfTheWrongKind(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		requests, before := bodied(t, s), s.Footprint(t)
		for name, request := range requests {
			t.Run(name+" answers 415 for another media type", func(t *testing.T) {
				for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "application/xml", "application/jsonp", "application/json; charset=latin1", "nonsense;;"} {
					request.Body, request.Header = `{"a":1}`, map[string]string{"Content-Type": kind}
					s.Do(t, request).WantDetail(t, http.StatusUnsupportedMediaType, "The request body must be application/json.")
				}
				request.Header = map[string]string{"Content-Encoding": "gzip"}
				s.Do(t, request).Want(t, http.StatusUnsupportedMediaType, nil)
			})
			t.Run(name+" takes application/json with a charset", func(t *testing.T) {
				request.Body, request.Header = `{"a":[`, map[string]string{"Content-Type": "Application/JSON; charset=UTF-8"}
				s.Do(t, request).Want(t, http.StatusBadRequest, nil)
			})
			t.Run(name+" answers 413 above 64 KiB", func(t *testing.T) {
				request.Header = nil
				request.Body = `{"padding":"` + strings.Repeat("x", 64<<10) + `"}`
				s.Do(t, request).WantDetail(t, http.StatusRequestEntityTooLarge, "The request body is larger than 64 KiB.")
				request.Header = map[string]string{"Content-Type": "text/plain"}
				s.Do(t, request).Want(t, http.StatusRequestEntityTooLarge, nil)
			})
			t.Run(name+" takes exactly 64 KiB", func(t *testing.T) {
				request.Header = nil
				request.Body = `{"iban":5,"verification_id":5,"padding":"` + strings.Repeat("x", 64<<10-43) + `"}`
				if size := len(request.Body.(string)); size != 64<<10 {
					t.Fatalf("the body has %d bytes", size)
				}
				s.Do(t, request).Want(t, http.StatusBadRequest, nil)
			})
		}
		t.Run("an empty body where one is needed is a 400", func(t *testing.T) {
			for _, name := range []string{"create", "pay", "iban-validate"} {
				request := requests[name]
				request.Method = http.MethodPost
				s.Do(t, request).WantDetail(t, http.StatusBadRequest, "The request body must be a JSON object.")
			}
		})
		if after := s.Footprint(t); after != before {
			t.Errorf("something was left behind: %s became %s", before, after)
		}
	})
}

func TestPathsAndMethods(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	token := s.Create(t, apptest.Direct())
	t.Run("an unknown path is a 404 with detail and status_code", func(t *testing.T) {
		for _, path := range []string{
			"/", "/api/", "/api/v1/", "/api/v2/payment-sessions/", "/api/v1/payment-sessions/" + token + "/refund/", "/api/v1/payment-sessions/x/y/z/",
			"/api/v1//payment-sessions/", "/api/v1/../v1/payment-sessions/", "/API/v1/payment-sessions/", "/api/v1/payment-sessions/%2F/pay/x/",
		} {
			s.Do(t, apptest.Request{Path: path}).WantDetail(t, http.StatusNotFound, "Not found")
		}
	})
	t.Run("a wrong method is a 405 that names the right ones", func(t *testing.T) {
		for path, allow := range map[string]string{
			apptest.Sessions: "GET, HEAD, OPTIONS, POST", apptest.Path(token): "GET, HEAD, OPTIONS", apptest.Path(token, "pay"): "OPTIONS, POST",
			apptest.Path(token, "verify"): "OPTIONS, POST", apptest.Path(token, "cancel"): "OPTIONS, POST", ibanPath: "OPTIONS, POST",
		} {
			for _, method := range []string{"DELETE", "PUT", "PATCH", "TRACE", "NONSENSE"} {
				answer := s.Do(t, apptest.Request{Method: method, Path: path, Key: s.Key}).WantDetail(t, http.StatusMethodNotAllowed, "Method not allowed")
				if answer.Header.Get("Allow") != allow {
					t.Errorf("%s allows %q", path, answer.Header.Get("Allow"))
				}
			}
			answer := s.Do(t, apptest.Request{Method: http.MethodOptions, Path: path})
			if answer.Status != http.StatusNoContent || answer.Header.Get("Allow") != allow {
				t.Errorf("OPTIONS %s answers %d with %q", path, answer.Status, answer.Header.Get("Allow"))
			}
		}
	})
	t.Run("a path without its slash is a 308 that keeps method, body and query", func(t *testing.T) {
		for _, path := range []string{apptest.Sessions, apptest.Path(token), apptest.Path(token, "pay"), apptest.Path(token, "verify"), apptest.Path(token, "cancel"), ibanPath} {
			short := strings.TrimSuffix(path, "/")
			answer := s.Do(t, apptest.Request{Method: http.MethodPost, Path: short + "?a=1", Body: "{}"})
			if answer.Status != http.StatusPermanentRedirect || answer.Header.Get("Location") != path+"?a=1" {
				t.Errorf("%s answers %d to %q", short, answer.Status, answer.Header.Get("Location"))
			}
		}
	})
	t.Run("HEAD answers like GET without a body", func(t *testing.T) {
		answer, got := s.Do(t, apptest.Request{Method: http.MethodHead, Path: apptest.Path(token)}), s.Retrieve(t, token)
		if answer.Status != http.StatusOK || len(answer.Raw) != 0 || answer.Header.Get("Content-Length") != got.Header.Get("Content-Length") {
			t.Errorf("HEAD answers %d with %q", answer.Status, answer.Raw)
		}
		if answer := s.Do(t, apptest.Request{Method: http.MethodHead, Path: apptest.Path("ps_none")}); answer.Status != http.StatusNotFound {
			t.Errorf("HEAD of an unknown token answers %d", answer.Status)
		}
	})
	t.Run("answers are not stored and not guessed at", func(t *testing.T) {
		header := s.Retrieve(t, token).Header
		if header.Get("Cache-Control") != "no-store" || header.Get("X-Content-Type-Options") != "nosniff" || header.Get("X-Request-Id") == "" {
			t.Errorf("the headers are %v", header)
		}
	})
}
