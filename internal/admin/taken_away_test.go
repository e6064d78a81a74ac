package admin_test

import (
	"net/http"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestARightThatIsTakenAwayIsGone: also for a call that was let in before, and holds its body back.
func TestARightThatIsTakenAwayIsGone(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, sale := paid(t, s, apptest.Direct(), apptest.Approved)
		for name, of := range map[string]func(me string) apptest.Request{
			"the role is taken back": func(me string) apptest.Request {
				return apptest.Request{Method: http.MethodPatch, Path: me, Body: apptest.Body{"role": "admin"}}
			},
			"somebody else is let in": func(string) apptest.Request {
				return apptest.Request{Path: "/admin/v1/operators/", Body: apptest.Body{"email": apptest.Email(), "role": "admin"}}
			},
			"a key is made": func(string) apptest.Request {
				return apptest.Request{Path: ofShop("api-keys"), Body: apptest.Body{"name": "thief's"}}
			},
			"money is given back": func(string) apptest.Request {
				return apptest.Request{Path: transactions + sale + "/refunds/", Body: apptest.Body{"amount": "1.00"}}
			},
			"a file is taken in": func(string) apptest.Request {
				return importing(t, "transactions", header+"P-1,U-1,approved,sdd_sale,12.50,EUR,2026-03-01T10:00:00Z,,,\n", nil)
			},
		} {
			takenAway(t, s, name, of, operator("", apptest.Body{"role": "viewer"}), http.StatusForbidden)
			takenAway(t, s, name, of, apptest.Request{Method: http.MethodDelete}, http.StatusUnauthorized)
		}
		for what, query := range map[string]string{
			"payments and refunds": `SELECT count(*) - 1 FROM transactions`,
			"keys":                 `SELECT count(*) FROM api_keys WHERE name LIKE 'thief%'`,
			"people":               `SELECT count(*) - 5 FROM operators`,
			"administrators":       `SELECT count(*) FROM operators WHERE role = 'admin'`,
		} {
			if left := storetest.Scalar[int64](t, s.Env, query); left != 0 {
				t.Errorf("%s: %d too many", what, left)
			}
		}
	})
}

// takenAway has an administrator make a call, change them while its body is held back, and expects how it is refused.
func takenAway(t *testing.T, s *apptest.Server, name string, of func(me string) apptest.Request, change apptest.Request, status int) {
	t.Helper()
	token := tokenOf(t, s, store.Administrator)
	me := "/admin/v1/operators/" + s.Do(t, apptest.Request{Path: "/admin/v1/me/", Key: token}).Text(t, "operator_id") + "/"
	request := of(me)
	request.Key = token
	change.Path, change.Key = me, apptest.AdminToken
	if change.Body != nil {
		change.Method = http.MethodPatch
	}
	answer := s.DoHeld(t, request, func() {
		if done := s.Do(t, change); done.Status >= http.StatusBadRequest {
			t.Errorf("%s: %d to the change: %s", name, done.Status, done.Raw)
		}
	})
	if answer.Status != status {
		t.Errorf("%s: %d, want %d: %s", name, answer.Status, status, answer.Raw)
	}
}
