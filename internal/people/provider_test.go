package people

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

func TestWhatAProviderClaims(t *testing.T) {
	t.Parallel()
	shop := merchant.Tenant{ID: uuid.MustParse("019d0000-0000-7000-8000-000000000001"), Name: "Bergladen"}
	rival := merchant.Tenant{ID: uuid.MustParse("019d0000-0000-7000-8000-000000000002"), Name: "Talmarkt"}
	for _, example := range []struct {
		name   string
		claims map[string]any
		path   string
		role   store.Role
		all    bool
		ids    []uuid.UUID
	}{
		{"a role is a word", map[string]any{"r": "finance"}, "r", store.Finance, true, nil},
		{"the highest of a list holds", map[string]any{"r": []any{"viewer", "sepad-admin", "support", 7.0}}, "r", store.Administrator, true, nil},
		{"words may stand behind commas", map[string]any{"r": "staff, sepad-support"}, "r", store.Support, true, nil},
		{"a path leads into objects", map[string]any{"realm": map[string]any{"roles": []any{"viewer"}}}, "realm.roles", store.Viewer, true, nil},
		{"a name with points is found as it is", map[string]any{"https://x.example/role": "viewer"}, "https://x.example/role", store.Viewer, true, nil},
		{"what is no role gives none", map[string]any{"r": []any{"root", "sepad-", "Admin", ""}}, "r", "", true, nil},
		{"nothing gives none", map[string]any{}, "r", "", true, nil},
		{"tenants by id and by name", map[string]any{"r": "admin", "t": []any{shop.ID.String(), "Talmarkt"}}, "r", store.Administrator, false, []uuid.UUID{shop.ID, rival.ID}},
		{"a star is all", map[string]any{"r": "admin", "t": "*"}, "r", store.Administrator, true, nil},
		{"unknown tenants are none", map[string]any{"r": "admin", "t": "Elsewhere"}, "r", store.Administrator, false, nil},
		{"a claim that is null names nobody", map[string]any{"r": "admin", "t": nil}, "r", store.Administrator, false, nil},
		{"an empty list is nobody, not everybody", map[string]any{"r": "admin", "t": []any{}}, "r", store.Administrator, false, nil},
	} {
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()
			p := Provider{Issuer: "https://login.example", RoleClaim: example.path, TenantsClaim: "t"}
			v := p.vouched("ada", example.claims)
			set := v.tenants([]merchant.Tenant{shop, rival})
			if v.role() != example.role || set.All != example.all || !slices.Equal(set.IDs, example.ids) || v.Subject != "https://login.example ada" {
				t.Errorf("role %q, tenants %v", v.role(), set)
			}
		})
	}
}

