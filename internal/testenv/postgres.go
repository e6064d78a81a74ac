package testenv

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

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
	if err := copyDatabase(t.Context(), admin, template, name); err != nil {
		t.Fatalf("create a test database: %v", err)
	}
	t.Cleanup(func() {
		// The test's own context has already ended here.
		if err := dropDatabase(context.Background(), admin, name); err != nil {
			t.Errorf("drop the test database: %v", err)
		}
	})
	return databaseURL(admin, name)
}

// buildTemplate makes the template unless it is there. It is built under
// another name and renamed when complete: a process that dies half-way leaves
// nothing that looks finished.
func buildTemplate(ctx context.Context, admin, template string, migrate func(url string) error) error {
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
	if err := dropDatabase(ctx, admin, unfinished); err != nil {
		return err
	}
	if err := copyDatabase(ctx, admin, "template0", unfinished); err != nil {
		return err
	}
	if err := migrate(databaseURL(admin, unfinished)); err != nil {
		return err
	}
	return execute(ctx, admin, "ALTER DATABASE "+quote(unfinished)+" RENAME TO "+quote(template))
}

// copyDatabase copies files: on a cluster that does not wait for the disk that
// is some four times as fast as the usual way through the write-ahead log. The
// choice came with PostgreSQL 15, the oldest that the tests run on.
func copyDatabase(ctx context.Context, admin, template, name string) error {
	return execute(ctx, admin, "CREATE DATABASE "+quote(name)+" TEMPLATE "+quote(template)+" STRATEGY FILE_COPY")
}

func dropDatabase(ctx context.Context, admin, name string) error {
	return execute(ctx, admin, "DROP DATABASE IF EXISTS "+quote(name)+" WITH (FORCE)")
}

// execute runs one statement on a connection of its own: CREATE and DROP
// DATABASE may not run inside a transaction or beside other statements.
func execute(ctx context.Context, admin, statement string) error {
	connection, err := pgx.Connect(ctx, admin)
	if err != nil {
		return err
	}
	defer connection.Close(context.WithoutCancel(ctx))
	if _, err := connection.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

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
