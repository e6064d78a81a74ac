package people

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"sepad/internal/limit"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// hand is a clock that a test moves.
type hand struct{ at time.Time }

func (h *hand) Now() time.Time { return h.at }

const (
	email    = "ada@counter.example"
	password = merchant.Secret("correct horse battery")
	home     = "192.0.2.1"
)

// counter is an installation with one operator who was just added.
type counter struct {
	*People
	clock *hand
	ada   store.Operator
	link  Link
}

func setup(t *testing.T, env *storetest.Env, role store.Role) *counter {
	t.Helper()
	c := &counter{clock: &hand{env.Now}}
	c.People = &People{Store: env.Store, Clock: c.clock, URL: "https://counter.example", Environment: merchant.Production}
	var err error
	if c.ada, c.link, err = c.Add(t.Context(), email, role, store.TenantSet{All: true}); err != nil {
		t.Fatal(err)
	}
	return c
}

func (l Link) ticket(t *testing.T) merchant.Secret {
	t.Helper()
	parsed, err := url.Parse(l.URL)
	if err != nil {
		t.Fatal(err)
	}
	return merchant.Secret(parsed.Query().Get("ticket"))
}

// code is what the operator's app shows now.
func (c *counter) code(t *testing.T) string {
	t.Helper()
	o, err := c.Store.Operator(t.Context(), c.ada.ID)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := c.Store.OpenTOTP(o)
	if err != nil {
		t.Fatal(err)
	}
	return totpCode(secret, c.clock.at.Unix()/int64(totpStep/time.Second))
}

// later lets time pass.
func (c *counter) later(d time.Duration) { c.clock.at = c.clock.at.Add(d) }

// welcomed is a counter whose operator has come in by the link.
func (c *counter) welcomed(t *testing.T) Cookie {
	t.Helper()
	cookie, err := c.Accept(t.Context(), c.link.ticket(t), password, c.code(t), home)
	if err != nil {
		t.Fatal(err)
	}
	c.later(time.Minute)
	c.reread(t)
	return cookie
}

// reread has the operator as the last sign-in left it.
func (c *counter) reread(t *testing.T) {
	t.Helper()
	var err error
	if c.ada, err = c.Store.Operator(t.Context(), c.ada.ID); err != nil {
		t.Fatal(err)
	}
}

// signIn takes both steps.
func (c *counter) signIn(t *testing.T) Cookie {
	t.Helper()
	half, err := c.SignIn(t.Context(), strings.ToUpper(email), password, home)
	if err != nil || half.IsWhole {
		t.Fatalf("%v, %v", half.IsWhole, err)
	}
	whole, err := c.Confirm(t.Context(), half.Text, c.code(t), home)
	if err != nil {
		t.Fatal(err)
	}
	c.later(time.Minute)
	c.reread(t)
	return whole
}

func (c *counter) wantOut(t *testing.T, cookie Cookie, why string) {
	t.Helper()
	if _, err := c.SignedIn(t.Context(), cookie.Text); !errors.Is(err, store.ErrNoSignIn) {
		t.Errorf("%s: %v", why, err)
	}
}

func (c *counter) wantIn(t *testing.T, cookie Cookie) {
	t.Helper()
	if who, err := c.SignedIn(t.Context(), cookie.Text); err != nil || who.Actor() != "operator:"+email {
		t.Errorf("the cookie does not let in: %v", err)
	}
}

