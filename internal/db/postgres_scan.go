package db

import (
	"database/sql"
	"encoding/binary"
	"reflect"
	"sync"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// Rows hold texts, whole numbers, ids and little else. pgx finds out for every value anew how it may be put into a field,
// one wrapping after the other: for the fifty columns of a session and its lead that took longer than finding them.
// What is not known here is left to it.

// scanDirectly puts values where they belong, and tells whether it knew how to for all of them.
func scanDirectly(fields []pgconn.FieldDescription, raw [][]byte, into []any) bool {
	if len(into) != len(raw) {
		return false
	}
	for i, to := range into {
		if fields[i].Format != pgtype.BinaryFormatCode && fields[i].DataTypeOID != pgtype.TextOID || !putDirectly(fields[i].DataTypeOID, raw[i], to) {
			return false
		}
	}
	return true
}

// typeMaps are pgx's own ways; one is used by one goroutine at a time.
var typeMaps = sync.Pool{New: func() any { return pgtype.NewMap() }}

// scanRow is for a row that is held without its connection.
func scanRow(fields []pgconn.FieldDescription, raw [][]byte, into []any) error {
	if scanDirectly(fields, raw, into) {
		return nil
	}
	types := typeMaps.Get().(*pgtype.Map)
	defer typeMaps.Put(types)
	return pgx.ScanRow(types, fields, raw, into...)
}

func putDirectly(oid uint32, raw []byte, to any) bool {
	switch to := to.(type) {
	case *string:
		return putText(oid, raw, to)
	case *int64:
		return putNumber(oid, raw, to)
	case *uuid.UUID:
		return putID(oid, raw, to)
	case *bool:
		if oid != pgtype.BoolOID || len(raw) != 1 {
			return false
		}
		*to = raw[0] != 0
		return true
	case **string:
		return putOptional(oid, raw, to, putText)
	case **int64:
		return putOptional(oid, raw, to, putNumber)
	case **uuid.UUID:
		return putOptional(oid, raw, to, putID)
	case sql.Scanner:
		return putScanner(oid, raw, to)
	default:
		return putNamed(oid, raw, reflect.ValueOf(to))
	}
}

func putOptional[V any](oid uint32, raw []byte, to **V, put func(uint32, []byte, *V) bool) bool {
	if raw == nil {
		*to = nil
		return true
	}
	var value V
	if !put(oid, raw, &value) {
		return false
	}
	*to = &value
	return true
}

func putText(oid uint32, raw []byte, to *string) bool {
	if raw == nil || oid != pgtype.TextOID && oid != pgtype.VarcharOID {
		return false
	}
	*to = string(raw)
	return true
}

func putNumber(oid uint32, raw []byte, to *int64) bool {
	number, ok := wholeNumber(oid, raw)
	if ok {
		*to = number
	}
	return ok
}

func putID(oid uint32, raw []byte, to *uuid.UUID) bool {
	if oid != pgtype.UUIDOID || len(raw) != len(to) {
		return false
	}
	copy(to[:], raw)
	return true
}

// putScanner gives a type of ours what database/sql would have given it.
func putScanner(oid uint32, raw []byte, to sql.Scanner) bool {
	if raw == nil {
		return to.Scan(nil) == nil
	}
	switch oid {
	case pgtype.TextOID, pgtype.VarcharOID:
		return to.Scan(string(raw)) == nil
	case pgtype.Int8OID, pgtype.Int4OID, pgtype.Int2OID:
		number, ok := wholeNumber(oid, raw)
		return ok && to.Scan(number) == nil
	default:
		return false
	}
}

// putNamed is for types that are a text or a whole number beneath, such as a status.
func putNamed(oid uint32, raw []byte, to reflect.Value) bool {
	if to.Kind() != reflect.Pointer || to.IsNil() {
		return false
	}
	field := to.Elem()
	switch field.Kind() {
	case reflect.String:
		var text string
		if !putText(oid, raw, &text) {
			return false
		}
		field.SetString(text)
		return true
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Int16:
		number, ok := wholeNumber(oid, raw)
		if !ok || field.OverflowInt(number) {
			return false
		}
		field.SetInt(number)
		return true
	case reflect.Pointer:
		if raw == nil {
			field.SetZero()
			return true
		}
		value := reflect.New(field.Type().Elem())
		if !putNamed(oid, raw, value) {
			return false
		}
		field.Set(value)
		return true
	default:
		return false
	}
}

func wholeNumber(oid uint32, raw []byte) (int64, bool) {
	switch {
	case oid == pgtype.Int8OID && len(raw) == 8:
		return int64(binary.BigEndian.Uint64(raw)), true
	case oid == pgtype.Int4OID && len(raw) == 4:
		return int64(int32(binary.BigEndian.Uint32(raw))), true
	case oid == pgtype.Int2OID && len(raw) == 2:
		return int64(int16(binary.BigEndian.Uint16(raw))), true
	default:
		return 0, false
	}
}
