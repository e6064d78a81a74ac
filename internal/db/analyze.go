package db

import (
	"context"
	"time"
)

// AnalyzeYoung has PostgreSQL count the tables that have grown for the first time.
// Until then it plans as if they were empty, where any index that begins with the
// tenant looks as good as the right one, and connections keep such plans. It would
// find out by itself within minutes, which a new installation's first customers
// would wait for. Once a table was counted, this leaves it to PostgreSQL.
func (d *DB) AnalyzeYoung(ctx context.Context, now time.Time) error {
	return d.Write(ctx, now, func(tx *Tx) error {
		words := tx.conv.dialect()
		if words.young == "" {
			return nil
		}
		result, err := tx.Query(words.young)
		young, err := Collect(result, err, func(r Rows) (table string, err error) { return table, r.Scan(&table) })
		for _, table := range young {
			tx.Then(words.analyze + table)
		}
		return err
	})
}
