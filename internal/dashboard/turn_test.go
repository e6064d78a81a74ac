package dashboard_test

import (
	"net/http"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/people"
	"sepad/internal/store"
)

func TestOneOperatorsScreensLeaveRoom(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	cookie := signedIn(t, s, store.Viewer)
	who, err := s.App.Store.OperatorByEmail(t.Context(), people.DeveloperEmail)
	if err != nil {
		t.Fatal(err)
	}
	leaves := s.TakeReads(t, who.ID.String())
	answered := make(chan int, 1)
	go func() {
		answer, err := s.TryDo(t, browse(s, http.MethodGet, "/dashboard/transactions/", cookie))
		if err != nil {
			t.Error(err)
		}
		answered <- answer.Status
	}()
	for range 10 {
		s.Do(t, apptest.Request{Path: "/dashboard/sign-in/", Undocumented: true}).Want(t, http.StatusOK, nil)
	}
	select {
	case status := <-answered:
		t.Errorf("a fifth screen was made beside four: %d", status)
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
