package store_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// operatorOf writes an operator and gives it as it is stored.
func operatorOf(t *testing.T, env *storetest.Env, email string, change ...func(*store.Operator)) store.Operator {
	t.Helper()
	o := store.Operator{
		ID: payment.NewID(), Email: email, Role: store.Finance, Status: store.OperatorActive, PasswordHash: "hash", CreatedAt: env.Now, UpdatedAt: env.Now,
	}
	for _, c := range change {
		c(&o)
	}
	env.Write(t, func(tx *store.Tx) error { tx.AddOperator(o); return nil })
	return o
}

// admit gives an operator one of everything that lets somebody in, under names of its own.
func admit(t *testing.T, env *storetest.Env, o store.Operator, name string) {
	t.Helper()
	env.Write(t, func(tx *store.Tx) error {
		tx.AddTicket(store.Ticket{Hash: "ticket " + name, OperatorID: o.ID, Kind: store.TicketWelcome, ExpiresAt: env.Now.Add(time.Hour)})
		tx.AddSignIn(store.OperatorSession{
			Hash: "session " + name, OperatorID: o.ID, IsWhole: true, Address: "192.0.2.1", CreatedAt: env.Now, SeenAt: env.Now, EndsAt: env.Now.Add(time.Hour),
		})
		tx.AddToken(store.OperatorToken{ID: payment.NewID(), OperatorID: o.ID, Name: name, Hash: "token " + name, CreatedAt: env.Now, ExpiresAt: env.Now.Add(time.Hour)})
		tx.AddPasskey(store.Passkey{ID: payment.NewID(), OperatorID: o.ID, Name: name, CredentialID: "device " + name, Credential: "known", CreatedAt: env.Now})
		return nil
	})
}

// letsIn is what still lets an operator in.
func letsIn(t *testing.T, env *storetest.Env, o store.Operator, name string) (ways []string) {
	t.Helper()
	note := func(way string, is bool, err, none error) {
		if err != nil && (none == nil || !errors.Is(err, none)) {
			t.Fatalf("%s: %v", way, err)
		}
		if is && err == nil {
			ways = append(ways, way)
		}
	}
	ticket, err := env.Store.Ticket(t.Context(), "ticket "+name, env.Now)
	note("link", ticket.OperatorID == o.ID && ticket.Kind == store.TicketWelcome && ticket.ExpiresAt.Equal(env.Now.Add(time.Hour)), err, store.ErrNoTicket)
	session, who, err := env.Store.SignedIn(t.Context(), "session "+name)
	note("session", session.OperatorID == o.ID && who.ID == o.ID, err, store.ErrNoSignIn)
	token, who, isGood, err := env.Store.TokenBearer(t.Context(), "token "+name, env.Now)
	note("token", isGood && token.OperatorID == o.ID && who.ID == o.ID, err, nil)
	tokens, err := env.Store.OperatorTokens(t.Context(), o.ID)
	note("listed token", len(tokens) == 1 && tokens[0].Name == name, err, nil)
	passkeys, err := env.Store.Passkeys(t.Context(), o.ID)
	note("passkey", len(passkeys) == 1 && passkeys[0].Name == name, err, nil)
	return ways
}

var allWaysIn = []string{"link", "session", "token", "listed token", "passkey"}

// TestWhoIsTakenOutIsOutByEveryWay, and nobody else is.
func TestWhoIsTakenOutIsOutByEveryWay(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		one, other := operatorOf(t, env, "One@shop.example"), operatorOf(t, env, "other@shop.example")
		admit(t, env, one, "one")
		admit(t, env, other, "other")
		want := func(o store.Operator, name string, ways ...string) {
			t.Helper()
			if got := letsIn(t, env, o, name); !slices.Equal(got, ways) {
				t.Errorf("%s comes in by %v, want %v", name, got, ways)
			}
		}
		want(one, "one", allWaysIn...)
		want(other, "other", allWaysIn...)
		env.Write(t, func(tx *store.Tx) error { tx.EndAccess(one.ID); return nil })
		want(one, "one")
		want(other, "other", allWaysIn...)
		admit(t, env, one, "one")
		env.Write(t, func(tx *store.Tx) error { tx.RemoveOperator(one.ID); return nil })
		want(one, "one")
		want(other, "other", allWaysIn...)
		if err := env.TryWrite(t, func(tx *store.Tx) error { tx.RemoveOperator(one.ID); return nil }); !errors.Is(err, store.ErrNoOperator) {
			t.Errorf("a second time: %v", err)
		}
	})
}

