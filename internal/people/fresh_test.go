package people

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/store"
)

// TestOnlyWhoHasJustSignedInMakesKeys finds a browser that was left open.
func TestOnlyWhoHasJustSignedInMakesKeys(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(*testing.T, *counter){
		"tokens and passkeys are made and taken away soon after a sign-in alone": func(t *testing.T, c *counter) {
			cookie := c.welcomed(t)
			try := func(cookie Cookie) (refused int) {
				t.Helper()
				who, err := c.SignedIn(t.Context(), cookie.Text)
				if err != nil {
					t.Fatal(err)
				}
				ctx := who.Enter(t.Context(), home)
				_, _, made := c.CreateToken(ctx, c.ada, "script", time.Time{})
				_, asked := c.AskNewPasskey(ctx, c.ada, cookie.Text)
				for _, err := range []error{made, asked, c.AddPasskey(ctx, c.ada, cookie.Text, "Phone", "{}"), c.RemovePasskey(ctx, c.ada, uuid.Nil)} {
					if errors.Is(err, errNotFresh) {
						refused++
					}
				}
				return refused
			}
			if refused := try(cookie); refused != 0 {
				t.Errorf("%d things are refused at first", refused)
			}
			c.later(freshFor)
			if refused := try(cookie); refused != 4 {
				t.Errorf("%d things are refused later", refused)
			}
			if tokens, err := c.Store.OperatorTokens(t.Context(), c.ada.ID); err != nil || len(tokens) != 1 {
				t.Errorf("there are %d tokens: %v", len(tokens), err)
			}
			again := c.signIn(t)
			if refused := try(again); refused != 0 {
				t.Errorf("%d things are refused after another sign-in", refused)
			}
			who, err := c.SignedIn(t.Context(), again.Text)
			if err != nil {
				t.Fatal(err)
			}
			who.Token, who.SignedInAt = &store.OperatorToken{ExpiresAt: c.clock.at.Add(time.Hour)}, time.Time{}
			if c.later(2 * freshFor); !c.IsFresh(who.Enter(t.Context(), home)) {
				t.Error("a program signs in again and again")
			}
		},
	})
}
