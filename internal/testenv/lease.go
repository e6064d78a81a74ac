package testenv

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// mostLeases is how often a database is lent: what is deleted leaves its place in the indexes.
	mostLeases = 40
	// emptyBytes is what the planner takes an empty table for, ten pages.
	emptyBytes = "81920"
	// partingPatience is how long sessions may take to be cleared after their clients have left.
	partingPatience = time.Second
)

// lease is a database that was lent to a test.
type lease struct {
	name, template, url string
	// shape is what its schema looked like, and leases how often it has been lent.
	shape  string
	leases int
}

// PostgresLease is PostgresTemplate for tests that need no database which nobody had before. One that a test leaves is
// brought back to what the template holds and lent to the next, here or in another test process, together with the
// sessions that it had: PostgreSQL spends a sixth of what it takes to make both anew. A database whose schema is not as it
// was, or that somebody is still connected to, is dropped instead.
//
// A session may have belonged to another test, but nothing that was set, prepared, locked or subscribed in it is left. Its
// settings cannot be given in the address; who needs that, or the process number of a session, takes PostgresTemplate.
func PostgresLease(t testing.TB, name string, migrate func(url string) error) string {
	t.Helper()
	sessions := os.Getenv(SessionsVariable)
	if sessions == "" {
		return PostgresTemplate(t, name, migrate)
	}
	admin, template := address(t, "PostgreSQL", PostgresVariable), "sepad_template_"+name
	if err := buildTemplate(t.Context(), admin, template, migrate); err != nil {
		t.Fatalf("template database %s: %v", name, err)
	}
	lent, err := takeLease(t.Context(), sessions, template)
	if err != nil {
		t.Fatalf("lease a test database: %v", err)
	}
	t.Cleanup(func() {
		// The test's own context has already ended here.
		if err := lent.giveBack(context.Background()); err != nil {
			t.Errorf("give the test database back: %v", err)
		}
	})
	return lent.url
}

// takeLease takes the database that was given back last, whose sessions are still there.
func takeLease(ctx context.Context, sessions, template string) (*lease, error) {
	connections, err := maintenance()
	if err != nil {
		return nil, err
	}
	lent := &lease{template: template}
	err = connections.QueryRow(ctx, `UPDATE sepad_test_databases SET given_back_at = NULL, leases = leases + 1 WHERE name = (
		SELECT name FROM sepad_test_databases WHERE template = $1 AND given_back_at IS NOT NULL
		ORDER BY given_back_at DESC LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING name, shape, leases`, template).Scan(&lent.name, &lent.shape, &lent.leases)
	if err == nil {
		lent.url = databaseURL(sessions, lent.name)
		return lent, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return nil, err
	}
	lent.name = "sepad_test_" + strings.ToLower(rand.Text())
	lent.url = databaseURL(sessions, lent.name)
	if err := copyDatabase(ctx, template, lent.name); err != nil {
		return nil, err
	}
	lent.leases = 1
	session, err := pgx.Connect(ctx, lent.url)
	if err != nil {
		return nil, err
	}
	defer session.Close(context.WithoutCancel(ctx))
	lent.shape, _, err = shapeOf(ctx, session)
	if err != nil {
		return nil, err
	}
	_, err = connections.Exec(ctx, "INSERT INTO sepad_test_databases (name, template, shape, leases) VALUES ($1, $2, $3, 1)",
		lent.name, template, lent.shape)
	return lent, err
}

// giveBack empties the database for the next test, or drops it.
func (l *lease) giveBack(ctx context.Context) error {
	connections, err := maintenance()
	if err != nil {
		return err
	}
	if l.leases < mostLeases {
		restored, err := l.restore(ctx)
		if err != nil {
			return errors.Join(err, dropDatabase(ctx, l.name))
		}
		if restored {
			_, err := connections.Exec(ctx, "UPDATE sepad_test_databases SET given_back_at = clock_timestamp(), shape = $2 WHERE name = $1", l.name, l.shape)
			return err
		}
	}
	if err := dropDatabase(ctx, l.name); err != nil {
		return err
	}
	_, err = connections.Exec(ctx, "DELETE FROM sepad_test_databases WHERE name = $1", l.name)
	return err
}

