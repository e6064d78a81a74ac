package db

import (
	"context"
	"log/slog"
)

// Tests of the engines speak SQL of their own within a unit of work.

// Int reads a number within the unit.
func (tx *Tx) Int(sql string, args ...any) (int64, error) {
	result, err := tx.Query(sql, args...)
	return One(result, err, func(r Rows) (n int64, err error) { return n, r.Scan(&n) })
}

func QueueLogger(o Options) *slog.Logger { return o.queueLogger() }

const GroupSize = groupSize

const SharedLanes = sharedLanes + spareLanes

// SharedQueue counts PostgreSQL's lanes of a kind at work and the units that stand behind them.
func SharedQueue(d *DB, kind string) (busy, waiting int) {
	return d.engine.(*postgres).lanesOf(kind).count()
}

const LookLanes = lookLanes + spareLanes

// LookQueue counts the lanes of looks at work, and those that stand behind them.
func LookQueue(d *DB) (busy, waiting int) {
	d.engine.(*postgres).looks.known.Range(func(_, lanes any) bool {
		b, w := lanes.(*gatherer[*look]).count()
		busy, waiting = busy+b, waiting+w
		return true
	})
	return busy, waiting
}

func (g *gatherer[T]) count() (busy, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.busy, len(g.waiting)
}

// WaitForRows lets groups wait for rows for as long as it takes.
func WaitForRows(d *DB) { d.engine.(*postgres).shared.rowPatience = 0 }

const PlanFor = planFor

// SetForms are the statements for many rows that were needed so far.
func SetForms(d *DB) (forms []string) {
	d.engine.(*postgres).forms.known.Range(func(_, form any) bool {
		if form != "" {
			forms = append(forms, form.(string))
		}
		return true
	})
	return forms
}

// PlansOfGroups counts how often groups of looks had a plan that their connection keeps, and one that was made for them alone.
func PlansOfGroups(ctx context.Context, d *DB) (kept, anew int64, err error) {
	for _, connection := range d.engine.(*postgres).connections.AcquireAllIdle(ctx) {
		defer connection.Release()
		var k, a int64
		err := connection.QueryRow(ctx, `SELECT COALESCE(SUM(generic_plans), 0)::bigint, COALESCE(SUM(custom_plans), 0)::bigint
			FROM pg_prepared_statements WHERE statement LIKE 'SELECT found.*%'`).Scan(&k, &a)
		if err != nil {
			return 0, 0, err
		}
		kept, anew = kept+k, anew+a
	}
	return kept, anew, nil
}

// ToolAddress is an address as programs of PostgreSQL's take it.
func ToolAddress(address string) (string, error) { return toolAddress(address) }
