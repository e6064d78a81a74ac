package db

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// guard is what a connection is made for only if the database still answers a question as it should.
type guard struct {
	question string
	admits   func(answer string) error
}

// Guard has the database asked about itself over every connection that is made from now on, which is closed again where
// the answer is refused. A file stays who it was while it is open.
func (d *DB) Guard(question string, admits func(answer string) error) {
	if p, ok := d.engine.(*postgres); ok {
		p.guard.Store(&guard{question, admits})
	}
}

// GuardReplica does so for the replica, where there is one.
func (d *DB) GuardReplica(question string, admits func(answer string) error) {
	if d.replica == nil {
		return
	}
	if p, ok := d.replica.engine.(*postgres); ok {
		p.guard.Store(&guard{question, admits})
	}
}

// guarded asks after what else is to be said to a new connection.
func (p *postgres) guarded(first func(context.Context, *pgx.Conn) error) func(context.Context, *pgx.Conn) error {
	return func(ctx context.Context, c *pgx.Conn) error {
		if first != nil {
			if err := first(ctx, c); err != nil {
				return err
			}
		}
		at := p.guard.Load()
		if at == nil {
			return nil
		}
		var answer string
		if err := c.QueryRow(ctx, at.question, pgx.QueryExecModeSimpleProtocol).Scan(&answer); err != nil {
			return err
		}
		return at.admits(answer)
	}
}
