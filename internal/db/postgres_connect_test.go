package db

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

func TestAnAddressHasTheLastWord(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]struct {
		connections int32
		connect     time.Duration
		setsIdle    bool
	}{
		"postgres:///sepad": {24, 3 * time.Second, true},
		"postgres:///sepad?pool_max_conns=7&connect_timeout=9":            {7, 9 * time.Second, true},
		"postgres:///sepad?idle_in_transaction_session_timeout=5000":      {24, 3 * time.Second, false},
		"postgres:///sepad?default_query_exec_mode=cache_describe":        {24, 3 * time.Second, false},
		"postgres:///sepad?default_query_exec_mode=exec&pool_max_conns=3": {3, 3 * time.Second, false},
	} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			config, err := pgxpool.ParseConfig(address)
			if err != nil {
				t.Fatal(err)
			}
			prepareConnections(config, address, Options{})
			if config.MaxConns != want.connections || config.ConnConfig.ConnectTimeout != want.connect || (config.AfterConnect != nil) != want.setsIdle {
				t.Errorf("%d connections, %s to connect, idle transactions end: %t", config.MaxConns, config.ConnConfig.ConnectTimeout, config.AfterConnect != nil)
			}
		})
	}
}
