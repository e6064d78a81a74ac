package admin_test

import (
	"net/http"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/store"
)

// TestOneOperatorsListsLeaveRoom: hundreds at once would take all processors from payments of every tenant.
func TestOneOperatorsListsLeaveRoom(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	busy, other := tokenOf(t, s, store.Viewer), tokenOf(t, s, store.Viewer)
	id := s.Do(t, apptest.Request{Path: "/admin/v1/me/", Key: busy}).Text(t, "operator_id")
	leaves := s.TakeReads(t, id)
	answered := make(chan int, 1)
	go func() {
		answer, err := s.TryDo(t, apptest.Request{Path: transactions, Key: busy})
		if err != nil {
			t.Error(err)
		}
		answered <- answer.Status
	}()
	s.Do(t, apptest.Request{Path: "/admin/v1/tokens/", Key: busy, Body: apptest.Body{"name": "another"}}).Want(t, http.StatusCreated, nil)
	for range 5 {
		s.Do(t, apptest.Request{Path: transactions, Key: other}).Want(t, http.StatusOK, nil)
		s.Do(t, operator(transactions, nil)).Want(t, http.StatusOK, nil)
	}
	select {
	case status := <-answered:
		t.Errorf("a fifth list was made beside four: %d", status)
	default:
		leaves[0]()
		if status := <-answered; status != http.StatusOK {
			t.Errorf("status %d once there was room, want 200", status)
		}
	}
	for _, leave := range leaves[1:] {
		leave()
	}
}

// TestWhoIsRemovedReadsNothingAfterwards: what waits behind other lists and exports of the same person was let in before.
func TestWhoIsRemovedReadsNothingAfterwards(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		removed := apptest.Request{Method: http.MethodDelete}
		moved := apptest.Request{Method: http.MethodPatch, Body: apptest.Body{"role": "viewer", "tenants": []string{apptest.Rival}}}
		const export = "/admin/v1/exports/transactions/?tenant_id=" + apptest.Shop + "&from=2026-01-01&to=2026-02-01"
		for _, example := range []struct {
			name, path string
			change     apptest.Request
		}{{"removed", transactions, removed}, {"removed", export, removed}, {"moved", export, moved}} {
			token := tokenOf(t, s, store.Finance)
			id := s.Do(t, apptest.Request{Path: "/admin/v1/me/", Key: token}).Text(t, "operator_id")
			leaves, answered := append(s.TakeReads(t, id), s.TakeReads(t, id+" goes on")...), make(chan int, 1)
			go func() {
				answer, err := s.TryDo(t, apptest.Request{Path: example.path, Key: token})
				if err != nil {
					t.Error(err)
				}
				answered <- answer.Status
			}()
			for range 5 { // should it come later than the change, it is refused for that
				s.Do(t, operator(transactions, nil)).Want(t, http.StatusOK, nil)
			}
			change := example.change
			change.Path, change.Key = "/admin/v1/operators/"+id+"/", apptest.AdminToken
			if done := s.Do(t, change); done.Status >= http.StatusBadRequest {
				t.Fatalf("%d to the change: %s", done.Status, done.Raw)
			}
			for _, leave := range leaves {
				leave()
			}
			if status := <-answered; status < http.StatusBadRequest {
				t.Errorf("%s, %s: %d", example.path, example.name, status)
			}
		}
	})
}
