package db

import (
	"database/sql"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

type (
	word   string
	amount int64
)

// TestScanDirectly holds what is put directly against what pgx puts.
func TestScanDirectly(t *testing.T) {
	t.Parallel()
	id := uuid.MustParse("018f0000-0000-7000-8000-000000000001")
	for _, c := range []struct {
		name   string
		oid    uint32
		value  any
		into   func() any
		direct bool
	}{
		{"a text", pgtype.TextOID, "Größe", func() any { return new(string) }, true},
		{"an empty text", pgtype.TextOID, "", func() any { return new(string) }, true},
		{"no text where one must be", pgtype.TextOID, nil, func() any { return new(string) }, false},
		{"a text that may be missing", pgtype.TextOID, "a", func() any { return new(*string) }, true},
		{"one that is missing", pgtype.TextOID, nil, func() any { return new(*string) }, true},
		{"a named text", pgtype.VarcharOID, "paid", func() any { return new(word) }, true},
		{"a named text that may be missing", pgtype.TextOID, "paid", func() any { return new(*word) }, true},
		{"a named text that is missing", pgtype.TextOID, nil, func() any { return new(*word) }, true},
		{"a number", pgtype.Int8OID, int64(-1 << 63), func() any { return new(int64) }, true},
		{"a small number", pgtype.Int4OID, int32(-5), func() any { return new(int64) }, true},
		{"a smaller one", pgtype.Int2OID, int16(-5), func() any { return new(int) }, true},
		{"a number that may be missing", pgtype.Int8OID, nil, func() any { return new(*int64) }, true},
		{"an amount", pgtype.Int8OID, int64(2999), func() any { return new(amount) }, true},
		{"an amount that may be missing", pgtype.Int8OID, int64(2999), func() any { return new(*amount) }, true},
		{"a number that does not fit", pgtype.Int8OID, int64(1 << 40), func() any { return new(int16) }, false},
		{"a number into a text", pgtype.Int8OID, int64(7), func() any { return new(string) }, false},
		{"an id", pgtype.UUIDOID, [16]byte(id), func() any { return new(uuid.UUID) }, true},
		{"an id that may be missing", pgtype.UUIDOID, [16]byte(id), func() any { return new(*uuid.UUID) }, true},
		{"an id that is missing", pgtype.UUIDOID, nil, func() any { return new(*uuid.UUID) }, true},
		{"a truth", pgtype.BoolOID, true, func() any { return new(bool) }, true},
		{"an untruth", pgtype.BoolOID, false, func() any { return new(bool) }, true},
		{"a type of ours", pgtype.TextOID, "a", func() any { return new(sql.NullString) }, true},
		{"a number for a type of ours", pgtype.Int8OID, int64(5), func() any { return new(sql.NullInt64) }, true},
		{"nothing for a type of ours", pgtype.TextOID, nil, func() any { return new(sql.NullString) }, true},
		{"an instant", pgtype.Int8OID, int64(1_700_000_000_000_000), func() any { return &Instant{To: new(time.Time)} }, true},
		{"bytes", pgtype.ByteaOID, []byte{1, 2}, func() any { return new([]byte) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			raw, err := pgtype.NewMap().Encode(c.oid, pgtype.BinaryFormatCode, c.value, []byte{})
			if err != nil {
				t.Fatal(err)
			}
			fields := []pgconn.FieldDescription{{Name: "a", DataTypeOID: c.oid, Format: pgtype.BinaryFormatCode}}
			ours, theirs := c.into(), c.into()
			if direct := scanDirectly(fields, [][]byte{raw}, []any{c.into()}); direct != c.direct {
				t.Errorf("put directly: %t", direct)
			}
			wrong := pgx.ScanRow(pgtype.NewMap(), fields, [][]byte{raw}, theirs)
			if err := scanRow(fields, [][]byte{raw}, []any{ours}); (err == nil) != (wrong == nil) {
				t.Errorf("our error is %v, that of pgx %v", err, wrong)
			}
			if !reflect.DeepEqual(ours, theirs) {
				t.Errorf("%v is put, pgx puts %v", ours, theirs)
			}
		})
	}
}
