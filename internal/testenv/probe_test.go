package testenv_test

import (
	"crypto/rand"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
)

// recorder stands in for a test that is expected to fail.
type recorder struct {
	testing.TB
	fatal string
}

func (r *recorder) Fatalf(format string, arguments ...any) {
	r.fatal = fmt.Sprintf(format, arguments...)
	runtime.Goexit()
}

// run waits for body, which Fatalf may end early.
func (r *recorder) run(body func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		body()
	}()
	<-done
}

// uniqueName keeps repeated runs (-count) on one cluster apart.
func uniqueName(t *testing.T) string {
	t.Helper()
	return strings.ToLower(rand.Text())
}

func open(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return connection
}

func execute(t *testing.T, url, statement string) {
	t.Helper()
	connection := open(t, url)
	defer connection.Close(t.Context())
	if _, err := connection.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func tableExists(t *testing.T, url, table string) bool {
	t.Helper()
	return scan[bool](t, url, "SELECT to_regclass($1) IS NOT NULL", table)
}

func countRows(t *testing.T, url, table string) int {
	t.Helper()
	return scan[int](t, url, "SELECT count(*) FROM "+pgx.Identifier{table}.Sanitize())
}

func scan[T any](t *testing.T, url, query string, arguments ...any) (value T) {
	t.Helper()
	connection := open(t, url)
	defer connection.Close(t.Context())
	if err := connection.QueryRow(t.Context(), query, arguments...).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

func redisClient(t *testing.T, url string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	return client
}
