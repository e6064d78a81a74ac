package testenv_test

import (
	"net/url"
	"os"
	"testing"

	"sepad/internal/testenv"
)

// TestPostgresLease holds a database that tests have had against one that nobody had: what the next one finds is what the
// template holds, wherever the one before has left it.
func TestPostgresLease(t *testing.T) {
	t.Parallel()
	testenv.PostgresURL(t) // skips the whole test where there is no server
	if os.Getenv(testenv.SessionsVariable) == "" {
		testenv.Refuse(t, "this test needs sessions that are kept (make test keeps them)")
	}

	for name, is := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			template := uniqueName(t)
			lease := func(t *testing.T) string {
				t.Helper()
				return testenv.PostgresLease(t, template, func(url string) error { execute(t, url, schemaOfNumbers); return nil })
			}
			var first string
			t.Run("one", func(t *testing.T) {
				first = lease(t)
				execute(t, first, is.change)
			})
			second := lease(t)
			if again := pathOf(t, first) == pathOf(t, second); again != is.again {
				t.Errorf("lent again: %t, want %t", again, is.again)
			}
			fresh := testenv.PostgresTemplate(t, template, func(string) error { return nil })
			for _, query := range []string{contentOfNumbers, settingsOfSession} {
				if got, want := scan[string](t, second, query), scan[string](t, fresh, query); got != want {
					t.Errorf("the next test finds\n%s\nwhere a database that nobody had holds\n%s", got, want)
				}
			}
		})
	}

	t.Run("a database that somebody is connected to is not lent again", func(t *testing.T) {
		t.Parallel()
		template := uniqueName(t)
		migrate := func(url string) error { execute(t, url, schemaOfNumbers); return nil }
		var first string
		t.Run("one", func(t *testing.T) {
			first = testenv.PostgresLease(t, template, migrate)
			if _, err := open(t, first).Exec(t.Context(), "BEGIN; INSERT INTO marks VALUES (1, 1)"); err != nil {
				t.Fatal(err)
			}
		})
		if pathOf(t, first) == pathOf(t, testenv.PostgresLease(t, template, migrate)) {
			t.Error("it is lent again")
		}
	})
}

// changes are what a test leaves behind, and whether the same database is lent again.
var changes = map[string]struct {
	change string
	again  bool
}{
	"rows are deleted":             {`INSERT INTO numbers (name) VALUES ('three'); INSERT INTO marks VALUES (1, 1)`, true},
	"rows of the template return":  {`UPDATE numbers SET name = 'another'; DELETE FROM numbers WHERE id = 2`, true},
	"a sequence begins as it did":  {`SELECT nextval('turns'), nextval('turns'); SELECT setval('numbers_id_seq', 100)`, true},
	"much is deleted":              {`INSERT INTO marks SELECT 1, n FROM generate_series(1, 20000) n`, true},
	"a name that is back":          {`ALTER TABLE marks RENAME TO hidden; ALTER TABLE hidden RENAME TO marks`, true},
	"a setting of a session":       {`SET default_transaction_read_only = on; SET search_path = nowhere`, true},
	"a lock of a session":          {`SELECT pg_advisory_lock(4711)`, true},
	"a table of a session":         {`CREATE TEMP TABLE marks (a int); PREPARE p AS SELECT 1`, true},
	"a further table":              {`CREATE TABLE further (a int)`, false},
	"another name":                 {`ALTER TABLE marks RENAME TO hidden`, false},
	"another name of a column":     {`ALTER TABLE marks RENAME COLUMN number_id TO hidden`, false},
	"a column that may be null":    {`ALTER TABLE numbers ALTER COLUMN name DROP NOT NULL`, false},
	"another default":              {`ALTER TABLE numbers ALTER COLUMN name SET DEFAULT 'none'`, false},
	"a trigger":                    {`CREATE TRIGGER more BEFORE INSERT ON numbers FOR EACH ROW EXECUTE FUNCTION refuse()`, false},
	"a trigger that is switched":   {`ALTER TABLE marks DISABLE TRIGGER ALL`, false},
	"another function":             {`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`, false},
	"a constraint":                 {`ALTER TABLE numbers ADD CHECK (id > 0)`, false},
	"an index":                     {`CREATE INDEX ON numbers (name)`, false},
	"an index less":                {`DROP INDEX marks_value_idx`, false},
	"a view":                       {`CREATE VIEW seen AS SELECT 1 AS a`, false},
	"what the planner is told":     {`ANALYZE numbers`, false},
	"what all sessions begin with": {`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET lock_timeout = 1', current_database()); END $$`, false},
	"a schema":                     {`CREATE SCHEMA further`, false},
}

// A deletion that the template's own trigger refuses, and rows that refer to others, are in nobody's way.
const schemaOfNumbers = `
	CREATE TABLE numbers (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, at timestamptz NOT NULL DEFAULT now());
	CREATE TABLE marks (number_id bigint REFERENCES numbers (id), value int);
	CREATE INDEX marks_value_idx ON marks (value);
	CREATE SEQUENCE turns;
	CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		RAISE EXCEPTION '% stay', TG_TABLE_NAME;
	END $$;
	CREATE TRIGGER stay BEFORE DELETE ON marks FOR EACH ROW EXECUTE FUNCTION refuse();
	INSERT INTO numbers (name) VALUES ('one'), ('it''s "two"')`

const contentOfNumbers = `SELECT concat_ws(E'\n', (SELECT string_agg(n::text, ', ' ORDER BY id) FROM numbers n),
	(SELECT string_agg(m::text, ', ' ORDER BY m) FROM marks m), (SELECT string_agg(s::text, ', ' ORDER BY sequencename) FROM pg_sequences s),
	(SELECT string_agg(relname || pg_relation_size(oid) / 16384, ', ' ORDER BY 1) FROM pg_class WHERE relkind = 'r' AND oid >= 16384))`

const settingsOfSession = `SELECT concat_ws(E'\n', (SELECT string_agg(name || '=' || setting, ', ' ORDER BY name) FROM pg_settings WHERE source IN ('session', 'database')),
	(SELECT COUNT(*) FROM pg_prepared_statements WHERE name = 'p'), (SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711))`

func pathOf(t *testing.T, address string) string {
	t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Path
}
