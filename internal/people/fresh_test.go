package people

import (
	"errors"
	"sync"
	"sync/atomic"
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
					if errors.Is(err, ErrNotFresh) {
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

// TestOnlyWhoHasJustSignedInLetsOthersIn finds an administrator's browser that was left open: a link for somebody else, or a role
// that somebody has already, is a way in of one's own as well.
func TestOnlyWhoHasJustSignedInLetsOthersIn(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(*testing.T, *counter){
		"people are let in and raised soon after a sign-in alone, and removed at any time": func(t *testing.T, c *counter) {
			cookie := c.welcomed(t)
			everywhere := store.TenantSet{All: true}
			grace, _, err := c.Add(t.Context(), "grace@counter.example", store.Viewer, everywhere)
			if err != nil {
				t.Fatal(err)
			}
			try := func(cookie Cookie, added string) (refused int) {
				t.Helper()
				who, err := c.SignedIn(t.Context(), cookie.Text)
				if err != nil {
					t.Fatal(err)
				}
				ctx := who.Enter(t.Context(), home)
				_, link, add := c.Add(ctx, added, store.Administrator, everywhere)
				_, another, reset := c.Reset(ctx, grace.ID)
				_, raise := c.Change(ctx, grace.ID, func(o *store.Operator) { o.Role = store.Administrator })
				for _, err := range []error{add, reset, raise} {
					if errors.Is(err, ErrNotFresh) {
						refused++
					} else if err != nil {
						t.Error(err)
					}
				}
				if refused > 0 && (link.URL != "" || another.URL != "") {
					t.Error("who is refused has a link")
				}
				return refused
			}
			if refused := try(cookie, "first@counter.example"); refused != 0 {
				t.Errorf("%d things are refused at first", refused)
			}
			c.later(freshFor)
			if refused := try(cookie, "second@counter.example"); refused != 3 {
				t.Errorf("%d things are refused later", refused)
			}
			who, err := c.SignedIn(t.Context(), cookie.Text)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Remove(who.Enter(t.Context(), home), grace.ID); err != nil {
				t.Errorf("nobody can be removed in a hurry: %v", err)
			}
		},
	})
}

// TestTheLastPasskeyStays also when the last two are taken away at the same moment.
func TestTheLastPasskeyStays(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(*testing.T, *counter){
		"of two that are taken away at once one stays": func(t *testing.T, c *counter) {
			cookie := c.welcomed(t)
			who, err := c.SignedIn(t.Context(), cookie.Text)
			if err != nil {
				t.Fatal(err)
			}
			ctx, bare := who.Enter(t.Context(), home), *who.Operator
			bare.SealedTOTP = ""
			keys := []store.Passkey{}
			for _, name := range []string{"phone", "laptop"} {
				keys = append(keys, store.Passkey{ID: uuid.New(), OperatorID: bare.ID, Name: name, CredentialID: name, Credential: "{}", CreatedAt: c.clock.at})
			}
			err = c.Store.Write(ctx, c.clock.at, func(tx *store.Tx) error {
				tx.ChangeOperator(*who.Operator, bare)
				for _, key := range keys {
					tx.AddPasskey(key)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if bare, err = c.Store.Operator(ctx, bare.ID); err != nil {
				t.Fatal(err)
			}
			var refused atomic.Int64
			var both sync.WaitGroup
			for _, key := range keys {
				both.Go(func() {
					if err := c.RemovePasskey(ctx, bare, key.ID); errors.Is(err, store.ErrLastPasskey) {
						refused.Add(1)
					} else if err != nil {
						t.Error(err)
					}
				})
			}
			both.Wait()
			if left, err := c.Store.Passkeys(ctx, bare.ID); err != nil || len(left) != 1 || refused.Load() != 1 {
				t.Errorf("%d are left, %d were refused: %v", len(left), refused.Load(), err)
			}
		},
	})
}
