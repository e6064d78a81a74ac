package store_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"golang.org/x/sync/errgroup"

	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// noted writes entries, some at a time, and gives every one a place.
func noted(t *testing.T, env *storetest.Env, count int) {
	t.Helper()
	var group errgroup.Group
	const writers = 4
	for writer := range writers {
		group.Go(func() error {
			for i := range count / writers {
				ctx := store.WithActor(context.Background(), store.Actor{Name: "cli:ada", Address: "192.0.2.1"})
				deed := store.Deed{Action: "thing.change", ObjectType: "thing", ObjectID: strconv.Itoa(writer*count + i), Before: map[string]any{"a": i}, After: map[string]any{"a": "ä\u2028"}}
				if err := env.Store.Note(ctx, deed); err != nil {
					return err
				}
				if _, err := env.Store.ChainAudit(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

func TestTheAuditTrailIsAChain(t *testing.T) {
	t.Parallel()
	const count = 24
	for name, c := range map[string]struct {
		tamper string
		place  int64 // that is found to be broken, 0 for none
	}{
		"nobody touched it":         {"", 0},
		"somebody else is named":    {`UPDATE audit_entries SET actor = 'root' WHERE place = 7`, 7},
		"something else was done":   {`UPDATE audit_entries SET became = '{"a":1}' WHERE place = 8`, 8},
		"it was at another time":    {`UPDATE audit_entries SET at = at + 1 WHERE place = 9`, 9},
		"nothing stands for null":   {`UPDATE audit_entries SET became = NULL WHERE place = 10`, 10},
		"an entry is gone":          {`DELETE FROM audit_entries WHERE place = 5`, 5},
		"the last one is gone":      {`DELETE FROM audit_entries WHERE place = 24`, 24},
		"the end was moved as well": {`UPDATE audit_chain SET last_place = 23; DELETE FROM audit_entries WHERE place = 24`, 23},
		"two have changed places":   {`UPDATE audit_entries SET place = -1 WHERE place = 3; UPDATE audit_entries SET place = 3 WHERE place = 4; UPDATE audit_entries SET place = 4 WHERE place = -1`, 3},
		"the end is gone":           {`DELETE FROM audit_chain`, 24},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, env *storetest.Env) {
				noted(t, env, count)
				if c.tamper != "" {
					env.Exec(t, c.tamper)
				}
				length, head, err := env.Store.VerifyAudit(t.Context())
				broken, isBroken := errors.AsType[*store.ChainError](err)
				switch {
				case c.place == 0 && (err != nil || length != count || len(head) != 64):
					t.Errorf("%d entries, %s: %v", length, head, err)
				case c.place != 0 && (!isBroken || broken.Place != c.place):
					t.Errorf("found %v, want place %d", err, c.place)
				}
			})
		})
	}
}

// TestAPauseOfTheServiceLeavesOneEntry has an account paused again and again, as every refused rebill asks for it.
func TestAPauseOfTheServiceLeavesOneEntry(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		entries := func() int {
			return env.Count(t, "audit_entries WHERE action = 'gateway.pause' AND actor = 'service' AND became LIKE '%AC03%'")
		}
		pause := func(reason payment.PauseReason) {
			env.Write(t, func(tx *store.Tx) error {
				tx.PauseRebills(payment.RebillPause{TenantID: shop.ID, GatewayID: shop.Gateway.ID, Reason: reason, Code: "AC03", Since: env.Now, Until: env.Now})
				return nil
			})
		}
		pause(payment.PausedAway)
		if got := entries(); got != 0 {
			t.Errorf("a gateway that is away left %d entries", got)
		}
		pause(payment.PausedByCreditorCode)
		pause(payment.PausedByCreditorCode)
		if got := entries(); got != 1 {
			t.Errorf("%d entries", got)
		}
		env.Write(t, func(tx *store.Tx) error {
			tx.ResumeRebills(shop.ID, shop.Gateway.ID, payment.PausedByCreditorCode)
			return nil
		})
		pause(payment.PausedByCreditorCode)
		if got := entries(); got != 2 {
			t.Errorf("%d entries after a second pause", got)
		}
	})
}
