package store_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// The pick of what is due reads the index of due dates from its beginning and
// everything else by its key: then it costs the same among ten thousand
// subscriptions as among a million, however many of them are due.
func TestDueSubscriptionsAreReadFromTheirIndex(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		sold := subscribed(t, env, env.Shop(t), weekly)
		due := sold.NextBillingDate.Start()
		const some, all = 2_000, 8_000
		few := planOfThePick(t, env, 1, some, due.UnixMicro())
		if fault := faultOfThePick(env.Engine, few); fault != "" {
			t.Errorf("the plan has %s:\n%s", fault, few)
		}
		if env.Engine == "sqlite" {
			return // it knows nothing of how many there are
		}
		many := planOfThePick(t, env, some+1, all, due.UnixMicro())
		if fault := faultOfThePick(env.Engine, many); fault != "" {
			t.Errorf("among many the plan has %s:\n%s", fault, many)
		}
		if costOf(t, many) > 1.5*costOf(t, few) {
			t.Errorf("the cost has grown.\nAmong few:\n%s\nAmong many:\n%s", few, many)
		}
	})
}

// planOfThePick copies the only subscription, with all that it hangs on, under
// further numbers, one in twenty of them due, and shows how the pick is made.
func planOfThePick(t *testing.T, env *storetest.Env, from, to int, due int64) string {
	t.Helper()
	const later = 1_000_000 // seconds
	for _, table := range []string{"leads", "sessions", "orders", "transactions", "subscriptions"} {
		multiply(t, env, table, from, to, map[string]string{
			"id": "$id", "lead_id": "$id", "session_id": "$id", "order_id": "$id", "subscription_id": "$id", "last_transaction_id": "$id",
			"email_key": "'e' || n", "token": "'t' || n", "order_number": "'o' || n", "merchant_transaction_id": "'m' || n",
			"due_at": fmt.Sprintf("CASE WHEN n %% 20 = 0 THEN %d - n ELSE %d + n END", due, due+later*1_000_000),
		})
		if env.Engine == "postgres" {
			env.Exec(t, "ANALYZE "+table)
		}
	}
	statement, err := store.SubscriptionsDueStatement(t.Context(), env.Store)
	if err != nil {
		t.Fatal(err)
	}
	return env.Explain(t, statement, []any{due, 8})
}

// multiply copies the first row of a table under numbers, with some columns made
// of the number n.
func multiply(t *testing.T, env *storetest.Env, table string, from, to int, made map[string]string) {
	t.Helper()
	id := map[string]string{
		"sqlite":   "printf('00000000-0000-7000-8000-%012x', n)",
		"postgres": "CAST('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0') AS uuid)",
	}[env.Engine]
	columns := columnsOf(t, env, table)
	values := slices.Clone(columns)
	for i, column := range columns {
		if expression, isMade := made[column]; isMade {
			values[i] = strings.ReplaceAll(expression, "$id", id)
		}
	}
	env.Exec(t, fmt.Sprintf(`
		WITH RECURSIVE numbers (n) AS (SELECT %d UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
		INSERT INTO %s (%s) SELECT %s FROM numbers, (SELECT * FROM %s ORDER BY created_at, id DESC LIMIT 1) AS pattern`,
		from, to, table, strings.Join(columns, ", "), strings.Join(values, ", "), table))
}

func columnsOf(t *testing.T, env *storetest.Env, table string) []string {
	t.Helper()
	db := env.DB(t)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+table+" WHERE 1 = 0")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err := errors.Join(err, rows.Err()); err != nil {
		t.Fatal(err)
	}
	return columns
}

// faultOfThePick names what a good plan lacks or has. Only the few that were
// picked may be sorted, and reading all tenants is fine: they are few.
func faultOfThePick(engine, plan string) string {
	_, pick, _ := strings.Cut(plan, "Limit")
	switch {
	case !strings.Contains(plan, "subscriptions_due_idx"):
		return "another index than that of due dates"
	case strings.Contains(pick, "Sort") || strings.Contains(plan, "TEMP B-TREE"):
		return "a sort of all that is due"
	}
	// SQLite's s is what was picked, not the table; q are pauses, at most one for a gateway.
	whole := regexp.MustCompile(`Seq Scan on (subscriptions|leads|sessions|transactions)|Bitmap|Gather`)
	if engine == "sqlite" {
		whole = regexp.MustCompile(`SCAN [^sq]`)
	}
	return whole.FindString(plan)
}

var totalCost = regexp.MustCompile(`\.\.([0-9.]+) rows`)

// costOf is what PostgreSQL expects the whole statement to cost.
func costOf(t *testing.T, plan string) float64 {
	t.Helper()
	found := totalCost.FindStringSubmatch(plan)
	if found == nil {
		t.Fatalf("no cost in:\n%s", plan)
	}
	cost, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return cost
}
