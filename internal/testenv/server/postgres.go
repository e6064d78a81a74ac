//go:build unix

package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// ErrNotInstalled is returned when a server's program is not on this machine.
var ErrNotInstalled = errors.New("not installed")

// Postgres is a private cluster whose only role, postgres, needs no password.
type Postgres struct {
	// URL leads to the maintenance database "postgres".
	URL string

	process *process
	again   func() error
}

// Disposable are settings for data that nobody will miss: nothing waits for
// the disk, no autovacuum worker stands in the way of copying a database, and no
// machine code is made for statements about tables that nobody has counted.
var Disposable = map[string]string{
	"autovacuum":         "off",
	"jit":                "off",
	"fsync":              "off",
	"full_page_writes":   "off",
	"max_connections":    "500", // sessions are kept for tests to come
	"max_wal_senders":    "0",
	"synchronous_commit": "off",
	"wal_level":          "minimal",
}

// StartPostgres makes a cluster in folder, which must exist and be empty, and
// starts it. Settings are added to ours; an entry of the same name wins.
func StartPostgres(folder string, settings map[string]string) (*Postgres, error) {
	binaries, err := postgresBinaries()
	if err != nil {
		return nil, err
	}
	data := filepath.Join(folder, "data")
	if err := makeCluster(folder, data, filepath.Join(binaries, "initdb")); err != nil {
		return nil, err
	}
	return serve(folder, data, filepath.Join(binaries, "postgres"), settings)
}

// serve starts a cluster that is there.
func serve(folder, data, program string, settings map[string]string) (*Postgres, error) {
	cluster := &Postgres{}
	return cluster, retryOnTakenPort(func(port int) error {
		cluster.again = func() error { return cluster.start(folder, program, data, port, settings) }
		return cluster.again()
	})
}

// makeCluster skips the sync to disk: a cluster that a power cut destroys is
// simply made again.
func makeCluster(folder, data, initdb string) error {
	command, err := unprivileged(folder, initdb, "--pgdata="+data, "--username=postgres",
		"--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions")
	if err != nil {
		return err
	}
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, output)
	}
	return nil
}

func (c *Postgres) start(folder, program, data string, port int, settings map[string]string) error {
	all := map[string]string{
		"listen_addresses":        "127.0.0.1",
		"port":                    strconv.Itoa(port),
		"unix_socket_directories": "", // a path in a deep folder is too long for one
		// Test processes run side by side, each test with a pool of its own.
		"max_connections": "300",
		"shared_buffers":  "64MB",
	}
	maps.Copy(all, settings)
	arguments := []string{"-D", data}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		arguments = append(arguments, "-c", name+"="+all[name])
	}
	process, err := launch(folder, program, arguments...)
	if err != nil {
		return err
	}
	c.process = process
	c.URL = fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
	return process.awaitReady(c.probe)
}

func (c *Postgres) probe() error {
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	connection, err := pgx.Connect(ctx, c.URL)
	if err != nil {
		return err
	}
	return connection.Close(ctx)
}

// Stop ends the cluster and cuts the connections it still has.
func (c *Postgres) Stop() {
	c.process.stop(syscall.SIGQUIT)
}

// HasEnded tells that the cluster ended by itself.
func (c *Postgres) HasEnded() bool {
	select {
	case <-c.process.ended:
		return true
	default:
		return false
	}
}

// Restart stops the cluster without a word to its clients and starts it again at
// the same address, with what it had written.
func (c *Postgres) Restart() error {
	c.Stop()
	return c.again()
}

// postgresBinaries is the folder that holds initdb and postgres. Debian keeps
// them apart from PATH, one folder per major version: the newest is taken.
func postgresBinaries() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		path, err = filepath.EvalSymlinks(path)
		return filepath.Dir(path), err
	}
	const versions = "/usr/lib/postgresql"
	newest := 0
	entries, _ := os.ReadDir(versions) // absent means not installed
	for _, entry := range entries {
		version, err := strconv.Atoi(entry.Name())
		if err != nil || version < newest {
			continue
		}
		if _, err := os.Stat(filepath.Join(versions, entry.Name(), "bin", "initdb")); err == nil {
			newest = version
		}
	}
	if newest == 0 {
		return "", fmt.Errorf("PostgreSQL server: %w", ErrNotInstalled)
	}
	return filepath.Join(versions, strconv.Itoa(newest), "bin"), nil
}
