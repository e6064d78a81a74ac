package db

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/google/uuid"
)

// BulkRow is a row that is written together with thousands of others.
type BulkRow interface {
	// AppendCopy writes the row in PostgreSQL's text form of COPY.
	AppendCopy(dst []byte) []byte
	// values are the row's columns as parameters.
	Values() []any
}

// Load gathers rows into a table within the unit.
func (tx *Tx) Load(into string, columns []string, rows []BulkRow) error {
	if err := tx.flush(); err != nil || len(rows) == 0 {
		return err
	}
	return tx.conv.load(tx.ctx, into, columns, rows)
}

var copyBuffers = sync.Pool{New: func() any { return new([]byte) }}

// load streams the rows with COPY. Their text is made here: going through the
// driver's conversion value by value takes longer than the server does.
func (c *postgresConversation) load(ctx context.Context, into string, columns []string, rows []BulkRow) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	buffer := copyBuffers.Get().(*[]byte)
	defer copyBuffers.Put(buffer)
	text := (*buffer)[:0]
	for _, row := range rows {
		text = row.AppendCopy(text)
	}
	*buffer = text
	_, err := c.tx.Conn().PgConn().CopyFrom(ctx, bytes.NewReader(text),
		"COPY "+into+" ("+strings.Join(columns, ", ")+") FROM STDIN")
	return keyError(err)
}

// load inserts row by row in the same words: a text with thousands of parameters
// takes SQLite longer to understand than to execute.
func (c sqliteConversation) load(ctx context.Context, into string, columns []string, rows []BulkRow) error {
	text := "INSERT INTO " + into + " (" + strings.Join(columns, ", ") + ") VALUES " + Placeholders(1, 1, len(columns)) //nolint:gosec // G202: names of ours
	for _, row := range rows {
		if _, err := c.tx.ExecContext(ctx, text, row.Values()...); err != nil {
			return sqliteKeyError(err)
		}
	}
	return nil
}

// AppendCopyText writes a text column: COPY wants four signs escaped.
func AppendCopyText(dst []byte, text string) []byte {
	for i := range len(text) {
		switch c := text[i]; c {
		case '\\':
			dst = append(dst, '\\', '\\')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '\t')
}

func AppendCopyNumber(dst []byte, number int64) []byte {
	return append(strconv.AppendInt(dst, number, 10), '\t')
}

func AppendCopyID(dst []byte, id uuid.UUID) []byte {
	return append(hex.AppendEncode(dst, id[:]), '\t')
}

func AppendCopyNull(dst []byte) []byte { return append(dst, '\\', 'N', '\t') }

// ValueRow is a row of parameters, for tables of which there are fewer rows than
// would make a form of their own worthwhile.
type ValueRow []any

func (r ValueRow) Values() []any { return r }

func (r ValueRow) AppendCopy(dst []byte) []byte {
	for _, value := range direct(r) {
		switch v := value.(type) {
		case nil:
			dst = AppendCopyNull(dst)
		case [16]byte:
			dst = AppendCopyID(dst, v)
		case int64:
			dst = AppendCopyNumber(dst, v)
		case string:
			dst = AppendCopyText(dst, v)
		default:
			panic(fmt.Sprintf("db: COPY knows no %T", v)) // a column of a new type
		}
	}
	dst[len(dst)-1] = '\n'
	return dst
}

// BulkBatch is how many rows are best written at a time, and by how many writers
// side by side: SQLite has one, which must not keep the others waiting for long.
func (d *DB) BulkBatch() (rows, writers int) {
	if _, ok := d.engine.(*sqlite); ok {
		return 1_000, 1
	}
	return 10_000, 2
}
