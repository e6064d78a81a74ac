package store

import "sepad/internal/db"

// Schema is what Open asks of a database.
func Schema() db.Schema { return schema }

// Int reads a number within the unit.
func (tx *Tx) Int(sql string, args ...any) (int64, error) {
	result, err := tx.Query(sql, args...)
	return db.One(result, err, func(r db.Rows) (n int64, err error) { return n, r.Scan(&n) })
}
