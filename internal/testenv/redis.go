package testenv

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"

	"sepad/internal/testenv/server"
)

// RedisURL returns the URL of an empty numbered database of the shared Redis,
// which belongs to this test alone until it ends. Database 0 keeps the list of
// those in use, so FLUSHALL is not for tests. A test of what happens when
// Redis goes away starts one of its own with package server.
func RedisURL(t testing.TB) string {
	t.Helper()
	base := address(t, "Redis", RedisVariable)
	number, err := claimDatabase(t.Context(), base)
	if err != nil {
		t.Fatalf("claim a Redis database: %v", err)
	}
	t.Cleanup(func() {
		// The test's own context has already ended here.
		if err := releaseDatabase(context.Background(), base, number); err != nil {
			t.Errorf("release the Redis database: %v", err)
		}
	})
	return databaseOf(base, number)
}

// claimDatabase takes numbers in turn and keeps the first that nobody holds: a
// run may have more tests than there are databases.
func claimDatabase(ctx context.Context, base string) (int, error) {
	client, err := connect(base)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	for range server.RedisDatabases {
		turn, err := client.Incr(ctx, "sepad_test:turn").Result()
		if err != nil {
			return 0, err
		}
		number := int(turn)%(server.RedisDatabases-1) + 1
		err = client.SetArgs(ctx, claimKey(number), "in use", redis.SetArgs{Mode: "NX"}).Err()
		if err == nil {
			return number, nil
		}
		if !errors.Is(err, redis.Nil) {
			return 0, err
		}
	}
	return 0, fmt.Errorf("all %d databases are in use", server.RedisDatabases-1)
}

// releaseDatabase empties the database before anyone else can claim it.
func releaseDatabase(ctx context.Context, base string, number int) error {
	used, err := connect(databaseOf(base, number))
	if err != nil {
		return err
	}
	defer used.Close()
	if err := used.FlushDB(ctx).Err(); err != nil {
		return err
	}
	client, err := connect(base)
	if err != nil {
		return err
	}
	defer client.Close()
	return client.Del(ctx, claimKey(number)).Err()
}

func connect(url string) (*redis.Client, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	return redis.NewClient(options), nil
}

func claimKey(number int) string {
	return "sepad_test:in_use:" + strconv.Itoa(number)
}

func databaseOf(base string, number int) string {
	return base + "/" + strconv.Itoa(number)
}
