package store_test

import (
	"database/sql"
	"maps"
	"slices"
	"strings"
	"testing"

	"sepad/internal/store/storetest"
)

// schema is what both engines must agree about, as lines under a name: each
// column with its type and whether it may be null, and each index with its
// columns, whether it is unique and whether it is partial.
type schema map[string]string

// schemaOf reads the schema of an environment.
func schemaOf(t *testing.T, env *storetest.Env) schema {
	t.Helper()
	db, found := env.DB(t), schema{}
	for _, table := range env.Tables(t, db) {
		if env.Engine == "sqlite" {
			sqliteColumns(t, db, table, found)
			sqliteIndexes(t, db, table, found)
		} else {
			postgresColumns(t, db, table, found)
			postgresIndexes(t, db, table, found)
		}
	}
	return found
}

// each scans every row of a query.
func each(t *testing.T, db *sql.DB, query, table string, scan func(*sql.Rows) error) {
	t.Helper()
	result, err := db.QueryContext(t.Context(), query, table)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	for result.Next() {
		if err := scan(result); err != nil {
			t.Fatal(err)
		}
	}
	if err := result.Err(); err != nil {
		t.Fatal(err)
	}
}

func (s schema) column(table, name, kind string, notNull bool) {
	s["column "+table+"."+name] = kind + mark(notNull, " not null")
}

func (s schema) index(table, columns string, unique, partial bool) {
	// Several indexes of the same columns come in any order.
	name := "index on " + table + " (" + columns + ")"
	all := append(strings.Split(s[name], "\n"), mark(unique, " unique")+mark(partial, " partial"))
	slices.Sort(all)
	s[name] = strings.Join(all, "\n")
}

func mark(is bool, word string) string {
	if is {
		return word
	}
	return ""
}

func sqliteColumns(t *testing.T, db *sql.DB, table string, into schema) {
	t.Helper()
	each(t, db, `SELECT name, type, "notnull" FROM pragma_table_info($1)`, table, func(r *sql.Rows) error {
		var name, kind string
		var notNull bool
		err := r.Scan(&name, &kind, &notNull)
		into.column(table, name, kind, notNull)
		return err
	})
}

func sqliteIndexes(t *testing.T, db *sql.DB, table string, into schema) {
	t.Helper()
	each(t, db, `
		SELECT (SELECT group_concat(name || CASE "desc" WHEN 1 THEN ' desc' ELSE '' END, ', ')
				FROM (SELECT name, "desc" FROM pragma_index_xinfo(i.name) WHERE "key" = 1 ORDER BY seqno)),
			"unique", partial
		FROM pragma_index_list($1) i`, table, func(r *sql.Rows) error {
		var columns string
		var unique, partial bool
		err := r.Scan(&columns, &unique, &partial)
		into.index(table, columns, unique, partial)
		return err
	})
	// A primary key of one integer is the table's own order, not an index.
	each(t, db, `
		SELECT name FROM pragma_table_info($1) WHERE pk = 1 AND type = 'INTEGER'
			AND (SELECT MAX(pk) FROM pragma_table_info($1)) = 1`, table, func(r *sql.Rows) error {
		var column string
		err := r.Scan(&column)
		into.index(table, column, true, false)
		return err
	})
}

// kindInSQLite is how SQLite keeps a type of PostgreSQL.
var kindInSQLite = map[string]string{"uuid": "TEXT", "text": "TEXT", "bigint": "INTEGER", "boolean": "INTEGER"}

func postgresColumns(t *testing.T, db *sql.DB, table string, into schema) {
	t.Helper()
	each(t, db, `
		SELECT column_name, data_type, is_nullable = 'NO' FROM information_schema.columns
		WHERE table_schema = 'public' AND table_name = $1`, table, func(r *sql.Rows) error {
		var name, kind string
		var notNull bool
		err := r.Scan(&name, &kind, &notNull)
		into.column(table, name, kindInSQLite[kind], notNull)
		return err
	})
}

const postgresIndexQuery = `
	SELECT c.relname, i.indisunique, i.indpred IS NOT NULL,
		(SELECT string_agg(a.attname || CASE WHEN i.indoption[k.n - 1] & 1 = 1 THEN ' desc' ELSE '' END, ', ' ORDER BY k.n)
			FROM unnest(i.indkey) WITH ORDINALITY AS k(attnum, n)
			JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum)
	FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = $1::text::regclass`