// restore brings the database back to what its template holds, unless it has changed in more than its rows.
func (l *lease) restore(ctx context.Context) (bool, error) {
	session, err := pgx.Connect(ctx, l.url)
	if err != nil {
		return false, nil // a test may have ended all connections or forbidden them
	}
	defer session.Close(ctx)
	shape, hasGrown, err := shapeOf(ctx, session)
	if isOutOfStep(err) {
		return false, nil
	}
	if err != nil || shape != l.shape {
		return false, err
	}
	left, err := allHaveLeft(ctx, session)
	if isOutOfStep(err) {
		return false, nil
	}
	if err != nil || !left {
		return false, err
	}
	var script string
	connections, err := maintenance()
	if err != nil {
		return false, err
	}
	if err := connections.QueryRow(ctx, "SELECT script FROM sepad_test_templates WHERE name = $1", l.template).Scan(&script); err != nil {
		return false, fmt.Errorf("read what %s holds: %w", l.template, err)
	}
	if _, err := session.Exec(ctx, script, pgx.QueryExecModeSimpleProtocol); err != nil {
		return false, fmt.Errorf("restore %s: %w", l.name, err)
	}
	if hasGrown {
		l.shape, _, err = shapeOf(ctx, session)
	}
	return err == nil, err
}

// isOutOfStep tells a session that answers a question with nothing that always has one row: somebody left it amid an answer,
// and what stands before PostgreSQL has not noticed. It goes, with its database.
func isOutOfStep(err error) bool { return errors.Is(err, pgx.ErrNoRows) }

// allHaveLeft waits until no session of the database belongs to anybody: the last that one without a client was
// asked is to forget everything.
func allHaveLeft(ctx context.Context, session *pgx.Conn) (bool, error) {
	deadline := time.After(partingPatience)
	for {
		var clients int
		err := session.QueryRow(ctx, `SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
			AND backend_type = 'client backend' AND NOT (state = 'idle' AND query IN ('DISCARD ALL', ''))`, pgx.QueryExecModeExec).Scan(&clients)
		if err != nil {
			return false, fmt.Errorf("ask who is still there: %w", err)
		}
		if clients == 0 {
			return true, nil
		}
		select {
		case <-deadline:
			return false, nil
		case <-time.After(time.Millisecond):
		}
	}
}

// shapeOf tells whether anything but rows has changed: whatever changes a schema, or tells the planner something of a table,
// writes a row of these catalogues. It also tells whether a table has grown beyond what the planner takes an empty one for.
func shapeOf(ctx context.Context, session *pgx.Conn) (shape string, hasGrown bool, err error) {
	if err = session.QueryRow(ctx, shapeQuery, pgx.QueryExecModeExec).Scan(&shape, &hasGrown); err != nil {
		return "", false, fmt.Errorf("ask for the shape: %w", err)
	}
	return shape, hasGrown, nil
}

// shapeQuery asks for what is not PostgreSQL's own. A table may have had another name for a while; of what tests do not bring
// back, the last transaction that wrote it says enough.
var shapeQuery = func() string {
	const ours = ">= 16384"
	text := `SELECT concat_ws(' ',
		(SELECT COUNT(*) FROM pg_db_role_setting WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())),
		(SELECT COUNT(*) FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp_'),
		(SELECT (COUNT(*), SUM(hashtextextended(c::text, 0)))::text FROM pg_class c WHERE oid ` + ours + `),
		(SELECT (COUNT(*), SUM(hashtextextended(t::text, 0)))::text FROM pg_type t WHERE oid ` + ours + `)`
	for _, rows := range []string{
		"pg_attribute WHERE attrelid", "pg_proc WHERE oid", "pg_constraint WHERE oid", "pg_rewrite WHERE oid", "pg_attrdef WHERE adrelid",
		"pg_index WHERE indexrelid", "pg_trigger WHERE tgrelid", "pg_statistic WHERE starelid", "pg_statistic_ext WHERE oid",
		"pg_policy WHERE oid", "pg_event_trigger WHERE oid", "pg_extension WHERE oid", "pg_largeobject_metadata WHERE oid",
	} {
		text += ",\n(SELECT (COUNT(*), MAX(xmin::text::bigint))::text FROM " + rows + " " + ours + ")"
	}
	return text + "), EXISTS (SELECT FROM pg_class WHERE relkind = 'r' AND oid " + ours + " AND pg_relation_size(oid) > " + emptyBytes + ")"
}()