// each runs tests of a counter on every engine.
func each(t *testing.T, tests map[string]func(*testing.T, *counter)) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, env *storetest.Env) { test(t, setup(t, env, store.Administrator)) })
		})
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(*testing.T, *counter){
		"a link lets in once, with a password and a second factor": func(t *testing.T, c *counter) {
			shown, err := c.Open(t.Context(), c.link.ticket(t))
			if err != nil || shown.Email != email || !strings.HasPrefix(shown.URL, "otpauth://totp/sepad:ada@counter.example?") {
				t.Errorf("shows %s: %v", shown.URL, err)
			}
			if _, err := c.Accept(t.Context(), c.link.ticket(t), "short", c.code(t), home); payment.KindOf(err) != payment.Invalid {
				t.Errorf("a short password: %v", err)
			}
			if _, err := c.Accept(t.Context(), c.link.ticket(t), password, "000000", home); payment.KindOf(err) != payment.Invalid {
				t.Errorf("a wrong code: %v", err)
			}
			c.wantIn(t, c.welcomed(t))
			if _, err := c.Accept(t.Context(), c.link.ticket(t), password, c.code(t), home); !errors.Is(err, store.ErrNoTicket) {
				t.Errorf("once more: %v", err)
			}
		},
		"a link is good for an hour": func(t *testing.T, c *counter) {
			c.later(time.Hour)
			if _, err := c.Open(t.Context(), c.link.ticket(t)); !errors.Is(err, store.ErrNoTicket) {
				t.Error(err)
			}
		},
		"a link for one's own sandbox does not sign in to production": func(t *testing.T, c *counter) {
			link, err := c.DeveloperLink(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.SignInByLink(t.Context(), link.ticket(t), home); !errors.Is(err, store.ErrNoTicket) {
				t.Error(err)
			}
			c.Environment = merchant.Sandbox
			if cookie, err := c.SignInByLink(t.Context(), link.ticket(t), home); err != nil || !cookie.IsWhole {
				t.Error(err)
			}
		},
	})
}

func TestPasswordAndCode(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(*testing.T, *counter){
		"password and code let in, and half a session opens nothing": func(t *testing.T, c *counter) {
			c.welcomed(t)
			half, err := c.SignIn(t.Context(), email, password, home)
			if err != nil {
				t.Fatal(err)
			}
			c.wantOut(t, half, "half a session")
			c.later(halfLife)
			if _, err := c.Confirm(t.Context(), half.Text, c.code(t), home); !errors.Is(err, store.ErrNoSignIn) {
				t.Errorf("too late: %v", err)
			}
			c.wantIn(t, c.signIn(t))
		},
		"a code is good once": func(t *testing.T, c *counter) {
			c.welcomed(t)
			code := c.code(t)
			for _, want := range []payment.Kind{0, payment.Invalid} {
				half, err := c.SignIn(t.Context(), email, password, home)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := c.Confirm(t.Context(), half.Text, code, home); err != nil && payment.KindOf(err) != want || err == nil && want != 0 {
					t.Errorf("%v, want %v", err, want)
				}
			}
		},
		"nobody learns who is there": func(t *testing.T, c *counter) {
			c.welcomed(t)
			_, wrong := c.SignIn(t.Context(), email, "another password", home)
			_, unknown := c.SignIn(t.Context(), "nobody@counter.example", password, home)
			if wrong == nil || unknown == nil || wrong.Error() != unknown.Error() {
				t.Errorf("%v and %v", wrong, unknown)
			}
		},
	})
}

func TestGuessing(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(*testing.T, *counter){
		"who guesses waits, and holds up nobody else": func(t *testing.T, c *counter) {
			c.welcomed(t)
			for range limit.FreeGuesses {
				if _, err := c.SignIn(t.Context(), email, "a wrong password", "203.0.113.9"); payment.KindOf(err) != payment.Invalid {
					t.Fatal(err)
				}
			}
			_, err := c.SignIn(t.Context(), email, password, "203.0.113.9")
			if wait, ok := errors.AsType[*WaitError](err); !ok || wait.For <= 0 {
				t.Errorf("the guesser does not wait: %v", err)
			}
			c.wantIn(t, c.signIn(t))
		},
		"all addresses of one IPv6 network guess together": func(t *testing.T, c *counter) {
			c.welcomed(t)
			var err error
			for i := range limit.FreeGuesses + 1 {
				_, err = c.SignIn(t.Context(), email, "a wrong password", "2001:db8::"+strconv.Itoa(i+1))
			}
			if _, ok := errors.AsType[*WaitError](err); !ok {
				t.Errorf("whoever has another address begins anew: %v", err)
			}
		},
		"wrong codes hold up whoever knows the password": func(t *testing.T, c *counter) {
			c.welcomed(t)
			half, err := c.SignIn(t.Context(), email, password, home)
			if err != nil {
				t.Fatal(err)
			}
			for range limit.FreeGuesses {
				_, err = c.Confirm(t.Context(), half.Text, "000000", home)
			}
			if _, err = c.Confirm(t.Context(), half.Text, c.code(t), "198.51.100.4"); err == nil {
				t.Error("it is not waited for")
			}
			c.later(15 * time.Minute)
			c.wantIn(t, c.signIn(t))
		},
	})
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(*testing.T, *counter){
		"a session ends when nobody uses it, and in the end": func(t *testing.T, c *counter) {
			c.welcomed(t)
			cookie := c.signIn(t)
			for range 11 {
				c.later(time.Hour)
				c.wantIn(t, cookie)
			}
			c.later(time.Hour)
			c.wantOut(t, cookie, "after half a day")
			idle := c.signIn(t)
			c.later(idleLife)
			c.wantOut(t, idle, "unused")
		},
		"signing out ends one session, or all": func(t *testing.T, c *counter) {
			c.welcomed(t)
			one, two, three := c.signIn(t), c.signIn(t), c.signIn(t)
			if err := c.SignOut(t.Context(), c.ada, one.Text); err != nil {
				t.Fatal(err)
			}
			c.wantOut(t, one, "signed out")
			c.wantIn(t, two)
			if err := c.SignOutEverywhere(t.Context(), c.ada); err != nil {
				t.Fatal(err)
			}
			c.wantOut(t, two, "everywhere")
			c.wantOut(t, three, "everywhere")
		},
	})
}