// TestEachWayInIsItsOwn: to end one ends it alone, and it ends when its time is over.
func TestEachWayInIsItsOwn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		one, other := operatorOf(t, env, "one@shop.example"), operatorOf(t, env, "other@shop.example")
		admit(t, env, one, "one")
		admit(t, env, other, "other")
		tokens, err := env.Store.OperatorTokens(t.Context(), one.ID)
		if err != nil || len(tokens) != 1 {
			t.Fatalf("%d tokens: %v", len(tokens), err)
		}
		revoke := func(by store.Operator) error {
			return env.TryWrite(t, func(tx *store.Tx) error { tx.RevokeToken(by.ID, tokens[0].ID); return nil })
		}
		if err := revoke(other); !errors.Is(err, store.ErrNoToken) {
			t.Errorf("another's token is revoked: %v", err)
		}
		useLink := func() error {
			return env.TryWrite(t, func(tx *store.Tx) error { tx.UseTicket(store.Ticket{Hash: "ticket one"}); return nil })
		}
		if err := errors.Join(revoke(one), useLink()); err != nil {
			t.Error(err)
		}
		if err := useLink(); !errors.Is(err, store.ErrNoTicket) {
			t.Errorf("a link opens twice: %v", err)
		}
		env.Write(t, func(tx *store.Tx) error { tx.EndSignIn("session one"); return nil })
		if got := letsIn(t, env, one, "one"); !slices.Equal(got, []string{"passkey"}) {
			t.Errorf("left are %v", got)
		}
		if got := letsIn(t, env, other, "other"); !slices.Equal(got, allWaysIn) {
			t.Errorf("another comes in by %v", got)
		}
		env.Now = env.Now.Add(time.Hour)
		if _, err := env.Store.Ticket(t.Context(), "ticket other", env.Now); !errors.Is(err, store.ErrNoTicket) {
			t.Errorf("a link whose time is over: %v", err)
		}
		if _, _, isGood, err := env.Store.TokenBearer(t.Context(), "token other", env.Now); err != nil || isGood {
			t.Errorf("a token whose time is over is good: %v, %v", isGood, err)
		}
		admit(t, env, one, "two")
		if env.Count(t, "operator_sessions") != 1 || env.Count(t, "operator_tickets") != 1 {
			t.Error("what is over is kept")
		}
	})
}

// TestALinkTakesThePlaceOfTheOneBefore of the same operator.
func TestALinkTakesThePlaceOfTheOneBefore(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		one, other := operatorOf(t, env, "one@shop.example"), operatorOf(t, env, "other@shop.example")
		for _, link := range []store.Ticket{{Hash: "first", OperatorID: one.ID}, {Hash: "other", OperatorID: other.ID}, {Hash: "second", OperatorID: one.ID}} {
			link.Kind, link.ExpiresAt = store.TicketWelcome, env.Now.Add(time.Hour)
			env.Write(t, func(tx *store.Tx) error { tx.AddTicket(link); return nil })
		}
		for hash, want := range map[string]error{"first": store.ErrNoTicket, "second": nil, "other": nil} {
			if _, err := env.Store.Ticket(t.Context(), hash, env.Now); !errors.Is(err, want) {
				t.Errorf("the link %s gives %v", hash, err)
			}
		}
	})
}

// TestWhatIsInUseIsSeen of one session and one token, and not of those beside them.
func TestWhatIsInUseIsSeen(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		one, other := operatorOf(t, env, "one@shop.example"), operatorOf(t, env, "other@shop.example")
		admit(t, env, one, "one")
		admit(t, env, other, "other")
		tokens, err := env.Store.OperatorTokens(t.Context(), one.ID)
		if err != nil {
			t.Fatal(err)
		}
		before := env.Now
		env.Now = before.Add(time.Minute)
		env.Write(t, func(tx *store.Tx) error {
			tx.SeeSignIn("session one")
			tx.UseToken(tokens[0].ID)
			return nil
		})
		for name, want := range map[string]struct{ seen, used time.Time }{"one": {env.Now, env.Now}, "other": {before, time.Time{}}} {
			session, _, err := env.Store.SignedIn(t.Context(), "session "+name)
			token, _, _, tokenErr := env.Store.TokenBearer(t.Context(), "token "+name, env.Now)
			if errors.Join(err, tokenErr) != nil || !session.SeenAt.Equal(want.seen) || !token.LastUsedAt.Equal(want.used) {
				t.Errorf("%s was seen at %s and used at %s: %v", name, session.SeenAt, token.LastUsedAt, errors.Join(err, tokenErr))
			}
		}
	})
}

