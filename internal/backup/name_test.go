package backup_test

import (
	"os"
	"testing"

	"sepad/internal/store/storetest"
)

// TestABackupOfAnOddName: SQLite takes a name that begins with file: for an address. The copy lay elsewhere, for all to read, and the
// backup was empty.
func TestABackupOfAnOddName(t *testing.T) { //nolint:paralleltest // the name is one in this folder
	env := storetest.SQLite(t)
	business(t, env)
	t.Chdir(t.TempDir())
	for _, name := range []string{"file:shop.backup", "file:b%41.backup", "file:c?x=.backup", ":memory:"} {
		manifest, err := source(env).Write(t.Context(), name, func(int64) {})
		if err != nil || len(manifest.Tally) == 0 {
			t.Errorf("%s holds %v: %v", name, manifest.Tally, err)
		}
		if err := os.Remove(name); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("beside them lie %v: %v", left, err)
	}
}
