//go:build unix

package server

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Sessions keeps sessions of a cluster that their clients have left, cleared of all that those set, for whoever comes next
// to the same database. A new one is a process that knows nothing of the tables yet, which costs PostgreSQL more than most
// tests ask of it.
type Sessions struct {
	// URL leads to the maintenance database of the cluster.
	URL string

	process *process
}

// StartSessions puts a pgbouncer in folder, which must exist, before a cluster.
func StartSessions(folder, cluster string) (*Sessions, error) {
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		return nil, fmt.Errorf("pgbouncer: %w", ErrNotInstalled)
	}
	behind, err := url.Parse(cluster)
	if err != nil {
		return nil, err
	}
	sessions := &Sessions{}
	return sessions, retryOnTakenPort(func(port int) error { return sessions.start(folder, program, behind, port) })
}

func (s *Sessions) start(folder, program string, behind *url.URL, port int) error {
	front := *behind
	front.Host = fmt.Sprintf("127.0.0.1:%d", port)
	path := filepath.Join(folder, "pgbouncer.ini")
	if err := os.WriteFile(path, []byte(sessionSettings(behind, port)), 0o644); err != nil {
		return err
	}
	started, err := launch(folder, program, path)
	if err != nil {
		return err
	}
	s.process, s.URL = started, front.String()
	return started.awaitReady(func() error {
		connection, err := net.DialTimeout("tcp", front.Host, startPatience)
		return errors.Join(err, closeOf(connection))
	})
}

func closeOf(connection net.Conn) error {
	if connection == nil {
		return nil
	}
	return connection.Close()
}

// sessionSettings give each client a session of its own for as long as it is there. What nobody has come back to for a while
// is closed, and what a client wants set as its session begins is refused: a session that is there already would not have it.
func sessionSettings(behind *url.URL, port int) string {
	const kept = 20 * time.Second
	return fmt.Sprintf(`[databases]
* = host=%s port=%s user=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = session
server_reset_query = DISCARD ALL
server_idle_timeout = %d
default_pool_size = 100
max_client_conn = 1000
log_connections = 0
log_disconnections = 0
`, behind.Hostname(), behind.Port(), behind.User.Username(), port, int(kept.Seconds()))
}

// Stop ends it, and the sessions with it.
func (s *Sessions) Stop() {
	s.process.stop(syscall.SIGTERM)
}
