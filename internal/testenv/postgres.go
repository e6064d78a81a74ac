package testenv

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// maintainers is how many databases a test process makes or drops at once.
const maintainers = 4

// PostgresURL makes an empty database for this test and returns its URL. The
// database is dropped when the test ends, with whatever is still connected.
func PostgresURL(t testing.TB) string {
	t.Helper()
	admin := address(t, "PostgreSQL", PostgresVariable)
	return createDatabase(t, admin, "template0")
}

// PostgresTemplate is PostgresURL for a database that is already migrated:
// the first caller of a name runs migrate on an empty database, and everybody
// gets a copy, which costs a fraction of the migration. The name stands for one
// schema in all test processes of a run; while one builds it, the others wait.
// Migrate must have closed its connections when it returns.
func PostgresTemplate(t testing.TB, name string, migrate func(url string) error) string {
	t.Helper()
	admin := address(t, "PostgreSQL", PostgresVariable)
	template := "sepad_template_" + name
	if err := buildTemplate(t.Context(), admin, template, migrate); err != nil {
		t.Fatalf("template database %s: %v", name, err)
	}
	return createDatabase(t, admin, template)
}

// createDatabase copies a template under a random name, so that test processes
// need no agreement about names.
func createDatabase(t testing.TB, admin, template string) string {
	t.Helper()
	name := "sepad_test_" + strings.ToLower(rand.Text())
	if err := copyDatabase(t.Context(), template, name); err != nil {
		t.Fatalf("create a test database: %v", err)
	}
	t.Cleanup(func() {
		// The test's own context has already ended here.
		if err := dropDatabase(context.Background(), name); err != nil {
			t.Errorf("drop the test database: %v", err)
		}
	})
	return databaseURL(admin, name)
}

// buildTemplate makes the template unless it is there. It is built under
// another name and renamed when complete: a process that dies half-way leaves
// nothing that looks finished. What this process has seen is there until the end
// of the run.
func buildTemplate(ctx context.Context, admin, template string, migrate func(url string) error) error {
	if _, seen := templates.Load(template); seen {
		return nil
	}
	if err := buildTemplateOnce(ctx, admin, template, migrate); err != nil {
		return err
	}
	templates.Store(template, true)
	return nil
}

var templates sync.Map

func buildTemplateOnce(ctx context.Context, admin, template string, migrate func(url string) error) error {
	connection, err := pgx.Connect(ctx, admin)
	if err != nil {
		return err
	}
	// Closing the session also gives the lock back.
	defer connection.Close(context.WithoutCancel(ctx))
	if _, err := connection.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended($1, 0))", template); err != nil {
		return err
	}
	var built bool
	err = connection.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", template).Scan(&built)
	if err != nil || built {
		return err
	}
	unfinished := template + "_unfinished"
	if err := dropDatabase(ctx, unfinished); err != nil {
		return err
	}
	if err := copyDatabase(ctx, "template0", unfinished); err != nil {
		return err
	}
	if err := migrate(databaseURL(admin, unfinished)); err != nil {
		return err
	}
	script, err := writeScript(ctx, databaseURL(admin, unfinished))
	if err != nil {
		return err
	}
	if err := keepScript(ctx, template, script); err != nil {
		return err
	}
	return execute(ctx, "ALTER DATABASE "+quote(unfinished)+" RENAME TO "+quote(template))
}

// copyDatabase copies files: on a cluster that does not wait for the disk that
// is some four times as fast as the usual way through the write-ahead log. The
// choice came with PostgreSQL 15, the oldest that the tests run on.
func copyDatabase(ctx context.Context, template, name string) error {
	return execute(ctx, "CREATE DATABASE "+quote(name)+" TEMPLATE "+quote(template)+" STRATEGY FILE_COPY")
}

func dropDatabase(ctx context.Context, name string) error {
	return execute(ctx, "DROP DATABASE IF EXISTS "+quote(name)+" WITH (FORCE)")
}

// execute runs one statement by itself: CREATE and DROP DATABASE may not run inside
// a transaction or beside other statements.
func execute(ctx context.Context, statement string) error {
	connections, err := maintenance()
	if err != nil {
		return err
	}
	if _, err := connections.Exec(ctx, statement, pgx.QueryExecModeExec); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// maintenance are the connections over which a test process makes and drops its
// databases, kept until it ends: to connect cost PostgreSQL more than to copy.
var maintenance = sync.OnceValues(func() (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(os.Getenv(PostgresVariable))
	if err != nil {
		return nil, err
	}
	config.MaxConns = maintainers
	return pgxpool.NewWithConfig(context.Background(), config)
})

func quote(name string) string {
	return pgx.Identifier{name}.Sanitize()
}

// databaseURL is the address of another database of the same cluster.
func databaseURL(admin, name string) string {
	address, err := url.Parse(admin)
	if err != nil {
		panic(err) // the same text has just been used to connect
	}
	address.Path = "/" + name
	return address.String()
}
