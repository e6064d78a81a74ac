package admin_test

import (
	"net/http"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/config"
)

func TestWhoeverGuessesTheTokenWaits(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	guess := apptest.Request{Path: tenants, Key: "guess"}
	for range 20 {
		s.Do(t, guess).WantDetail(t, http.StatusUnauthorized, "Invalid admin token")
	}
	for _, request := range []apptest.Request{guess, operator(tenants, nil), {Path: "/metrics", Key: apptest.AdminToken, Undocumented: true}} {
		if refused := s.Do(t, request).Want(t, http.StatusTooManyRequests, nil); refused.Header.Get("Retry-After") == "" {
			t.Error("it is not told how long to wait")
		}
	}
	s.Do(t, apptest.Request{Path: apptest.Sessions, Key: s.Key, Body: apptest.Direct()}).Want(t, http.StatusCreated, nil)
}

func TestMetricsAreTheOperators(t *testing.T) {
	t.Parallel()
	const token = "a token for the figures alone"
	s := apptest.SQLite(t, apptest.Options{Change: func(c *config.Settings) { c.MetricsToken = token }})
	metrics := func(key string) apptest.Request {
		return apptest.Request{Path: "/metrics", Key: key, Undocumented: true}
	}
	for key, status := range map[string]int{
		"": http.StatusUnauthorized, s.Key: http.StatusUnauthorized, apptest.AdminToken: http.StatusOK, token: http.StatusOK,
	} {
		s.Do(t, metrics(key)).Want(t, status, nil)
	}
	s.Do(t, operator(tenants, nil)).Want(t, http.StatusOK, nil)
	s.Do(t, apptest.Request{Path: tenants, Key: token}).Want(t, http.StatusUnauthorized, nil)
}
