package store_test

import (
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
			state, ok, err := env.Store.LeaseEndpoint(t.Context(), e, owner, at, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			return state, ok
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
				tx.ReleaseEndpoint(e, mine)
				return nil
			})
			if state, ok := lease(theirs, now.Add(2*time.Second+time.Minute)); !ok || state != (store.EndpointState{PausedUntil: state.PausedUntil}) || state.PausedUntil.After(now) {
				t.Errorf("the state is %+v, still theirs: %t", state, ok)
			}
			if _, ok := lease(mine, now.Add(3*time.Second+time.Minute)); ok {
				t.Error("who has lost it lets others have it")
			}
		})
		t.Run("its owner does", func(t *testing.T) {
			env.Write(t, func(tx *store.Tx) error {
				tx.SaveEndpoint(e, theirs, saved)
				tx.ReleaseEndpoint(e, theirs)
				return nil
			})
			if state, ok := lease(mine, now.Add(4*time.Second+time.Minute)); !ok || state.FailureCount != 3 || state.PauseCount != 2 || !state.PausedUntil.Equal(saved.PausedUntil) {
				t.Errorf("the state is %+v, given: %t", state, ok)
			}
		})
	})
}
