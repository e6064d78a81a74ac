package testenv

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// poolerPatience is how long a pooler may take to answer on a busy machine.
const poolerPatience = 30 * time.Second

// Pooler puts a pgbouncer in front of a database that gives each transaction any of a few sessions, and returns the
// address to use instead.
func Pooler(t testing.TB, database string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		Refuse(t, "this test needs pgbouncer, which is not installed (make test installs it)")
	}
	behind, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	settings := poolerSettings(t, behind, address)
	command := exec.CommandContext(t.Context(), program, settings)
	if os.Getuid() == 0 {
		command = exec.CommandContext(t.Context(), program, "-u", "nobody", settings)
	}
	command.Stderr = t.Output()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Wait() }) // the test's context has ended it
	awaitListener(t, address)
	front := *behind
	front.Host = address
	query := front.Query()
	query.Set("default_query_exec_mode", "cache_describe")
	query.Del("host")
	front.RawQuery = query.Encode()
	return front.String()
}

// poolerSettings writes what pgbouncer reads. It gives up root, and reads it as nobody.
func poolerSettings(t testing.TB, behind *url.URL, address string) (path string) {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "pooler")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	path = filepath.Join(folder, "pgbouncer.ini")
	login := "user=" + behind.User.Username()
	if password, isSet := behind.User.Password(); isSet {
		login += " password=" + password
	}
	text := fmt.Sprintf(`[databases]
%s = host=%s port=%s %s
[pgbouncer]
listen_addr = %s
listen_port = %s
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 6
max_client_conn = 200
`, strings.TrimPrefix(behind.Path, "/"), behind.Hostname(), behind.Port(), login, host, port)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		giveToNobody(t, folder, path)
	}
	return path
}

func giveToNobody(t testing.TB, paths ...string) {
	t.Helper()
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	id, err := strconv.Atoi(nobody.Uid)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if err := os.Chown(path, id, -1); err != nil {
			t.Fatal(err)
		}
	}
}

func freeAddress(t testing.TB) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func awaitListener(t testing.TB, address string) {
	t.Helper()
	deadline := time.After(poolerPatience)
	for {
		connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err == nil {
			connection.Close()
			return
		}
		select {
		case <-deadline:
			t.Fatalf("the pooler does not answer: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