func TestAccessIsTakenAway(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(*testing.T, *counter){
		"another role holds at once, a reset ends all": func(t *testing.T, c *counter) {
			cookie := c.welcomed(t)
			_, token, err := c.CreateToken(t.Context(), c.ada, "script", time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Change(t.Context(), c.ada.ID, func(o *store.Operator) { o.Role = store.Viewer }); err != nil {
				t.Fatal(err)
			}
			if who, err := c.SignedIn(t.Context(), cookie.Text); err != nil || who.Role != store.Viewer {
				t.Errorf("%s: %v", who.Role, err)
			}
			if who, found, err := c.Bearer(t.Context(), token.Reveal()); err != nil || !found || who.Role != store.Viewer {
				t.Errorf("%s: %v", who.Role, err)
			}
			if _, c.link, err = c.Reset(t.Context(), c.ada.ID); err != nil {
				t.Fatal(err)
			}
			c.wantOut(t, cookie, "reset")
			if _, found, err := c.Bearer(t.Context(), token.Reveal()); err != nil || found {
				t.Errorf("the token goes on: %v", err)
			}
			if _, err := c.SignIn(t.Context(), email, password, home); err == nil {
				t.Error("the password goes on")
			}
			c.wantIn(t, c.welcomed(t))
		},
		"what is under way meanwhile makes no token that goes on": func(t *testing.T, c *counter) {
			for name, end := range map[string]func() error{
				"reset":   func() error { _, _, err := c.Reset(t.Context(), c.ada.ID); return err },
				"removed": func() error { _, err := c.Remove(t.Context(), c.ada.ID); return err },
			} {
				if c.ada, _, _ = c.Add(t.Context(), name+"@counter.example", store.Finance, store.TenantSet{All: true}); c.ada.ID == uuid.Nil {
					t.Fatal("nobody was added")
				}
				underWay := c.ada // as a request has read it that was let in just before
				c.later(time.Second)
				if err := end(); err != nil {
					t.Fatal(err)
				}
				_, token, err := c.CreateToken(t.Context(), underWay, "thief's", time.Time{})
				if !errors.Is(err, store.ErrOperatorChanged) {
					t.Errorf("%s: a token is made: %v", name, err)
				}
				if _, found, err := c.Bearer(t.Context(), token.Reveal()); found || err != nil {
					t.Errorf("%s: it lets in: %v", name, err)
				}
			}
		},
		"who is removed is out": func(t *testing.T, c *counter) {
			cookie := c.welcomed(t)
			if _, err := c.Remove(t.Context(), c.ada.ID); err != nil {
				t.Fatal(err)
			}
			c.wantOut(t, cookie, "removed")
		},
	})
}

