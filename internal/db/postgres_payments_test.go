package db_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
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

// TestPaymentsShareCommits lets payments gather behind lanes that all wait for sessions that somebody holds: their claims,
// and then the answers to them.
func TestPaymentsShareCommits(t *testing.T) {
	t.Parallel()
	const payments = 7
	env := storetest.FreshPostgres(t)
	db.WaitForRows(env.Store.DB)
	shop := env.Shop(t)
	blocked, free := make([]payment.Change, db.SharedLanes), make([]payment.Change, payments)
	gathered := func(what string, prepare func(c *payment.Change), write func(t testing.TB, c payment.Change) error) {
		for _, changes := range [][]payment.Change{blocked, free} {
			for i := range changes {
				prepare(&changes[i])
			}
		}
		release := hold(t, env, "UPDATE sessions SET updated_at = 0 WHERE id IN ("+sessionsOf(blocked)+")")
		var all sync.WaitGroup
		for i, change := range slices.Concat(blocked, free) {
			all.Go(func() {
				if err := write(t, change); err != nil {
					t.Errorf("%s %d: %v", what, i, err)
				}
			})
			await(env, "sessions", min(i+1, db.SharedLanes), max(0, i+1-db.SharedLanes))
		}
		release()
		all.Wait()
		commits := map[string]bool{}
		for _, change := range free {
			commits[storetest.Scalar[string](t, env, "SELECT xmin::text FROM transactions WHERE id = $1", change.Transaction.ID.String())] = true
		}
		if len(commits) != 1 {
			t.Errorf("%d %ss that waited together have %d commits", payments, what, len(commits))
		}
	}
	gathered("claim", func(c *payment.Change) { *c = env.Begin(t, env.Session(t, shop)) }, env.Claim)
	gathered("answer", func(c *payment.Change) {
		*c = env.Decide(t, env.Debit(t, c.Transaction), payment.Outcome{Verdict: payment.VerdictApproved})
	}, env.Apply)
	if approved := env.Count(t, "transactions WHERE status = 'approved'"); approved != len(blocked)+len(free) {
		t.Errorf("%d payments are approved", approved)
	}
	for _, form := range db.SetForms(env.Store.DB) {
		checkPlan(t, env, form)
	}
}

func sessionsOf(changes []payment.Change) string {
	var ids []string
	for _, c := range changes {
		ids = append(ids, "'"+c.Session.ID.String()+"'")
	}
	return strings.Join(ids, ", ")
}

// checkPlan looks how PostgreSQL would write a set while it knows next to nothing of its tables: such a plan may be kept for long.
func checkPlan(t *testing.T, env *storetest.Env, form string) {
	t.Helper()
	bare := env.DB(t)
	defer bare.Close()
	connection, err := bare.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	parameters, _, _ := strings.Cut(form[strings.Index(form, "unnest("):], ")")
	nulls := strings.Repeat(", NULL", strings.Count(parameters, "[]"))[2:]
	for _, text := range []string{"BEGIN", strings.Replace(db.PlanFor, "$1", "'0'", 1), "SET LOCAL plan_cache_mode = force_generic_plan", "PREPARE form AS " + form} {
		if _, err := connection.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	rows, err := connection.QueryContext(t.Context(), "EXPLAIN EXECUTE form ("+nulls+")")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	plan := ""
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		plan += line + "\n"
	}
	found := strings.Contains(plan, "Index Cond: ((tenant_id = rows.p1) AND (id = rows.p2))")
	if strings.Contains(plan, "Seq Scan") || strings.Contains(form, "UPDATE") && !strings.Contains(form, "ON CONFLICT") && !found {
		t.Errorf("%s\n%s", form, plan)
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
			env := storetest.FreshPostgres(t)
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
