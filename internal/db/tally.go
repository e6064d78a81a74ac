package db

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// Tally is what a database holds, as figures that two copies of it must agree
// about: how many rows each table has, and the sum of each amount of money, also by
// currency where the table says which.
type Tally map[string]int64

// Differences names the figures of t that other has not.
func (t Tally) Differences(other Tally) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if found, known := other[name]; !known || found != t[name] {
			names = append(names, name)
		}
	}
	return names
}

// Rows are all rows of all tables.
func (t Tally) Rows() (sum int64) {
	for name, count := range t {
		if !strings.Contains(name, ".") {
			sum += count
		}
	}
	return sum
}

// reading runs a query, within a snapshot or not.
type reading func(ctx context.Context, sql string, args ...any) (Rows, error)

// Tally counts what is there. The queue's tables are left out: they wake us, and
// hold nothing that would be missed.
func (d *DB) Tally(ctx context.Context) (Tally, error) {
	return tally(ctx, d.engine.query, d.engine.catalog())
}

// column is a column of one of our tables.
type column struct{ table, name, kind string }

// isMoney tells by the rule for names.
func (c column) isMoney() bool { return strings.HasSuffix(c.name, "_minor") }

// othersTables begin the names of tables that are not ours: the queue's, the list of
// migrations, SQLite's own, and those of who copies its log elsewhere. What is counted of
// other rows is counted anew where those are written.
var othersTables = []string{"river_", "goose_", "sqlite_", "_litestream_", "count_"}

// columns are those of all our tables, in the order of the schema.
func columns(ctx context.Context, read reading, catalog string) ([]column, error) {
	result, err := read(ctx, catalog)
	all, err := Collect(result, err, func(r Rows) (c column, err error) { return c, r.Scan(&c.table, &c.name, &c.kind) })
	return slices.DeleteFunc(all, func(c column) bool {
		return slices.ContainsFunc(othersTables, func(others string) bool { return strings.HasPrefix(c.table, others) })
	}), err
}

func tally(ctx context.Context, read reading, catalog string) (Tally, error) {
	all, err := columns(ctx, read, catalog)
	if err != nil {
		return nil, err
	}
	sums := Tally{}
	for i, c := range all {
		if i == 0 || all[i-1].table != c.table {
			if sums[c.table], err = number(ctx, read, `SELECT COUNT(*) FROM `+c.table); err != nil {
				return nil, err
			}
		}
		if !c.isMoney() {
			continue
		}
		result, err := read(ctx, `SELECT `+sumOf(c.name)+` FROM `+c.table)
		sum, err := One(result, err, func(r Rows) (s split, err error) { return s, r.Scan(&s.high, &s.low) })
		if err != nil {
			return nil, err
		}
		sums[c.table+"."+c.name] = sum.value()
		if slices.Contains(all, column{c.table, "currency", "text"}) {
			if err := sums.byCurrency(ctx, read, c); err != nil {
				return nil, err
			}
		}
	}
	return sums, nil
}

// byCurrency adds the sums of an amount in each currency.
func (t Tally) byCurrency(ctx context.Context, read reading, c column) error {
	type sum struct {
		currency string
		split
	}
	result, err := read(ctx, `SELECT currency, `+sumOf(c.name)+` FROM `+c.table+` GROUP BY currency`)
	sums, err := Collect(result, err, func(r Rows) (s sum, err error) { return s, r.Scan(&s.currency, &s.high, &s.low) })
	for _, s := range sums {
		t[c.table+"."+c.name+" "+s.currency] = s.value()
	}
	return err
}

// split is a sum in two parts, which no database finds too large: what others have sent must not keep anybody from
// making a backup.
type split struct{ high, low int64 }

const (
	splitAt = 1_000_000_000
	// sumInParts has a NAME in the place of the column.
	sumInParts = `CAST(COALESCE(SUM(NAME / 1000000000), 0) AS BIGINT), CAST(COALESCE(SUM(NAME % 1000000000), 0) AS BIGINT)`
)

func sumOf(column string) string { return strings.ReplaceAll(sumInParts, "NAME", column) }

// value is the sum; one beyond 64 bits is what is left of it there, in every copy the same.
func (s split) value() int64 { return s.high*splitAt + s.low }

func number(ctx context.Context, read reading, query string) (int64, error) {
	result, err := read(ctx, query)
	return One(result, err, func(r Rows) (n int64, err error) { return n, r.Scan(&n) })
}

// catalog lists the columns of all tables.
func (*sqlite) catalog() string {
	return `SELECT t.name, c.name, lower(c.type) FROM sqlite_schema t JOIN pragma_table_info(t.name) c
		WHERE t.type = 'table' ORDER BY t.name, c.cid`
}

func (*postgres) catalog() string {
	return `SELECT table_name, column_name, data_type FROM information_schema.columns
		WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position`
}
