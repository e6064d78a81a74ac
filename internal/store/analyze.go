package store

import (
	"context"
	"time"
)

// AnalyzeYoung has PostgreSQL count the tables that have grown for the first time.
// Until then it plans as if they were empty, where any index that begins with the
// tenant looks as good as the right one, and connections keep such plans. It would
// find out by itself within minutes, which a new installation's first customers
// would wait for. Once a table was counted, this leaves it to PostgreSQL.
func (s *Store) AnalyzeYoung(ctx context.Context, now time.Time) error {
	return s.Write(ctx, now, func(tx *Tx) error {
		words := tx.conv.dialect()
		if words.young == "" {
			return nil
		}
		result, err := tx.query(words.young)
		young, err := collect(result, err, func(r rows) (table string, err error) { return table, r.Scan(&table) })
		for _, table := range young {
			tx.then(words.analyze + table)
		}
		return err
	})
}
