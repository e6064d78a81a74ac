package db_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// hold has somebody hold the rows that a statement changes, until they are let go.
func hold(t *testing.T, env *storetest.Env, statement string) (release func()) {
	t.Helper()
	bare := env.DB(t)
	t.Cleanup(func() { bare.Close() })
	holder, err := bare.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holder.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	return sync.OnceFunc(func() {
		if err := holder.Rollback(); err != nil {
			t.Error(err)
		}
	})
}

// TestPaymentsShareCommits lets payments gather behind lanes that all wait for sessions that somebody holds.
func TestPaymentsShareCommits(t *testing.T) {
	t.Parallel()
	const payments = 7
	env := storetest.Postgres(t)
	db.WaitForRows(env.Store.DB)
	shop := env.Shop(t)
	var blocked, free []payment.Change
	for range db.SharedLanes {
		blocked = append(blocked, env.Begin(t, env.Session(t, shop)))
	}
	release := hold(t, env, "UPDATE sessions SET updated_at = 0")
	for range payments {
		free = append(free, env.Begin(t, env.Session(t, shop)))
	}
	var all sync.WaitGroup
	together := func(changes []payment.Change, busy, waiting int) {
		for i, change := range changes {
			all.Go(func() {
				if err := env.Claim(t, change); err != nil {
					t.Errorf("claim %d: %v", i, err)
				}
			})
			await(env, "sessions", min(busy+i+1, db.SharedLanes), max(waiting, waiting+busy+i+1-db.SharedLanes))
		}
	}
	together(blocked, 0, 0)
	together(free, db.SharedLanes, 0)
	release()
	all.Wait()
	commits := map[string]bool{}
	for _, change := range free {
		commits[storetest.Scalar[string](t, env, "SELECT xmin::text FROM transactions WHERE id = $1", change.Transaction.ID.String())] = true
	}
	if len(commits) != 1 {
		t.Errorf("%d claims that waited together have %d commits", payments, len(commits))
	}
	for _, change := range free {
		env.Settle(t, env.Debit(t, change.Transaction), payment.Outcome{Verdict: payment.VerdictApproved})
	}
}

// TestAHeldRowHoldsUpNobodyElse has as many units wait for a row that somebody holds as there are lanes. Others come by.
func TestAHeldRowHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		kind, row string
		// waits gives somebody who needs the row, and an error that is none of the row's.
		waits func(t *testing.T, env *storetest.Env, shop storetest.Shop, busy store.Found) func() error
	}{
		{"a lead", "UPDATE leads SET updated_at = 0", func(t *testing.T, env *storetest.Env, shop storetest.Shop, busy store.Found) func() error {
			draft := env.Draft(shop, func(d *storetest.Draft) { d.Lead.Email = busy.Lead.Email })
			return func() error {
				if err := env.Create(t, draft); !store.IsLeadBusy(err) {
					return fmt.Errorf("a create for a lead with a session: %w", err)
				}
				return nil
			}
		}},
		{"a session", "UPDATE sessions SET updated_at = 0", func(t *testing.T, env *storetest.Env, _ storetest.Shop, busy store.Found) func() error {
			claim := env.Begin(t, busy)
			return func() error {
				err := env.Claim(t, claim)
				if _, isRefused := errors.AsType[*payment.Error](err); err != nil && !isRefused {
					return err
				}
				return nil
			}
		}},
	} {
		t.Run(of.kind, func(t *testing.T) {
			t.Parallel()
			env := storetest.Postgres(t)
			// Who waits alone has a connection: there are more than of those.
			env.Store = env.ReopenWith(t, store.Options{Vault: env.Vault, Options: db.Options{MaxConnections: 4 * db.SharedLanes}})
			shop := env.Shop(t)
			busy := env.Session(t, shop)
			release := hold(t, env, of.row)
			var held sync.WaitGroup
			for range db.SharedLanes {
				waits := of.waits(t, env, shop, busy)
				held.Go(func() {
					if err := waits(); err != nil {
						t.Error(err)
					}
				})
			}
			env.Attempt(t, env.Session(t, shop))
			release()
			held.Wait()
		})
	}
}
