package testenv

import (
	"fmt"
	"os"
	"testing"
)

// The environment through which the program in run speaks to the tests.
const (
	// PostgresVariable holds the URL of the maintenance database.
	PostgresVariable = "SEPAD_TEST_POSTGRES_URL"
	// SessionsVariable holds the URL of the maintenance database over sessions that are kept.
	SessionsVariable = "SEPAD_TEST_SESSIONS_URL"
	// RedisVariable holds the URL of the Redis, without a database number.
	RedisVariable = "SEPAD_TEST_REDIS_URL"
	// RequireVariable is "1" when a missing server is a failure.
	RequireVariable = "SEPAD_TEST_REQUIRE"
)

// address reads where a server is; a test without its server does not go on.
func address(t testing.TB, server, variable string) string {
	t.Helper()
	url := os.Getenv(variable)
	if url != "" {
		return url
	}
	Refuse(t, fmt.Sprintf("this test needs a %s: %s is not set (make test starts one and sets it)", server, variable))
	return ""
}

// Refuse ends a test that lacks something: where all must be there, it has failed.
func Refuse(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv(RequireVariable) == "1" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}
