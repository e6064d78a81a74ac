package testenv

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// axePackage is the accessibility checker, by its name in the registry of npm.
const axePackage = "axe-core@4.14.0"

// AxeScript is the script of the checker. It is fetched once and kept among the user's
// caches: it serves tests alone and is no part of the project.
var AxeScript = sync.OnceValues(func() (string, error) {
	caches, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(caches, "sepad-test")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	archive := filepath.Join(folder, strings.ReplaceAll(axePackage, "@", "-")+".tgz")
	if _, err := os.Stat(archive); err != nil {
		if err := exec.Command("npm", "pack", "--silent", "--pack-destination", folder, axePackage).Run(); err != nil {
			return "", errors.New("npm could not fetch it: " + err.Error())
		}
	}
	return readFromArchive(archive, "package/axe.min.js")
})

func readFromArchive(archive, name string) (string, error) {
	file, err := os.Open(archive)
	if err != nil {
		return "", err
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return "", err
	}
	for entries := tar.NewReader(unpacked); ; {
		entry, err := entries.Next()
		if err != nil {
			return "", err
		}
		if entry.Name == name {
			content, err := io.ReadAll(entries)
			return string(content), err
		}
	}
}