// writeScript makes the statements that bring a copy of a template back to what the template holds. Tables that nobody has
// written to since have no place on the disk, and are not looked into.
func writeScript(ctx context.Context, address string) (script string, err error) {
	session, err := pgx.Connect(ctx, address)
	if err != nil {
		return "", err
	}
	defer session.Close(context.WithoutCancel(ctx))
	rows, err := session.Query(ctx, `SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1`)
	if err != nil {
		return "", err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", err
	}
	var kept, others strings.Builder
	for _, table := range tables {
		content, digest := "", ""
		err := session.QueryRow(ctx, "SELECT COALESCE(json_agg(r)::text, ''), COALESCE("+digestOf+", '') FROM "+quote(table)+" r").Scan(&content, &digest)
		if err != nil {
			return "", err
		}
		if content == "" {
			fmt.Fprintf(&others, ", %s", literal(table))
			continue
		}
		fmt.Fprintf(&kept, restoreTable, quote(table), literal(digest), literal(content), digestOf)
	}
	sequences, err := writeSequences(ctx, session)
	return fmt.Sprintf(restoreAll, others.String(), kept.String(), sequences), err
}

// keepScript notes the statements where all test processes find them, beside the list of databases that are lent.
func keepScript(ctx context.Context, template, script string) error {
	connections, err := maintenance()
	if err != nil {
		return err
	}
	_, err = connections.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('sepad_test_databases', 0));
		CREATE TABLE IF NOT EXISTS sepad_test_templates (name text PRIMARY KEY, script text NOT NULL);
		CREATE TABLE IF NOT EXISTS sepad_test_databases (name text PRIMARY KEY, template text NOT NULL, shape text NOT NULL,
			leases int NOT NULL, given_back_at timestamptz);
		INSERT INTO sepad_test_templates VALUES (`+literal(template)+`, `+literal(script)+`)
			ON CONFLICT (name) DO UPDATE SET script = EXCLUDED.script`, pgx.QueryExecModeSimpleProtocol)
	return err
}

// digestOf stands for all rows of a table.
const digestOf = `md5(string_agg(r::text, E'\n' ORDER BY r::text COLLATE "C"))`

// A table that has grown gets new files.
const restoreAll = `SET session_replication_role = replica;
DO $restore$ DECLARE one regclass; grown text; BEGIN
	FOR one IN SELECT oid::regclass FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
		AND relname IN (''%[1]s) AND pg_relation_size(oid) > 0 LOOP
		IF pg_relation_size(one) > ` + emptyBytes + ` THEN
			grown = concat_ws(', ', grown, one::text);
		ELSE
			EXECUTE format('DELETE FROM %%s', one);
		END IF;
	END LOOP;
	IF grown <> '' THEN EXECUTE 'TRUNCATE ' || grown || ' CASCADE'; END IF;
	%[2]s
	%[3]s
END $restore$;
SET session_replication_role = DEFAULT`

const restoreTable = `
	IF (SELECT %[4]s FROM %[1]s r) IS DISTINCT FROM %[2]s THEN
		DELETE FROM %[1]s;
		INSERT INTO %[1]s OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(NULL::%[1]s, %[3]s);
		ASSERT (SELECT %[4]s FROM %[1]s r) = %[2]s, 'rows of the template do not come back';
	END IF;`

func writeSequences(ctx context.Context, session *pgx.Conn) (string, error) {
	rows, err := session.Query(ctx, `SELECT sequencename::text, start_value, last_value FROM pg_sequences WHERE schemaname = 'public'`)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	var name string
	var first int64
	var last *int64
	_, err = pgx.ForEachRow(rows, []any{&name, &first, &last}, func() error {
		at := first
		if last != nil {
			at = *last
		}
		fmt.Fprintf(&text, "PERFORM setval(%s, %d, %t);\n", literal(quote(name)), at, last != nil)
		return nil
	})
	return text.String(), err
}

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
