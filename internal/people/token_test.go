package people

import (
	"errors"
	"testing"
	"time"

	"sepad/internal/store"
)

func TestATokenIsRevokedByWhoseItIs(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(*testing.T, *counter){
		"and by nobody else": func(t *testing.T, c *counter) {
			bob, _, err := c.Add(t.Context(), "bob@counter.example", store.Viewer, store.TenantSet{All: true})
			if err != nil {
				t.Fatal(err)
			}
			token, _, err := c.CreateToken(t.Context(), c.ada, "script", time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.RevokeToken(t.Context(), bob, token.ID); !errors.Is(err, store.ErrNoToken) {
				t.Errorf("somebody else's: %v", err)
			}
			if kept, err := c.Store.OperatorTokens(t.Context(), c.ada.ID); err != nil || len(kept) != 1 {
				t.Fatalf("there are %d tokens: %v", len(kept), err)
			}
			if err := c.RevokeToken(t.Context(), c.ada, token.ID); err != nil {
				t.Error(err)
			}
			if kept, err := c.Store.OperatorTokens(t.Context(), c.ada.ID); err != nil || len(kept) != 0 {
				t.Errorf("there are %d tokens: %v", len(kept), err)
			}
		},
	})
}
