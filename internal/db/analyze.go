package db

import (
	"context"
	"time"
)

// AnalyzeYoung has PostgreSQL count the tables that have grown for the first time, and
// again whenever they are twice as large. Of a table of a page or none any index that
// begins with the tenant looks as good as the right one, and connections keep such plans:
// payments of a new installation became slower with each that was made. PostgreSQL would
// find out by itself within minutes, which the first customers would wait for. Large
// tables are left to it.
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