func postgresIndexes(t *testing.T, db *sql.DB, table string, into schema) {
	t.Helper()
	each(t, db, postgresIndexQuery, table, func(r *sql.Rows) error {
		var name, columns string
		var unique, partial bool
		err := r.Scan(&name, &unique, &partial, &columns)
		into.index(table, columns, unique, partial)
		return err
	})
}

func wantSameSchema(t *testing.T, got, want schema) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s is %q here and %q there", name, got[name], want[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, known := want[name]; !known {
			t.Errorf("%s is on one side only", name)
		}
	}
}

func TestEnginesHaveTheSameSchema(t *testing.T) {
	t.Parallel()
	file, server := schemaOf(t, storetest.SQLite(t)), schemaOf(t, storetest.Postgres(t))
	if len(file) < 100 {
		t.Fatalf("only %d columns and indexes were found", len(file))
	}
	// SQLite finds the lines of a file by their reference; PostgreSQL joins all of them at once, and an entry for
	// each would cost it more than the line.
	const staged, byReference = "index on staged_transactions (tenant_id, import_id)", "index on staged_transactions (tenant_id, import_id, merchant_transaction_id)"
	server[byReference] = server[staged]
	delete(server, staged)
	const compared = "index on compared_lines (tenant_id, import_id, merchant_transaction_id)"
	if _, known := file[compared]; !known {
		t.Errorf("SQLite has no %s", compared)
	}
	delete(file, compared)
	// SQLite writes whole pages with every commit, which the order of these spares it (docs/adr/0053).
	for _, order := range []struct{ here, there string }{
		{"(lead_id, tenant_id)", "(tenant_id, lead_id)"},
		{"(lead_id, tenant_id, id)", "(tenant_id, lead_id, id)"},
		{"(tenant_id, status, created_at, id)", "(tenant_id, status, created_at desc, id desc)"},
	} {
		const index = "index on sessions "
		server[index+order.here] = server[index+order.there]
		delete(server, index+order.there)
	}
	wantSameSchema(t, file, server)
}

// TestUniqueKeysAreNamedByRule holds PostgreSQL to the names that the store
// gives SQLite's nameless keys: the table, the columns without the tenant, key.
func TestUniqueKeysAreNamedByRule(t *testing.T) {
	t.Parallel()
	env := storetest.Postgres(t)
	db, keys := env.DB(t), 0
	for _, table := range env.Tables(t, db) {
		each(t, db, postgresIndexQuery, table, func(r *sql.Rows) error {
			var name, columns string
			var unique, partial bool
			if err := r.Scan(&name, &unique, &partial, &columns); err != nil || !unique {
				return err
			}
			keys++
			parts := []string{table}
			for column := range strings.SplitSeq(columns, ", ") {
				if column != "tenant_id" {
					parts = append(parts, column)
				}
			}
			if want := strings.Join(append(parts, "key"), "_"); name != want {
				t.Errorf("a key of %s is named %s, want %s", table, name, want)
			}
			return nil
		})
	}
	if keys < 20 {
		t.Errorf("only %d keys were found", keys)
	}
}

// TestTenantComesFirst keeps the way open to partitions and shards: every key
// of a tenant's rows leads with the tenant. Set-up is small and found by id. What a lead
// holds is found by the lead (docs/adr/0053); its key has the tenant in it as well.
func TestTenantComesFirst(t *testing.T) {
	t.Parallel()
	foundByID := []string{
		"tenants", "api_keys", "setup_records",
		// These belong to the installation, not to a tenant.
		"service_clock", "schema_compatibility", "deployment", "encryption_keys",
		"operators", "operator_tickets", "operator_sessions", "operator_passkeys", "operator_tokens", "audit_entries", "audit_chain",
	}
	found := schemaOf(t, storetest.SQLite(t))
	for name, kind := range found {
		table, columns, isIndex := strings.Cut(strings.TrimPrefix(name, "index on "), " (")
		if !isIndex || !strings.Contains(kind, "unique") || slices.Contains(foundByID, table) {
			continue
		}
		if first, _, _ := strings.Cut(strings.TrimSuffix(columns, ")"), ", "); first != "tenant_id" && name != "index on sessions (lead_id, tenant_id)" {
			t.Errorf("%s does not lead with the tenant", name)
		}
	}
}
