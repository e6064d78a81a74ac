package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var tried = version{number: "1.2.0", commit: "0123456789ab", date: time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)}

func TestTheVersionFollowsTheChangelog(t *testing.T) {
	t.Parallel()
	for changelog, want := range map[string]string{
		"# Changelog\n\n## 1.2.0 - 2026-03-31\n\n## 1.1.0\n":      "1.2.0",
		"# Changelog\n\n## [2.0.1] (2026)\n":                      "2.0.1",
		"# Changelog\n\n## Unreleased\n\n### Added\n\n## 1.1.0\n": "1.1.1-dev.20260331120000.g0123456789ab",
		"# Changelog\n\n## Unreleased\n":                          "0.1.0-dev.20260331120000.g0123456789ab",
		"# Changelog\n\n## Versions of 2026\n":                    "",
	} {
		got, err := numberOf(changelog, tried)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q is %q (%v), want %q", changelog, got, err, want)
		}
	}
}

func TestAnImageIsWhatItsDigestsSay(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	program, file := filepath.Join(folder, "sepad"), filepath.Join(folder, "image.tar")
	if err := os.WriteFile(program, []byte("a program"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		before, _ := os.ReadFile(file) // none at first
		if err := tried.writeImage(file, program, platform{"linux", "arm64"}); err != nil {
			t.Fatal(err)
		}
		if after, err := os.ReadFile(file); err != nil || before != nil && !bytes.Equal(before, after) {
			t.Errorf("the same version has other bytes: %v", err)
		}
	}
	entries := readArchive(t, file)
	var index struct{ Manifests []descriptor }
	unmarshal(t, entries["index.json"], &index)
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	blob := func(d descriptor) []byte {
		text := entries["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
		if "sha256:"+sum(text) != d.Digest || len(text) != d.Size {
			t.Errorf("%s has other bytes", d.Digest)
		}
		return text
	}
	unmarshal(t, blob(index.Manifests[0]), &manifest)
	var config struct {
		Architecture string
		Config       struct{ User string }
	}
	unmarshal(t, blob(manifest.Config), &config)
	if config.Architecture != "arm64" || config.Config.User != "65532:65532" || len(manifest.Layers) != 1 {
		t.Errorf("the image is %+v of %+v", config, manifest)
	}
	blob(manifest.Layers[0])
	var older []struct{ Layers []string }
	if unmarshal(t, entries["manifest.json"], &older); entries[older[0].Layers[0]] == nil {
		t.Error("the older manifest names a layer that is not there")
	}
}

func readArchive(t *testing.T, name string) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	entries, in := map[string][]byte{}, tar.NewReader(bytes.NewReader(text))
	for {
		about, err := in.Next()
		if errors.Is(err, io.EOF) {
			return entries
		}
		if err != nil {
			t.Fatal(err)
		}
		if entries[about.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
	}
}

func unmarshal(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}
