package testenv_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"sepad/internal/testenv"
)

func TestPostgresURL(t *testing.T) {
	t.Parallel()
	testenv.PostgresURL(t) // skips the whole test where there is no server

	t.Run("two tests get separate empty databases", func(t *testing.T) {
		t.Parallel()
		first, second := testenv.PostgresURL(t), testenv.PostgresURL(t)
		execute(t, first, "CREATE TABLE only_in_first (id int)")
		if tableExists(t, second, "only_in_first") {
			t.Error("a table made in one database is seen in the other")
		}
	})

	t.Run("the database is gone when its test has ended, even with a connection left open", func(t *testing.T) {
		t.Parallel()
		var url string
		t.Run("inner", func(t *testing.T) {
			url = testenv.PostgresURL(t)
			open(t, url)
		})
		if connection, err := pgx.Connect(t.Context(), url); err == nil {
			connection.Close(t.Context())
			t.Error("the database of an ended test still accepts connections")
		}
	})
}

func TestPostgresTemplate(t *testing.T) {
	t.Parallel()
	testenv.PostgresURL(t) // skips the whole test where there is no server

	t.Run("every copy has the schema, the migration runs once and copies are independent", func(t *testing.T) {
		t.Parallel()
		var migrations atomic.Int32
		name := uniqueName(t)
		urls := make([]string, 4)
		t.Run("copies", func(t *testing.T) {
			for i := range urls {
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					t.Parallel()
					url := testenv.PostgresTemplate(t, name, func(url string) error {
						migrations.Add(1)
						execute(t, url, "CREATE TABLE migrated (id int)")
						return nil
					})
					execute(t, url, "INSERT INTO migrated VALUES (1)")
					if count := countRows(t, url, "migrated"); count != 1 {
						t.Errorf("a fresh copy holds %d rows after one insert", count)
					}
				})
			}
		})
		if migrations.Load() != 1 {
			t.Errorf("the migration ran %d times", migrations.Load())
		}
	})

	t.Run("a failed migration fails the test and is tried again by the next", func(t *testing.T) {
		t.Parallel()
		name := uniqueName(t)
		refused := &recorder{TB: t}
		refused.run(func() {
			testenv.PostgresTemplate(refused, name, func(string) error { return errors.New("bad migration") })
		})
		if !strings.Contains(refused.fatal, "bad migration") {
			t.Errorf("failure does not name the cause: %q", refused.fatal)
		}
		url := testenv.PostgresTemplate(t, name, func(url string) error {
			execute(t, url, "CREATE TABLE migrated (id int)")
			return nil
		})
		if !tableExists(t, url, "migrated") {
			t.Error("the second migration did not reach the copy")
		}
	})
}

func TestRedisURL(t *testing.T) {
	t.Parallel()
	testenv.RedisURL(t) // skips the whole test where there is no server

	t.Run("two tests do not see each other's keys", func(t *testing.T) {
		t.Parallel()
		first, second := redisClient(t, testenv.RedisURL(t)), redisClient(t, testenv.RedisURL(t))
		if err := first.Set(t.Context(), "key", "value", 0).Err(); err != nil {
			t.Fatal(err)
		}
		if err := second.Get(t.Context(), "key").Err(); !errors.Is(err, redis.Nil) {
			t.Errorf("a key set in one database is seen in the other: %v", err)
		}
	})

	t.Run("the keys are gone when their test has ended", func(t *testing.T) {
		t.Parallel()
		var url string
		t.Run("inner", func(t *testing.T) {
			url = testenv.RedisURL(t)
			if err := redisClient(t, url).Set(t.Context(), "key", "value", 0).Err(); err != nil {
				t.Fatal(err)
			}
		})
		if err := redisClient(t, url).Get(t.Context(), "key").Err(); !errors.Is(err, redis.Nil) {
			t.Errorf("a key has outlived its test: %v", err)
		}
	})
}

// TestMissingServer runs this test binary again without the environment.
func TestMissingServer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, require, want string
		fails               bool
	}{
		{"a plain go test skips and says why", "", "--- SKIP", false},
		{"under make test it is a failure", "1", "--- FAIL", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			command := exec.Command(os.Args[0], "-test.v", "-test.run=^TestPostgresURL$|^TestRedisURL$")
			command.Env = append(os.Environ(), testenv.PostgresVariable+"=", testenv.RedisVariable+"=",
				testenv.RequireVariable+"="+test.require)
			output, err := command.CombinedOutput()
			if (err != nil) != test.fails {
				t.Errorf("ended with %v", err)
			}
			for _, want := range []string{test.want, "needs a PostgreSQL", "needs a Redis"} {
				if !strings.Contains(string(output), want) {
					t.Errorf("no %q in\n%s", want, output)
				}
			}
		})
	}
}