// TestSeveralBrowsersOfSomebodyNew come by the provider at the same moment.
func TestSeveralBrowsersOfSomebodyNew(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		c := setup(t, env, store.Viewer)
		vouched := Vouched{Subject: "https://login.example 7", Email: "new@counter.example", Roles: []string{"viewer"}}
		const browsers = 4
		came := make(chan error, browsers)
		for range browsers {
			go func() {
				_, err := c.SignInByProvider(t.Context(), vouched, home)
				came <- err
			}()
		}
		for range browsers {
			if err := <-came; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestWhoComesByAProvider(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		c := setup(t, env, store.Viewer)
		c.welcomed(t)
		local := c.signIn(t)
		vouched := Vouched{Subject: "https://login.example 1", Email: email, Roles: []string{"admin"}}
		refused := func(v Vouched, why string) {
			t.Helper()
			_, err := c.SignInByProvider(t.Context(), v, home)
			if _, ok := errors.AsType[*RefusedError](err); !ok {
				t.Errorf("%s: %v", why, err)
			}
		}
		refused(vouched, "an address that is not confirmed takes nobody's place")
		refused(Vouched{Subject: "https://login.example 2", Roles: []string{"admin"}}, "nobody is let in without an address")
		refused(Vouched{Subject: "https://login.example 2", Email: "eve@x.example", IsDoubted: true, Roles: []string{"admin"}}, "a doubted address is none")
		refused(Vouched{Subject: "https://login.example 2", Email: "eve@x.example", Roles: []string{"admin"}, HasTenants: true}, "nobody works for no tenant")
		c.wantIn(t, local)

		vouched.IsVerified = true
		cookie, err := c.SignInByProvider(t.Context(), vouched, home)
		if err != nil || !cookie.IsWhole {
			t.Fatal(err)
		}
		c.wantIn(t, cookie)
		c.wantOut(t, local, "the password's session goes on")
		if _, err := c.SignIn(t.Context(), email, password, "198.51.100.7"); err == nil {
			t.Error("the password still opens")
		}
		refused(Vouched{Subject: "https://login.example 9", Email: email, IsVerified: true, Roles: []string{"admin"}}, "one address, two names at the provider")

		o, err := c.Store.Operator(t.Context(), c.ada.ID)
		if err != nil || o.Role != store.Administrator {
			t.Fatalf("%v, %v", o.Role, err)
		}
		_, token, err := c.CreateToken(t.Context(), o, "script", c.clock.at.AddDate(0, 0, 90))
		if err != nil {
			t.Fatal(err)
		}
		bears := func() bool {
			_, good, err := c.Bearer(t.Context(), token.Reveal())
			return good && err == nil
		}
		c.later(vouchedLife - time.Minute)
		if !bears() {
			t.Error("the token ends too early")
		}
		c.later(time.Hour)
		if bears() {
			t.Error("the token of somebody whom nobody has vouched for in a month still opens")
		}
		_, sent, err := c.Reset(t.Context(), o.ID)
		if err != nil {
			t.Fatal(err)
		}
		c.wantOut(t, cookie, "after a reset")
		if again, err := c.Store.Operator(t.Context(), o.ID); err != nil || again.ProviderSubject != "" {
			t.Errorf("after a reset the provider still knows them: %v", err)
		}
		if _, err := c.SignInByProvider(t.Context(), vouched, home); err != nil {
			t.Fatal(err)
		}
		if _, err := c.AskWelcomePasskey(t.Context(), sent.ticket(t)); !errors.Is(err, store.ErrNoTicket) {
			t.Errorf("the link still sets a password for somebody who comes by the provider: %v", err)
		}
	})
}

// TestOnlyWhomAProviderHasJustMadeSureOfMakesKeys finds a browser that was left open at a provider that remembers its people: it
// asks nobody anything, so that another sign-in there shows nothing.
func TestOnlyWhomAProviderHasJustMadeSureOfMakesKeys(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		c := setup(t, env, store.Viewer)
		for name, example := range map[string]struct {
			at   time.Time
			want error
		}{
			"a moment ago":                  {c.clock.at.Add(-time.Minute), nil},
			"too long ago":                  {c.clock.at.Add(-freshFor - time.Second), ErrNotFresh},
			"at a time to come":             {c.clock.at.Add(time.Hour), nil},
			"at the beginning of all":       {time.Unix(0, 0), ErrNotFresh},
			"without a word of when it was": {time.Time{}, nil},
		} {
			vouched := Vouched{Subject: "https://login.example 7", Email: "ada@office.example", Roles: []string{"viewer"}, At: example.at}
			cookie, err := c.SignInByProvider(t.Context(), vouched, home)
			if err != nil {
				t.Fatal(err)
			}
			who, err := c.SignedIn(t.Context(), cookie.Text)
			if err != nil {
				t.Fatalf("%s: %v", name, err) // they are let in all the same
			}
			if _, _, err := c.CreateToken(who.Enter(t.Context(), home), *who.Operator, "script", time.Time{}); !errors.Is(err, example.want) {
				t.Errorf("made sure of %s: %v", name, err)
			}
		}
	})
}
