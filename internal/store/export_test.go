package store

import (
	"slices"

	"sepad/internal/db"
)

// Schema is what Open asks of a database.
func Schema() db.Schema { return schema }

// Int reads a number within the unit.
func (tx *Tx) Int(sql string, args ...any) (int64, error) {
	result, err := tx.Query(sql, args...)
	return db.One(result, err, func(r db.Rows) (n int64, err error) { return n, r.Scan(&n) })
}

// IsResealed tells whether a column, as table.column, is sealed anew.
func IsResealed(name string) bool {
	return slices.ContainsFunc(sealedColumns, func(c sealedColumn) bool { return c.table+"."+c.column == name })
}

// FeedStatement is how a feed is read.
func FeedStatement(which FeedFilter) string { return feedStatement(which) }

// Statements are how a file is held against our records.
func (m Match) Statements() []string {
	return []string{m.repeated(), m.mismatches()}
}

// RepeatedStatement is how lines are found that repeat an earlier one.
func (s *Store) RepeatedStatement() string { return s.dropping().repeated }

// OpenSessionsStatement is how the sessions of a person are found that can be paid.
var OpenSessionsStatement = openSessions

// UnlinkedStatement is how a payment that is brought in finds its chargeback.
var UnlinkedStatement = `SELECT ` + Chargebacks.List("") + ` FROM chargebacks WHERE tenant_id = $1` + unlinked

// StagedStatement is how a file that is taken in finds chargebacks that came before its payments.
var StagedStatement = stagedWithChargeback
