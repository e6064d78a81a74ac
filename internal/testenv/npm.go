package testenv

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// NPM gives a folder of modules with a package of npm's registry, such as axe-core@4.14.0,
// and all that it stands on. It is fetched once and kept among the user's caches: it
// serves tests alone and is no part of the project.
func NPM(t testing.TB, name string) string {
	t.Helper()
	folder, err := fetchOnce(name)
	if err != nil {
		Refuse(t, "this test needs "+name+": "+err.Error())
	}
	return folder
}

var fetching sync.Mutex

func fetchOnce(name string) (string, error) {
	fetching.Lock()
	defer fetching.Unlock()
	caches, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	home := filepath.Join(caches, "sepad-test", strings.ReplaceAll(name, "@", "-"))
	modules := filepath.Join(home, "node_modules")
	if _, err := os.Stat(modules); err == nil {
		return modules, nil
	}
	if err := os.MkdirAll(filepath.Dir(home), 0o755); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(home), "fetching-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	if err := exec.Command("npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", fresh, name).Run(); err != nil {
		return "", errors.New("npm could not fetch it: " + err.Error())
	}
	if err := os.Rename(fresh, home); err != nil {
		_, err = os.Stat(modules) // another process was quicker
		return modules, err
	}
	return modules, nil
}
