package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/limit"
	"sepad/internal/store/storetest"
)

const invalidKey = "Invalid or revoked API key"

// recalledKey is a key that the server has seen with the set-up as it is now, so
// that its next create goes without a look-up.
func recalledKey(t *testing.T, s *apptest.Server) (key string) {
	t.Helper()
	key = s.NewKey(t, apptest.Shop, t.Name())
	s.Do(t, createWith(key, apptest.Direct())).Want(t, http.StatusCreated, nil)
	return key
}

func createWith(key string, body any) apptest.Request {
	return apptest.Request{Path: apptest.Sessions, Key: key, Body: body}
}

// setPlainGateway switches a gateway of the shop on or off.
func setPlainGateway(t *testing.T, s *apptest.Server, active string) {
	t.Helper()
	s.Apply(t, `tenants: [{id: `+apptest.Shop+`, name: Bergladen, gateways: [{id: `+apptest.PlainGateway+
		`, name: Plain account, adapter: sandbox, active: `+active+`}]}]`)
}

func onPlainGateway() apptest.Body {
	return apptest.Direct().With(body{"gateway_id": apptest.PlainGateway})
}

func TestARecalledKeyThatWasRevoked(t *testing.T) {
	t.Parallel()
	busy := apptest.Direct()
	requests := map[string]any{
		"a good request":                 apptest.Direct(),
		"a request with bad fields":      apptest.Direct().Without("lead"),
		"a body that cannot be read":     "{",
		"a body that is too large":       strings.Repeat(" ", 65<<10),
		"a request for a lead in a sale": busy,
	}
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Create(t, busy)
		for name, body := range requests {
			t.Run("gets the same answer to "+name, func(t *testing.T) {
				key := recalledKey(t, s)
				s.RevokeKey(t, apptest.Shop, t.Name())
				before := s.Footprint(t)
				request := createWith(key, body)
				request.Undocumented = true
				s.Do(t, request).WantDetail(t, http.StatusUnauthorized, invalidKey)
				if s.Footprint(t) != before {
					t.Error("something was written")
				}
			})
		}
		t.Run("gets no earlier answer by its idempotency key", func(t *testing.T) {
			key := recalledKey(t, s)
			request := createWith(key, apptest.Direct())
			request.Header = map[string]string{"Idempotency-Key": t.Name()}
			s.Do(t, request).Want(t, http.StatusCreated, nil)
			s.RevokeKey(t, apptest.Shop, t.Name())
			s.Do(t, request).WantDetail(t, http.StatusUnauthorized, invalidKey)
		})
	})
}

// stopped is a clock that stands still: whoever has used up a second's calls has none until the end.
type stopped struct{ at time.Time }

func (s stopped) Now() time.Time { return s.at }

func TestARevokedKeyOverItsLimitIsStillRevoked(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{World: stopped{time.Now()}, Rates: limit.Rates{limit.APIKeyCreate: 1, limit.AuthFailure: 2}})
	key := recalledKey(t, s)
	s.Do(t, createWith(key, apptest.Direct())).Want(t, http.StatusTooManyRequests, nil)
	s.RevokeKey(t, apptest.Shop, t.Name())
	for range 2 {
		s.Do(t, createWith(key, apptest.Direct())).WantDetail(t, http.StatusUnauthorized, invalidKey)
	}
	s.Do(t, createWith(key, apptest.Direct())).Want(t, http.StatusTooManyRequests, nil)
}

func TestASetUpThatChangedUnderARecalledKey(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		key := recalledKey(t, s)
		s.Do(t, createWith(key, onPlainGateway())).Want(t, http.StatusCreated, nil)
		t.Run("refuses what it no longer allows", func(t *testing.T) {
			setPlainGateway(t, s, "false")
			s.Do(t, createWith(key, onPlainGateway())).WantBad(t, map[string]string{"gateway_id": ""})
		})
		t.Run("refuses again with the key recalled", func(t *testing.T) {
			s.Do(t, createWith(key, onPlainGateway())).WantBad(t, map[string]string{"gateway_id": ""})
		})
		t.Run("allows what the set-up in memory refuses", func(t *testing.T) {
			setPlainGateway(t, s, "true")
			s.Do(t, createWith(key, onPlainGateway())).Want(t, http.StatusCreated, nil)
		})
	})
}

func TestARecalledKeyIsNotedAsUsed(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	key := recalledKey(t, s)
	id := storetest.Scalar[string](t, s.Env, `SELECT id FROM api_keys WHERE name = $1`, t.Name())
	between := time.Now().Truncate(time.Microsecond)
	s.Do(t, createWith(key, apptest.Direct())).Want(t, http.StatusCreated, nil)
	s.Stop(t)
	if used := time.UnixMicro(storetest.Scalar[int64](t, s.Env, lastUse, id)); used.Before(between) {
		t.Errorf("the last use is said to be %s before it", between.Sub(used))
	}
}