// TestAnOperatorIsFoundAsWritten, by each of the names, and is there once.
func TestAnOperatorIsFoundAsWritten(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		some := store.TenantSet{IDs: []uuid.UUID{payment.NewID(), payment.NewID()}}
		one := operatorOf(t, env, "One@Shop.example", func(o *store.Operator) { o.Tenants, o.SealedTOTP, o.TOTPStep = some, "sealed", 7 })
		all := operatorOf(t, env, "all@shop.example", func(o *store.Operator) {
			o.Tenants, o.ProviderSubject, o.ProviderSeenAt = store.TenantSet{All: true}, "subject", env.Now
		})
		wantFound := func(want store.Operator, o store.Operator, err error) {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
			storetest.Equal(t, o, want)
		}
		o, err := env.Store.Operator(t.Context(), one.ID)
		wantFound(one, o, err)
		o, err = env.Store.OperatorByEmail(t.Context(), "ONE@shop.EXAMPLE")
		wantFound(one, o, err)
		o, err = env.Store.OperatorBySubject(t.Context(), "subject")
		wantFound(all, o, err)
		if _, err := env.Store.OperatorBySubject(t.Context(), ""); !errors.Is(err, store.ErrNoOperator) {
			t.Errorf("who comes by no provider is found by it: %v", err)
		}
		again := one
		again.ID = payment.NewID()
		if err := env.TryWrite(t, func(tx *store.Tx) error { tx.AddOperator(again); return nil }); !store.IsEmailTaken(err) {
			t.Errorf("the address a second time: %v", err)
		}
		if listed, err := env.Store.Operators(t.Context()); err != nil || len(listed) != 2 || listed[0].ID != all.ID {
			t.Errorf("%d are listed: %v", len(listed), err)
		}
		if store.IsEmailTaken(store.ErrNoOperator) {
			t.Error("any refusal is one of the address")
		}
	})
}

// TestOfTwoChangesOfAnOperatorOneHolds, and what rests on the one before is refused.
func TestOfTwoChangesOfAnOperatorOneHolds(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		was, other := operatorOf(t, env, "one@shop.example"), operatorOf(t, env, "other@shop.example")
		hold := func() error { return env.TryWrite(t, func(tx *store.Tx) error { tx.HoldOperator(was); return nil }) }
		change := func(to store.Role) error {
			o := was
			o.Role = to
			return env.TryWrite(t, func(tx *store.Tx) error { tx.ChangeOperator(was, o); return nil })
		}
		if err := hold(); err != nil {
			t.Error(err)
		}
		env.Now = env.Now.Add(time.Second)
		if err := change(store.Viewer); err != nil {
			t.Error(err)
		}
		for what, err := range map[string]error{"a second change": change(store.Administrator), "what rests on the first": hold()} {
			if !errors.Is(err, store.ErrOperatorChanged) {
				t.Errorf("%s gave %v", what, err)
			}
		}
		for id, want := range map[uuid.UUID]store.Role{was.ID: store.Viewer, other.ID: store.Finance} {
			if o, err := env.Store.Operator(t.Context(), id); err != nil || o.Role != want {
				t.Errorf("the role is %s, want %s: %v", o.Role, want, err)
			}
		}
	})
}

// TestEachRoleHasWhatTheOneBeforeHas, and one that is unknown has nothing, nor does anybody have it.
func TestEachRoleHasWhatTheOneBeforeHas(t *testing.T) {
	t.Parallel()
	for i, role := range store.Roles {
		for k, other := range store.Roles {
			if role.Includes(other) != (i >= k) {
				t.Errorf("%s includes %s: %v", role, other, role.Includes(other))
			}
		}
		if role.Includes("owner") || store.Role("owner").Includes(role) {
			t.Errorf("%s and a role that nobody knows include each other", role)
		}
	}
}
