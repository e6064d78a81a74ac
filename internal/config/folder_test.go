package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"sepad/internal/vault"
)

func TestFolder(t *testing.T) {
	t.Parallel()

	t.Run("provides the same key and database every time, for the owner alone", func(t *testing.T) {
		t.Parallel()
		folder := Folder(filepath.Join(t.TempDir(), "deep", "data"))
		first, err := folder.Provide(Database{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := vault.New(first.EncryptionKeys); err != nil {
			t.Error(err)
		}
		if again, err := folder.Provide(Database{}); err != nil || !reflect.DeepEqual(again, first) {
			t.Errorf("got %v, %v", reflect.DeepEqual(again, first), err)
		}
		for path, want := range map[string]os.FileMode{string(folder): 0o700, folder.path(encryptionFile): 0o600} {
			about, err := os.Stat(path)
			if err != nil || about.Mode().Perm() != want {
				t.Errorf("%s has %v, %v", path, about.Mode(), err)
			}
		}
	})

	t.Run("leaves alone what was set", func(t *testing.T) {
		t.Parallel()
		set := Database{DatabaseURL: "postgres://db/sepad", EncryptionKeys: vault.GenerateKey()}
		folder := Folder(t.TempDir())
		if got, err := folder.Provide(set); err != nil || !reflect.DeepEqual(got, set) {
			t.Errorf("provided %v, %v", reflect.DeepEqual(got, set), err)
		}
		if got, err := folder.Locate(set); err != nil || !reflect.DeepEqual(got, set) {
			t.Errorf("located %v, %v", reflect.DeepEqual(got, set), err)
		}
	})

	t.Run("lends its key to a database that is elsewhere", func(t *testing.T) {
		t.Parallel()
		folder := Folder(t.TempDir())
		own, err := folder.Provide(Database{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := folder.Locate(Database{DatabaseURL: "postgres://db/sepad"})
		if err != nil || got.EncryptionKeys != own.EncryptionKeys || got.DatabaseURL != "postgres://db/sepad" {
			t.Errorf("got %s, %v", got.DatabaseURL, err)
		}
	})
}

func TestFolderThatIsNotReady(t *testing.T) {
	t.Parallel()

	t.Run("locates nothing where nothing is, and makes nothing", func(t *testing.T) {
		t.Parallel()
		folder := Folder(filepath.Join(t.TempDir(), "data"))
		if _, err := folder.Locate(Database{}); err == nil || !strings.Contains(err.Error(), "SEPAD_DATABASE_URL") {
			t.Errorf("got %v", err)
		}
		if _, err := os.Stat(string(folder)); err == nil {
			t.Error("the folder was made")
		}
	})

	t.Run("says so when it is a file, or when a file in it is empty", func(t *testing.T) {
		t.Parallel()
		folder := Folder(t.TempDir())
		if err := os.WriteFile(folder.path(encryptionFile), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := folder.Provide(Database{}); err == nil || !strings.Contains(err.Error(), "is empty") {
			t.Errorf("got %v", err)
		}
		if _, err := Folder(folder.path(encryptionFile)).Provide(Database{}); err == nil || !strings.Contains(err.Error(), "data folder") {
			t.Errorf("got %v", err)
		}
	})

	t.Run("gives one key to all who start at once", func(t *testing.T) {
		t.Parallel()
		folder := Folder(t.TempDir())
		const starts = 8
		keys := make([]string, starts)
		var group sync.WaitGroup
		for i := range keys {
			group.Go(func() {
				got, err := folder.Provide(Database{})
				if err != nil {
					t.Error(err)
				}
				keys[i] = got.EncryptionKeys
			})
		}
		group.Wait()
		for _, key := range keys {
			if key != keys[0] || key == "" {
				t.Error("two starts have different keys")
			}
		}
	})
}
