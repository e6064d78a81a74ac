package api_test

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/db"
	"sepad/internal/store/storetest"
)

// TestTheDoorIsShutWhileTooManyPay has payments wait for connections that others hold. Who comes then is told so at
// once, in JSON or with a page, lists before anybody else; everything else goes on.
func TestTheDoorIsShutWhileTooManyPay(t *testing.T) {
	t.Parallel()
	s := apptest.Open(t, storetest.Postgres(t), apptest.Options{})
	token := s.Create(t, apptest.Direct())
	const span = "?start_date=2026-03-01&end_date=2026-03-02"
	lists := map[string]apptest.Request{}
	for _, path := range []string{
		apptest.Sessions, "/api/v1/reconciliation/transactions/" + span, "/api/v1/reconciliation/chargebacks/" + span, "/api/v1/reconciliation/subscriptions/" + span, "/api/v1/events/",
	} {
		lists["the list "+path] = apptest.Request{Path: path, Key: s.Key}
	}
	listed := func() {
		t.Helper()
		for name, r := range lists {
			if answer := s.Do(t, r); answer.Status != http.StatusOK {
				t.Errorf("%s is %d: %s", name, answer.Status, answer.Raw)
			}
		}
	}
	listed()

	ctx, leave := context.WithCancel(db.Attend(t.Context(), db.Paying, time.Minute))
	var waiting sync.WaitGroup
	for range 300 { // more than are let in whatever was measured
		waiting.Go(func() {
			rows, err := s.App.Store.Query(ctx, "SELECT 1 FROM deployment")
			if err != nil {
				return
			}
			<-ctx.Done()
			rows.Close()
		})
	}
	pay := apptest.PayRequest(token, apptest.Approved)
	apptest.Eventually(t, "the door is shut", func() bool { return s.App.Store.Admit(ctx) != nil })
	refused := map[string]apptest.Request{
		"a payment": pay, "a page": {Method: http.MethodPost, Path: "/pay/" + token + "/?lang=de"}, "a payment that cannot be read": {Method: http.MethodPost, Path: pay.Path},
	}
	maps.Copy(refused, lists)
	for name, r := range refused {
		answer := s.Do(t, r)
		if answer.Status != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") != "1" {
			t.Errorf("%s is told %d: %s", name, answer.Status, answer.Raw)
		}
		if isPage := strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html"); isPage != (name == "a page") {
			t.Errorf("%s is told in %s", name, answer.Header.Get("Content-Type"))
		}
		if name == "a page" && !strings.Contains(string(answer.Raw), `<html lang="de"`) {
			t.Errorf("a payer who reads German is told %s", answer.Raw)
		}
	}
	s.Create(t, apptest.Direct())
	s.Retrieve(t, token).Want(t, http.StatusOK, nil)
	leave()
	waiting.Wait()
	s.Do(t, pay).Want(t, http.StatusOK, apptest.Fields{"status": "completed"})
	listed()
}
