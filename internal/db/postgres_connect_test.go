package db

import (
	"errors"
	"net"
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

// TestAServerThatTakesConnectionsAndSaysNothing: nothing was begun, and the caller may come again.
func TestAServerThatTakesConnectionsAndSaysNothing(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	address := silent.Addr().String()
	d, err := Open(t.Context(), "postgres://somebody@"+address+"/sepad?sslmode=disable&connect_timeout=1", Schema{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	ctx := Attend(t.Context(), Ordinary, time.Minute)
	for name, ask := range map[string]asking{"a query": d.Query, "a look-up": d.LookUp} {
		if _, err := ask(ctx, "SELECT 1"); !errors.Is(err, ErrSilent) {
			t.Errorf("%s: %v", name, err)
		}
	}
	silent.Close()
	if _, err := d.Query(ctx, "SELECT 1"); err == nil || errors.Is(err, ErrSilent) {
		t.Errorf("a server that is away: %v", err)
	}
}
