package db

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// Cells reads rows value by value, as the driver holds them. A page has tens of
// thousands of values: converting each through Scan takes longer than the query.
// NULL is told by false.
type Cells interface {
	Next() bool
	Text(column int) (string, bool)
	Number(column int) (int64, bool)
	ID(column int) (uuid.UUID, bool)
	// err is what ended the rows before their time, if anything did.
	Err() error
}

// postgresCells reads what came over the wire, where numbers and ids are binary.
type postgresCells struct {
	rows    rawRows
	raw     [][]byte
	texts   textKeeper
	failure error
}

// rawRows are rows with their values as they came.
type rawRows interface {
	Next() bool
	RawValues() [][]byte
	Err() error
}

func (c *postgresCells) Next() bool {
	if c.failure != nil || !c.rows.Next() {
		return false
	}
	c.raw = c.rows.RawValues()
	return true
}

func (c *postgresCells) Text(column int) (string, bool) {
	if c.raw[column] == nil {
		return "", false
	}
	return c.texts.keep(c.raw[column]), true
}

func (c *postgresCells) Number(column int) (int64, bool) {
	const wide = 8
	raw := c.raw[column]
	if raw == nil || !c.has(column, wide) {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(raw)), true
}

func (c *postgresCells) ID(column int) (uuid.UUID, bool) {
	raw := c.raw[column]
	if raw == nil || !c.has(column, len(uuid.UUID{})) {
		return uuid.Nil, false
	}
	return uuid.UUID(raw), true
}

// has notes a value of another width: it is of another type, or written as text.
func (c *postgresCells) has(column, width int) bool {
	isRight := len(c.raw[column]) == width
	if !isRight && c.failure == nil {
		c.failure = fmt.Errorf("db: column %d of a listing has %d bytes instead of %d", column, len(c.raw[column]), width)
	}
	return isRight
}

func (c *postgresCells) Err() error {
	if c.failure != nil {
		return c.failure
	}
	return c.rows.Err()
}

// sqliteCells takes the values that the driver has made already.
type sqliteCells struct {
	rows    *sql.Rows
	values  []any
	into    []any
	failure error
}

func newSQLiteCells(rows *sql.Rows) *sqliteCells {
	columns, err := rows.Columns()
	c := &sqliteCells{rows: rows, values: make([]any, len(columns)), into: make([]any, len(columns)), failure: err}
	for i := range c.values {
		c.into[i] = &c.values[i]
	}
	return c
}

func (c *sqliteCells) Next() bool {
	if c.failure != nil || !c.rows.Next() {
		return false
	}
	c.failure = c.rows.Scan(c.into...)
	return c.failure == nil
}

func (c *sqliteCells) Text(column int) (string, bool) {
	text, known := c.values[column].(string)
	return text, known
}

func (c *sqliteCells) Number(column int) (int64, bool) {
	number, known := c.values[column].(int64)
	return number, known
}

func (c *sqliteCells) ID(column int) (uuid.UUID, bool) {
	text, known := c.values[column].(string)
	if !known {
		return uuid.Nil, false
	}
	id, err := uuid.Parse(text)
	if err != nil && c.failure == nil {
		c.failure = fmt.Errorf("db: column %d of a listing cannot be read: %w", column, err)
	}
	return id, true
}

func (c *sqliteCells) Err() error {
	if c.failure != nil {
		return c.failure
	}
	return c.rows.Err()
}

// textKeeper copies texts into pieces of memory that many of them share: a page
// has some ten thousand, and each allocation of its own would cost more than the
// copy. What it gave stays as it is when it begins the next piece.
type textKeeper struct{ piece strings.Builder }

func (k *textKeeper) keep(text []byte) string {
	const pieceSize = 32 << 10
	if k.piece.Cap()-k.piece.Len() < len(text) {
		k.piece = strings.Builder{}
		k.piece.Grow(max(pieceSize, len(text)))
	}
	start := k.piece.Len()
	k.piece.Write(text)
	return k.piece.String()[start:]
}
