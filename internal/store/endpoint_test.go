package store_test

import (
	"slices"
	"testing"
	"time"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

func TestAnEndpointHasOneOwner(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		tenant := env.Tenant(t)
		e := store.Endpoint{TenantID: tenant.ID, ProfileID: env.WebhookProfile(t, tenant.ID).ID}
		now, mine, theirs := env.Now, payment.NewID(), payment.NewID()
		lease := func(owner [16]byte, at time.Time) (store.EndpointState, bool) {
			t.Helper()
			env.Now = at
			given, ok, err := env.Store.LeaseEndpoint(t.Context(), e, owner, at, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			return given.State, ok
		}
		if _, ok := lease(mine, now); !ok {
			t.Fatal("nobody has it, and it is not given")
		}
		if _, ok := lease(theirs, now.Add(time.Minute-time.Microsecond)); ok {
			t.Error("a second owner gets it while the first has it")
		}
		if _, ok := lease(mine, now.Add(time.Second)); !ok {
			t.Error("its owner cannot keep it")
		}
		if _, ok := lease(theirs, now.Add(time.Second+time.Minute)); !ok {
			t.Error("a lease that has run out is not given to another")
		}
		saved := store.EndpointState{FailureCount: 3, PauseCount: 2, PausedUntil: now.Add(time.Hour)}
		t.Run("who has lost it says nothing of its receiver any more", func(t *testing.T) {
			env.Write(t, func(tx *store.Tx) error {
				tx.SaveEndpoint(e, mine, saved)
				tx.ReleaseEndpoint(e, mine, new(bool))
				return nil
			})
			if state, ok := lease(theirs, now.Add(2*time.Second+time.Minute)); !ok || state != (store.EndpointState{PausedUntil: state.PausedUntil}) || state.PausedUntil.After(now) {
				t.Errorf("the state is %+v, still theirs: %t", state, ok)
			}
			if _, ok := lease(mine, now.Add(3*time.Second+time.Minute)); ok {
				t.Error("who has lost it lets others have it")
			}
		})
		t.Run("its owner does, and of no other one that it has", func(t *testing.T) {
			beside := store.Endpoint{TenantID: tenant.ID, ProfileID: env.WebhookProfile(t, tenant.ID).ID}
			if _, ok, err := env.Store.LeaseEndpoint(t.Context(), beside, theirs, env.Now, time.Hour); err != nil || !ok {
				t.Fatal(err)
			}
			env.Write(t, func(tx *store.Tx) error {
				tx.SaveEndpoint(e, theirs, saved)
				tx.ReleaseEndpoint(e, theirs, new(bool))
				return nil
			})
			if other, ok, err := env.Store.LeaseEndpoint(t.Context(), beside, theirs, env.Now, time.Hour); err != nil || !ok || other.State.FailureCount != 0 {
				t.Errorf("the state of the other is %+v, still its owner's: %t, %v", other.State, ok, err)
			}
			if state, ok := lease(mine, now.Add(4*time.Second+time.Minute)); !ok || state.FailureCount != 3 || state.PauseCount != 2 || !state.PausedUntil.Equal(saved.PausedUntil) {
				t.Errorf("the state is %+v, given: %t", state, ok)
			}
		})
	})
}

// TestALeaseSaysWhereTheWorkBegins: its owner asks for neither.
func TestALeaseSaysWhereTheWorkBegins(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, other := env.Shop(t), env.Shop(t)
		env.Settled(t, shop)
		env.Settled(t, other)
		e := store.Endpoint{TenantID: shop.ID, ProfileID: shop.Profile.ID}
		lease := func() store.Lease {
			t.Helper()
			given, ok, err := env.Store.LeaseEndpoint(t.Context(), e, payment.NewID(), env.Now, 0)
			if err != nil || !ok {
				t.Fatalf("given: %t, %v", ok, err)
			}
			return given
		}
		version, err := env.Store.SetupVersion(t.Context(), shop.ID)
		if given := lease(); err != nil || given.SetupVersion != version || !given.NextRetry.IsZero() {
			t.Errorf("with nothing to try again it says %+v", given)
		}
		waits := func(shop storetest.Shop, until time.Time) {
			env.OutOfLine(t)
			env.Exec(t, `UPDATE events SET next_attempt_at = $2 WHERE tenant_id = $1`, shop.ID.String(), until.UnixMicro())
		}
		waits(shop, env.Now.Add(time.Minute))
		waits(other, env.Now.Add(time.Second))
		if given := lease(); !given.NextRetry.Equal(env.Now.Add(time.Minute)) {
			t.Errorf("the next retry is at %s, at %s now", given.NextRetry, env.Now)
		}
	})
}

