package db

import (
	"context"
	"database/sql"
	"sync"
)

// maxPrepared bounds the statements that are kept; texts that differ from call
// to call must not pile up.
const maxPrepared = 256

// prepared keeps statements that SQLite has compiled: compiling one of ours
// costs more than running it.
type prepared struct {
	db *sql.DB

	mu        sync.RWMutex
	ready     map[string]*sql.Stmt
	scheduled []string
}

func newPrepared(db *sql.DB) *prepared { return &prepared{db: db, ready: map[string]*sql.Stmt{}} }

// find gives a statement that is ready, nil for one that is not.
func (p *prepared) find(text string) *sql.Stmt {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.ready[text]
}

// prepare gives a statement and keeps it, or nil where it is not to be kept.
func (p *prepared) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	if known := p.find(text); known != nil {
		return known, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.ready[text]; known != nil || len(p.ready) >= maxPrepared {
		return known, nil
	}
	statement, err := p.db.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	p.ready[text] = statement
	return statement, nil
}

// schedule notes a statement to be prepared when the connection is free. Within a
// transaction the only connection is taken, and preparing would wait for ever.
func (p *prepared) schedule(text string) { p.scheduled = append(p.scheduled, text) }

// prepareScheduled prepares what was scheduled. What cannot be prepared is run as it is,
// and says then what is wrong with it.
func (p *prepared) prepareScheduled(ctx context.Context) {
	for _, text := range p.scheduled {
		_, _ = p.prepare(ctx, text)
	}
	p.scheduled = p.scheduled[:0]
}

// exec runs a statement within a transaction, compiled where it already is.
func (p *prepared) exec(ctx context.Context, tx *sql.Tx, text string, args ...any) (sql.Result, error) {
	if ready := p.find(text); ready != nil {
		return tx.StmtContext(ctx, ready).ExecContext(ctx, args...)
	}
	p.schedule(text)
	return tx.ExecContext(ctx, text, args...)
}
