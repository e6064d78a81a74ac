package db

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDatabaseFilesAreTheirOwnersAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sepad.db")
	for _, before := range []os.FileMode{0, 0o644} {
		if before != 0 { // one that an older version has made
			if err := os.Chmod(path, before); err != nil {
				t.Fatal(err)
			}
		}
		engine, err := openSQLite(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := engine.writer.ExecContext(t.Context(), "CREATE TABLE IF NOT EXISTS x (a)"); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{path, path + "-wal", path + "-shm"} {
			if about, err := os.Stat(name); err != nil || about.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", name, about, err)
			}
		}
		if err := engine.close(); err != nil {
			t.Error(err)
		}
	}
}
