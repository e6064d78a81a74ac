package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnInputThatIsNotThePinnedOneIsRefused(t *testing.T) {
	t.Parallel()
	inputs := t.TempDir()
	for _, pin := range pins {
		if err := os.WriteFile(filepath.Join(inputs, pin.file), []byte("something else"), 0o600); err != nil {
			t.Fatal(err)
		}
		err := pin.prepare(inputs, filepath.Join(t.TempDir(), pin.name))
		if err == nil || !strings.Contains(err.Error(), "pinned is "+pin.sha256) {
			t.Errorf("%s: error %v", pin.name, err)
		}
	}
}

func TestAMissingInputIsRefused(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "directory.tsv")
	if err := generate(out, t.TempDir()); err == nil {
		t.Error("a directory is made from nothing")
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("the file is touched: %v", err)
	}
}
