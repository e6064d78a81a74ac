package db

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"
)

// nowWord stands in a statement for the database's clock, in microseconds. It is
// the one clock that several processes agree on: whoever compares an instant that
// another process wrote, or writes one that another will compare, does it in SQL
// with this word and never with a clock of its own.
const nowWord = "db_now()"

// postgresNow is the same for all rows of a statement, so that an index serves it.
const postgresNow = `CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT)`

// sharedClock writes the word out. PostgreSQL has a clock of its own; where read is
// set the time is a parameter, as for SQLite, whose one server is the only one to
// look at it.
type sharedClock struct {
	read  func() time.Time
	texts sync.Map // by the text with the word
}

func (c *sharedClock) write(text string, args []any) (string, []any) {
	if !strings.Contains(text, nowWord) {
		return text, args
	}
	now := postgresNow
	if c.read != nil {
		args = append(args, c.read().UnixMicro())
		now = "CAST($" + strconv.Itoa(len(args)) + " AS BIGINT)"
	}
	if known, ok := c.texts.Load(text); ok {
		return known.(string), args
	}
	written := strings.ReplaceAll(text, nowWord, now)
	c.texts.Store(text, written)
	return written, args
}

// Now reads the database's clock.
func (d *DB) Now(ctx context.Context) (time.Time, error) {
	result, err := d.Query(ctx, `SELECT `+nowWord)
	return One(result, err, func(r Rows) (at time.Time, err error) { return at, r.Scan(Instant{&at}) })
}

// HasOwnClock tells a database with a clock beside this machine's: SQLite's is that of its one server.
func (d *DB) HasOwnClock() bool {
	engine, isPostgres := d.engine.(*postgres)
	return isPostgres && engine.clock.read == nil
}
