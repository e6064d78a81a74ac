// Package iso20022test holds messages against their schemas, and against other programs that know them.
//
// Schemas are fetched by scripts/fetch-schemas on first use and kept in the user's cache folder, because they are not
// ours to pass on. Where they cannot be fetched, or xmllint is not there, the test that asks is skipped and says why.
package iso20022test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Validate holds a message against the official schema of its version and, where there is one, the form to which
// German banks restrict it.
func Validate(t testing.TB, version string, message []byte) {
	t.Helper()
	folder := schemas(t)
	validate(t, filepath.Join(folder, version+".xsd"), message)
	if restricted := filepath.Join(folder, "dk", version+".xsd"); exists(restricted) {
		validate(t, restricted, message)
	}
}

func validate(t testing.TB, schema string, message []byte) {
	t.Helper()
	command := exec.Command("xmllint", "--noout", "--huge", "--schema", schema, "-")
	command.Stdin = bytes.NewReader(message)
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%s: %s", filepath.Base(schema), firstBytes(output))
	}
}

// firstBytes keeps a file of a hundred thousand faults readable.
func firstBytes(text []byte) []byte { return text[:min(len(text), 2000)] }

// schemas gives the folder of the schemas, fetching them once for all test programs of the machine.
func schemas(t testing.TB) string {
	t.Helper()
	folder, reason := fetchOnce()
	if reason != "" {
		t.Skip("the messages are not held against their schemas: " + reason)
	}
	return folder
}

var fetchOnce = sync.OnceValues(fetch)

func fetch() (folder, reason string) {
	if _, err := exec.LookPath("xmllint"); err != nil {
		return "", "xmllint is not installed"
	}
	// The number changes when the script fetches other schemas.
	return fillOnce("sepad-schemas-1", func(fresh string) *exec.Cmd {
		return exec.Command(filepath.Join(Root(), "scripts", "fetch-schemas"), fresh)
	})
}

// fillOnce gives a folder among the user's caches that a command has filled, now or
// an earlier time; the reason is why there is none.
func fillOnce(name string, filling func(fresh string) *exec.Cmd) (folder, reason string) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err.Error()
	}
	folder = filepath.Join(cache, name)
	if exists(folder) {
		return folder, ""
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err.Error()
	}
	fresh, err := os.MkdirTemp(cache, name+"-")
	if err != nil {
		return "", err.Error()
	}
	defer os.RemoveAll(fresh)
	command := filling(fresh)
	if output, err := command.CombinedOutput(); err != nil {
		return "", filepath.Base(command.Path) + " failed: " + string(firstBytes(output))
	}
	// Of two test programs at once one finds the folder there, with the same files.
	if err := os.Rename(fresh, folder); err != nil && !exists(folder) {
		return "", err.Error()
	}
	return folder, ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Root is the folder of the module, above the folder in which tests run.
func Root() string {
	folder, err := os.Getwd()
	for err == nil && !exists(filepath.Join(folder, "go.mod")) {
		parent := filepath.Dir(folder)
		if parent == folder {
			break
		}
		folder = parent
	}
	return folder
}