// TestWhoLetsAnEndpointGoSeesWhatIsInLine: what came while it was taken had nobody else to send it.
func TestWhoLetsAnEndpointGoSeesWhatIsInLine(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop, other := env.Shop(t), env.Shop(t)
		env.Settled(t, other)
		e := store.Endpoint{TenantID: shop.ID, ProfileID: shop.Profile.ID}
		release := func() (isDue bool) {
			env.Write(t, func(tx *store.Tx) error {
				tx.ReleaseEndpoint(e, payment.NewID(), &isDue)
				return nil
			})
			return isDue
		}
		if release() {
			t.Error("something is in line for another tenant")
		}
		env.Settled(t, shop)
		if !release() {
			t.Error("what is in line is not seen")
		}
		env.OutOfLine(t)
		if !release() {
			t.Error("what says itself that it is in line is not seen")
		}
		for name, change := range map[string]string{"waits": `next_attempt_at = 5`, "is sent": `next_attempt_at = NULL, delivery_status = 'delivered'`} {
			env.Exec(t, `UPDATE events SET `+change+` WHERE tenant_id = $1`, shop.ID.String())
			if release() {
				t.Errorf("what %s is in line", name)
			}
		}
	})
}

// TestWhoHasSomethingInLineIsFound, and who has what may be tried within a time, unless it is given a rest for longer.
func TestWhoHasSomethingInLineIsFound(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		line, soon, later, done, resting, rested := env.Shop(t), env.Shop(t), env.Shop(t), env.Shop(t), env.Shop(t), env.Shop(t)
		env.Shop(t) // nothing was ever to be told to this one
		for _, shop := range []storetest.Shop{line, soon, later, done, resting, rested} {
			inLine(t, env, shop, 1)
		}
		next := func(shop storetest.Shop, in time.Duration) {
			env.Exec(t, `UPDATE events SET next_attempt_at = $2 WHERE tenant_id = $1`, shop.ID.String(), env.Now.Add(in).UnixMicro())
		}
		env.OutOfLine(t)
		inLine(t, env, line, 1)
		next(soon, time.Minute)
		next(later, time.Minute+time.Microsecond)
		env.Exec(t, `UPDATE events SET delivery_status = 'delivered' WHERE tenant_id = $1`, done.ID.String())
		for shop, until := range map[store.Endpoint]time.Duration{endpointOf(resting): time.Minute + time.Microsecond, endpointOf(rested): time.Minute} {
			env.Exec(t, `INSERT INTO webhook_endpoints (tenant_id, webhook_profile_id, lease_owner, leased_until, failure_count, pause_count, paused_until)
				VALUES ($1, $2, $1, 0, 0, 1, $3)`,
				shop.TenantID.String(), shop.ProfileID.String(), env.Now.Add(until).UnixMicro())
		}
		due, err := env.Store.EndpointsDue(t.Context(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			shop  storetest.Shop
			isDue bool
		}{"in line": {line, true}, "soon": {soon, true}, "later": {later, false}, "delivered": {done, false}, "resting": {resting, false}, "rested": {rested, true}} {
			if slices.Contains(due, endpointOf(c.shop)) != c.isDue {
				t.Errorf("%s: due is not %t", name, c.isDue)
			}
		}
		if len(due) != 3 {
			t.Errorf("%d are due", len(due))
		}
	})
}
