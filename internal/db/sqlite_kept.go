package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"time"

	sqlitedriver "modernc.org/sqlite"
	sqlitecode "modernc.org/sqlite/lib"
)

// maxKept bounds the statements that a connection keeps; texts that differ from
// call to call must not pile up.
const maxKept = 256

// openKeeping gives connections to SQLite that keep the statements that they have
// compiled, whoever sends them and whether or not within a transaction: compiling
// one of ours costs more than running it.
func openKeeping(dsn string) (*sql.DB, error) {
	connector, err := sqlitedriver.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(keepingConnector{connector}), nil
}

type keepingConnector struct{ driver.Connector }

func (c keepingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	bare, err := c.connectInTurn(ctx)
	if err != nil {
		return nil, err
	}
	return &keepingConn{bareConn: bare.(bareConn), kept: map[string]keptStatement{}}, nil
}

// connectInTurn waits for whoever makes the file just now. SQLite's busy timeout does not help there: a connection
// that turns to a log beside the file reads it already, and is told at once that it is locked.
func (c keepingConnector) connectInTurn(ctx context.Context) (driver.Conn, error) {
	patience, cancel := context.WithTimeout(ctx, busyTimeout)
	defer cancel()
	for {
		bare, err := c.Connector.Connect(ctx)
		if !isBusy(err) {
			return bare, err
		}
		select {
		case <-patience.Done():
			return nil, err
		case <-time.After(busyTimeout / 1000):
		}
	}
}

func isBusy(err error) bool {
	var refusal *sqlitedriver.Error
	return errors.As(err, &refusal) && refusal.Code()&0xff == sqlitecode.SQLITE_BUSY
}

// bareConn is the driver's own connection.
type bareConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.SessionResetter
	driver.Validator
}

// bareStatement is a statement of the driver's.
type bareStatement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// keepingConn is used by one at a time, which database/sql sees to.
type keepingConn struct {
	bareConn
	kept  map[string]keptStatement
	turns uint64
}

// keptStatement is a statement at rest, and the turn in which it last ran.
type keptStatement struct {
	statement bareStatement
	turn      uint64
}

// valueLimits are limits given by a parameter. SQLite plans with the value, and so
// compiles such a statement anew each time that it runs; a sum's it does not look at.
var valueLimits = strings.NewReplacer("LIMIT $", "LIMIT +$", "LIMIT ?", "LIMIT +?")

// take gives a compiled statement, which is its taker's alone.
func (c *keepingConn) take(ctx context.Context, text string) (bareStatement, error) {
	if known, ok := c.kept[text]; ok {
		delete(c.kept, text)
		return known.statement, nil
	}
	statement, err := c.PrepareContext(ctx, valueLimits.Replace(text))
	if err != nil {
		return nil, err
	}
	return statement.(bareStatement), nil
}

// keep puts a statement back that has run; the one that has rested longest makes way.
func (c *keepingConn) keep(text string, statement bareStatement) error {
	if _, isTwice := c.kept[text]; isTwice { // it ran while the rows of the other were read
		return statement.Close()
	}
	var err error
	if len(c.kept) >= maxKept {
		oldest := ""
		for text, known := range c.kept {
			if oldest == "" || known.turn < c.kept[oldest].turn {
				oldest = text
			}
		}
		err = c.kept[oldest].statement.Close()
		delete(c.kept, oldest)
	}
	c.turns++
	c.kept[text] = keptStatement{statement, c.turns}
	return err
}

// ExecContext keeps what takes parameters. Other statements run once in a while, and
// some, as PRAGMA, have their effect while they are compiled.
func (c *keepingConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	if len(args) == 0 {
		return nil, driver.ErrSkip
	}
	statement, err := c.take(ctx, text)
	if err != nil {
		return nil, err
	}
	result, err := statement.ExecContext(ctx, args)
	if err != nil {
		_ = statement.Close() // which says no more than that it has failed
		return nil, err
	}
	return result, c.keep(text, statement)
}

func (c *keepingConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	if len(args) == 0 {
		return nil, driver.ErrSkip
	}
	statement, err := c.take(ctx, text)
	if err != nil {
		return nil, err
	}
	rows, err := statement.QueryContext(ctx, args)
	if err != nil {
		_ = statement.Close()
		return nil, err
	}
	return &keepingRows{Rows: rows, of: c, text: text, statement: statement}, nil
}

func (c *keepingConn) Close() error {
	var err error
	for _, known := range c.kept {
		err = errors.Join(err, known.statement.Close())
	}
	clear(c.kept)
	return errors.Join(err, c.bareConn.Close())
}

// keepingRows puts their statement back once they are read.
type keepingRows struct {
	driver.Rows
	of        *keepingConn
	text      string
	statement bareStatement
}

func (r *keepingRows) Close() error {
	if err := r.Rows.Close(); err != nil {
		_ = r.statement.Close()
		return err
	}
	return r.of.keep(r.text, r.statement)
}
