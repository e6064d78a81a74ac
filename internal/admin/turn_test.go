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
	var leaves []func()
	for range 4 {
		leave, taken := s.App.People.Reads.Take(t.Context(), id, 4)
		if !taken {
			t.Fatal("no turn came")
		}
		leaves = append(leaves, leave)
	}
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
