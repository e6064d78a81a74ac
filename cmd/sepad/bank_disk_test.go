package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestAFullDiskLosesNoBankFile writes a file for a bank onto a disk that is full after the first half of it. Its bytes are
// kept with their payments; nothing lies where the bank would fetch it until all of it can.
func TestAFullDiskLosesNoBankFile(t *testing.T) {
	t.Parallel()
	needDisks(t)
	for engine, url := range databases {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			const collections = 50
			s := openSize(t, url(t), collections)
			full := execute(t, onDisk(t, s.folder, "size=16k", s.settings, "bank", "write", "--gateway", "House bank", "--json"))
			mustSucceed(t, full)
			var files []struct {
				ID, State string
				Count     int
				Problem   *string
			}
			if err := json.Unmarshal([]byte(full.stdout), &files); err != nil {
				t.Fatal(err, full.stdout)
			}
			if len(files) != 1 || files[0].State != "written" || files[0].Count != collections || files[0].Problem == nil {
				t.Fatalf("on a full disk: %+v", files)
			}
			again := onDisk(t, s.folder, "size=16k", s.settings)
			again.Args = append(again.Args[:len(again.Args)-1], "sh", "-c", `"$0" bank deliver && exit 1; find disk -type f`, binary)
			tried := execute(t, again)
			mustSucceed(t, tried)
			if tried.stdout != "0 delivered, 1 wait.\n" {
				t.Errorf("left on the full disk: %s", tried.stdout)
			}

			mustSucceed(t, execute(t, command(t, s.folder, s.settings, "bank", "deliver")))
			names, err := filepath.Glob(filepath.Join(s.bank, "out", "*"))
			if err != nil || len(names) != 1 {
				t.Fatalf("delivered are %v: %v", names, err)
			}
			content, err := os.ReadFile(names[0])
			if err != nil {
				t.Fatal(err)
			}
			if shown := execute(t, command(t, s.folder, s.settings, "bank", "show", files[0].ID, "--xml")); shown.stdout != string(content) {
				t.Errorf("%d bytes were delivered of %d", len(content), len(shown.stdout))
			}
			nothing := execute(t, command(t, s.folder, s.settings, "bank", "write", "--gateway", "House bank", "--json"))
			mustSucceed(t, nothing)
			if nothing.stdout != "[]\n" {
				t.Errorf("written once more: %s", nothing.stdout)
			}
			validateFiles(t, s.bank)
		})
	}
}
