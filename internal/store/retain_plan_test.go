package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestWhatHasHadItsTimeIsFoundByAnIndex reads the plans of the sweep among many rows:
// a step must cost what it removes, and not what is there.
func TestWhatHasHadItsTimeIsFoundByAnIndex(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		shop := env.Shop(t)
		env.Settled(t, shop)
		const many = 5_000
		for _, table := range []string{"leads", "sessions", "events"} {
			multiply(t, env, table, 1, many, map[string]string{
				"id": "$id", "lead_id": "$id", "email_key": "'e' || n", "token": "'t' || n", "event_key": "'k' || n", "holds_lead": "holds_lead",
			})
		}
		env.Exec(t, `INSERT INTO events_in_line SELECT tenant_id, webhook_profile_id, id FROM events
			WHERE webhook_profile_id IS NOT NULL AND id NOT IN (SELECT event_id FROM events_in_line)`)
		if env.Engine == "postgres" {
			env.Exec(t, "ANALYZE")
		}
		for statement, index := range store.ForgettingStatements {
			args := []any{shop.ID.String(), uuid.Nil.String(), int64(0), 100}
			if !strings.Contains(statement, "$3") {
				args = []any{time.Unix(0, 0).UnixMicro(), 100}
			}
			plan := env.Explain(t, statement, args)
			if env.Engine == "sqlite" {
				index = map[string]string{"sessions_unpaid_idx": "sessions_unpaid_idx"}[index] // keys have no name there
			}
			if strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "SCAN events") || !strings.Contains(plan, index) {
				t.Errorf("%s\nhas the plan\n%s", statement, plan)
			}
		}
	})
}