func TestWhoIsLetInAfterARestore(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(*testing.T, *counter){
		"a restored database lets in who has password and code, and nobody else": func(t *testing.T, c *counter) {
			cookie := c.welcomed(t)
			bob, _, err := c.Add(t.Context(), "bob@office.example", store.Viewer, store.TenantSet{All: true})
			if err != nil {
				t.Fatal(err)
			}
			err = c.Store.Write(t.Context(), c.clock.at, func(tx *store.Tx) error {
				without := bob
				without.SealedTOTP = ""
				tx.ChangeOperator(bob, without)
				for _, of := range []store.Operator{c.ada, bob} {
					tx.AddPasskey(store.Passkey{ID: payment.NewID(), OperatorID: of.ID, Name: "Key ring", CredentialID: of.Email, Credential: "{}", CreatedAt: c.clock.at})
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			_, text, err := c.CreateToken(t.Context(), c.ada, "nightly", time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			if _, known, err := c.Bearer(t.Context(), text.Reveal()); err != nil || !known {
				t.Fatalf("the token opens nothing: %v", err)
			}
			err = c.Store.Write(t.Context(), c.clock.at, func(tx *store.Tx) error {
				tx.MarkRestored(c.clock.at)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, known, err := c.Bearer(t.Context(), text.Reveal()); err != nil || known {
				t.Errorf("a token of before opens something: %v", err)
			}
			c.wantOut(t, cookie, "restored")
			if keys, err := c.Store.Passkeys(t.Context(), c.ada.ID); err != nil || len(keys) > 0 {
				t.Errorf("%d passkeys are left, whose counters are older than they: %v", len(keys), err)
			}
			if keys, err := c.Store.Passkeys(t.Context(), bob.ID); err != nil || len(keys) != 1 {
				t.Errorf("who has nothing but passkeys has %d: %v", len(keys), err)
			}
			c.wantIn(t, c.signIn(t))
		},
	})
}

// TestCodesFollowTheStandard holds codes to the examples of RFC 6238, of which the last
// six digits count here.
func TestCodesFollowTheStandard(t *testing.T) {
	t.Parallel()
	secret := []byte("12345678901234567890")
	for at, want := range map[int64]string{59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130"} {
		if got := totpCode(secret, at/30); got != want {
			t.Errorf("at %d it is %s, want %s", at, got, want)
		}
		if _, found := totpMatch(secret, want, 0, time.Unix(at+30, 0)); !found {
			t.Errorf("a phone that is a little slow is refused at %d", at)
		}
		if _, found := totpMatch(secret, want, 0, time.Unix(at+90, 0)); found {
			t.Errorf("an old code is taken at %d", at)
		}
	}
}

// TestCodesAreCountedApartFromPasswords: whoever guesses is counted, however many names others try.
func TestCodesAreCountedApartFromPasswords(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		c := setup(t, env, store.Administrator)
		c.welcomed(t)
		half, err := c.SignIn(t.Context(), email, password, home)
		if err != nil {
			t.Fatal(err)
		}
		const many = 11_000 // more than are kept in memory
		for i := range limit.FreeGuesses {
			_, err = c.Confirm(t.Context(), half.Text, "000000", home)
			for n := range many {
				c.Passwords.Attempt(t.Context(), strconv.Itoa(i*many+n), c.clock.at)
			}
		}
		_, err = c.Confirm(t.Context(), half.Text, c.code(t), home)
		if _, ok := errors.AsType[*WaitError](err); !ok {
			t.Errorf("names have made room for codes: %v", err)
		}
	})
}

// TestManyPasswordsAtOnce has more passwords come than can be hashed in time.
func TestManyPasswordsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		busy := make(hashers, 1)
		busy <- struct{}{}
		_, err := busy.stretch(t.Context(), password, []byte("salt"), 1, 8, 1)
		if wait, ok := errors.AsType[*WaitError](err); !ok || wait.For <= 0 {
			t.Errorf("a password that cannot be hashed in time is answered %v", err)
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		if _, err := busy.stretch(gone, password, []byte("salt"), 1, 8, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("somebody who has left is answered %v", err)
		}
		<-busy
		if key, err := busy.stretch(t.Context(), password, []byte("salt"), 1, 8, 1); err != nil || len(key) != argonKey {
			t.Errorf("afterwards: %d bytes, %v", len(key), err)
		}
	})
}
