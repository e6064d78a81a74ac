//go:build unix

package server

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// startFront makes the database and puts haproxy and pgbouncer before it.
func (f *Failover) startFront() error {
	if err := f.makeDatabase(); err != nil {
		return err
	}
	front, err := f.startProxy()
	if err != nil {
		return err
	}
	return f.startPooler(front)
}

func (f *Failover) makeDatabase() error {
	ctx := context.Background()
	connection, err := pgx.Connect(ctx, f.nodes[f.Primary()].direct)
	if err != nil {
		return err
	}
	defer connection.Close(ctx)
	_, err = connection.Exec(ctx, "CREATE DATABASE sepad")
	return err
}

// startProxy starts haproxy, which asks every member whether it is the primary. Sessions
// of one that no longer is are ended at once: their clients would wait for nobody.
func (f *Failover) startProxy() (port int, err error) {
	program, err := exec.LookPath("haproxy")
	if err != nil {
		return 0, fmt.Errorf("haproxy: %w", ErrNotInstalled)
	}
	folder, err := f.sub("haproxy")
	if err != nil {
		return 0, err
	}
	if port, err = freePort(); err != nil {
		return 0, err
	}
	var members strings.Builder
	for _, n := range f.nodes {
		host, rest, err := net.SplitHostPort(n.rest.Address)
		if err != nil {
			return 0, err
		}
		fmt.Fprintf(&members, "  server %s %s check addr %s port %s\n", n.name, n.database.Address, host, rest)
	}
	settings := fmt.Sprintf(`global
  maxconn 500
defaults
  mode tcp
  timeout connect 1s
  timeout client 30m
  timeout server 30m
  timeout check 1s
  retries 1
listen primary
  bind 127.0.0.1:%d
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
%s`, port, members.String())
	path := filepath.Join(folder, "haproxy.cfg")
	if err := os.WriteFile(path, []byte(settings), 0o644); err != nil {
		return 0, err
	}
	f.proxy, err = launch(folder, program, "-db", "-f", path)
	return port, err
}

func (f *Failover) startPooler(front int) error {
	folder, err := f.sub("pgbouncer")
	if err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	settings := fmt.Sprintf(`[databases]
sepad = host=127.0.0.1 port=%d user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 24
max_client_conn = 300
server_connect_timeout = 2
server_login_retry = 0.5
query_wait_timeout = 10
server_idle_timeout = 60
`, front, port)
	if err := os.WriteFile(filepath.Join(folder, "pgbouncer.ini"), []byte(settings), 0o644); err != nil {
		return err
	}
	f.URL = fmt.Sprintf("postgres://postgres@127.0.0.1:%d/sepad?sslmode=disable&default_query_exec_mode=cache_describe", port)
	return f.runPooler()
}

func (f *Failover) runPooler() error {
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		return fmt.Errorf("pgbouncer: %w", ErrNotInstalled)
	}
	if f.pooler, err = launch(filepath.Join(f.folder, "pgbouncer"), program, "pgbouncer.ini"); err != nil {
		return err
	}
	return f.pooler.awaitReady(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), startPatience)
		defer cancel()
		connection, err := pgx.Connect(ctx, f.URL)
		if err != nil {
			return err
		}
		return connection.Close(ctx)
	})
}

// RestartPooler ends pgbouncer without a word and starts it again.
func (f *Failover) RestartPooler() error {
	f.pooler.stop(syscall.SIGKILL)
	return f.runPooler()
}
