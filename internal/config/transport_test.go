package config

import (
	"slices"
	"testing"
)

func TestConnectionsThatSomebodyCouldRead(t *testing.T) {
	t.Parallel()
	for address, guarded := range map[string]bool{
		"sqlite:/var/lib/sepad/sepad.db":                                   true,
		"postgres://sepad@localhost/sepad":                                 true,
		"postgres://sepad@127.0.0.1:5432/sepad":                            true,
		"postgres://sepad@[::1]/sepad":                                     true,
		"postgres:///sepad?host=/run/postgresql":                           true,
		"postgres://sepad@db.internal/sepad?sslmode=verify-full":           true,
		"postgres://sepad@db.internal/sepad":                               false,
		"postgres://sepad@db.internal/sepad?sslmode=require":               false,
		"postgres://sepad@db.internal/sepad?sslmode=verify-ca":             false,
		"postgres://sepad@localhost/sepad?host=db.internal&sslmode=prefer": false,
		"postgres://sepad@127.0.0.1.example/sepad":                         false,
		"redis://127.0.0.1:6379/0":                                         true,
		"redis://cache.internal:6379":                                      false,
		"rediss://cache.internal:6379":                                     true,
		"rediss://cache.internal:6379?skip_verify=true":                    false,
		"unix:///run/redis.sock":                                           true,
	} {
		if got := isGuarded(address); got != guarded {
			t.Errorf("%s is guarded: %t", address, got)
		}
	}
	c := Config{DatabaseURL: "postgres://db.internal/sepad", DatabaseReplicaURL: "postgres://db2.internal/sepad?sslmode=verify-full", RedisURL: "redis://cache.internal"}
	if got := c.Unguarded(); !slices.Equal(got, []string{"SEPAD_DATABASE_URL", "SEPAD_REDIS_URL"}) {
		t.Errorf("it names %q", got)
	}
	if got := (Config{DatabaseURL: "sqlite:x.db"}).Unguarded(); len(got) > 0 {
		t.Errorf("it names %q", got)
	}
}
