package people

import (
	"errors"
	"testing"
	"time"

	"sepad/internal/store"
)

// TestWhoIsNoAdministratorAnyMore: what was under way when the role was taken away neither takes it back nor changes
// anybody else.
func TestWhoIsNoAdministratorAnyMore(t *testing.T) {
	t.Parallel()
	everybody := store.TenantSet{All: true}
	each(t, map[string]func(*testing.T, *counter){
		"changes nobody": func(t *testing.T, c *counter) {
			bob, _, err := c.Add(t.Context(), "bob@counter.example", store.Viewer, everybody)
			if err != nil {
				t.Fatal(err)
			}
			underWay := principalOf(c.ada, nil).Enter(t.Context(), home) // as a request was let in just before
			c.later(time.Second)
			if _, err := c.Change(t.Context(), c.ada.ID, func(o *store.Operator) { o.Role = store.Viewer }); err != nil {
				t.Fatal(err)
			}
			_, back := c.Change(underWay, c.ada.ID, func(o *store.Operator) { o.Role = store.Administrator })
			_, _, added := c.Add(underWay, "eve@counter.example", store.Administrator, everybody)
			_, _, reset := c.Reset(underWay, bob.ID)
			_, removed := c.Remove(underWay, bob.ID)
			for what, err := range map[string]error{"takes the role back": back, "adds": added, "resets": reset, "removes": removed} {
				if !errors.Is(err, store.ErrOperatorChanged) {
					t.Errorf("%s: %v", what, err)
				}
			}
			if c.reread(t); c.ada.Role != store.Viewer {
				t.Errorf("they are %s", c.ada.Role)
			}
		},
	})
}
