package db_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sepad/internal/db"
	"sepad/internal/store/storetest"
)

// TestAFullDiskIsFoundOut has a disk on which the row that /readyz writes still finds its place.
func TestAFullDiskIsFoundOut(t *testing.T) {
	t.Parallel()
	env := storetest.FreshPostgres(t)
	admin := env.DB(t)
	disk := smallDisk(t, admin)
	place := "small_" + strings.ToLower(filepath.Base(disk))
	// A place for tables is made beside a transaction, and needs no database of its own.
	if _, err := admin.ExecContext(t.Context(), `CREATE TABLESPACE `+quoted(place)+` LOCATION '`+disk+`'`); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.ExecContext(context.Background(), `DROP TABLESPACE `+quoted(place)); err != nil {
			t.Error(err)
		}
	})
	env.URL = withSetting(env.URL, "temp_tablespaces="+place)
	process := env.Reopen(t)
	if err := process.HasRoom(t.Context()); err != nil {
		t.Fatalf("before it is full: %v", err)
	}
	fill(t, filepath.Join(disk, "full"))
	if err := process.HasRoom(t.Context()); !errors.Is(err, db.ErrNoRoom) {
		t.Errorf("when it is full: %v", err)
	}
	if err := process.ProveWrite(t.Context(), env.Now); !errors.Is(err, db.ErrNoRoom) {
		t.Errorf("the service is ready: %v", err)
	}
	if err := os.Remove(filepath.Join(disk, "full")); err != nil {
		t.Fatal(err)
	}
	if err := process.ProveWrite(t.Context(), env.Now); err != nil {
		t.Errorf("when there is room again: %v", err)
	}
}

// TestALimitIsNoFullDisk has a server that bounds the files which are tried.
func TestALimitIsNoFullDisk(t *testing.T) {
	t.Parallel()
	env := storetest.FreshPostgres(t)
	env.URL = withSetting(env.URL, "temp_file_limit=64")
	if err := env.Reopen(t).HasRoom(t.Context()); err != nil {
		t.Error(err)
	}
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// smallDisk is a disk of 8 MB that belongs to the server, which not every machine lets a test have.
func smallDisk(t *testing.T, server *sql.DB) string {
	t.Helper()
	var data string
	if err := server.QueryRowContext(t.Context(), `SELECT current_setting('data_directory')`).Scan(&data); err != nil {
		t.Fatal(err)
	}
	owner, err := os.Stat(data)
	if err != nil {
		t.Skipf("the server is on another machine: %v", err)
	}
	folder, err := os.MkdirTemp("", "sepad-room-") // the server's user finds no way into a test's own folder
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if output, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder).CombinedOutput(); err != nil {
		t.Skipf("this needs the right to mount a small disk: %v: %s", err, output)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", folder).Run() })
	disk := filepath.Join(folder, "disk")
	who := owner.Sys().(*syscall.Stat_t)
	if err := errors.Join(os.Mkdir(disk, 0o700), os.Chown(disk, int(who.Uid), int(who.Gid)), os.Chmod(folder, 0o755)); err != nil {
		t.Fatal(err)
	}
	return disk
}

// fill leaves no room.
func fill(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := io.Copy(file, endless{}); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
