package place_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"sepad/internal/banking/place"
)

func openFolder(t *testing.T) place.Folder {
	t.Helper()
	folder := place.Folder{Path: t.TempDir()}
	_, err := folder.Answers() // the folders are made
	must(t, err)
	return folder
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestAnAnswerBeyondAllMeasureIsLeft makes a file without contents that takes no room itself, and would in the database.
func TestAnAnswerBeyondAllMeasureIsLeft(t *testing.T) {
	t.Parallel()
	folder := openFolder(t)
	huge := filepath.Join(folder.Path, "in", "huge.xml")
	must(t, os.WriteFile(huge, nil, 0o600))
	must(t, os.Truncate(huge, place.LargestFetch+1))
	file, _, err := folder.Fetch("huge.xml")
	if !errors.Is(err, place.ErrTooLarge) {
		t.Errorf("a file of %d bytes is fetched: %v", int64(place.LargestFetch+1), err)
		must(t, file.Close())
	}
}

// TestOnlyFilesAreRead puts a link and a pipe in the place of answers, also after the folder was listed.
func TestOnlyFilesAreRead(t *testing.T) {
	t.Parallel()
	folder := openFolder(t)
	secret := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, []byte("<Document/>"), 0o600))
	must(t, os.Symlink(secret, filepath.Join(folder.Path, "in", "link.xml")))
	must(t, syscall.Mkfifo(filepath.Join(folder.Path, "in", "pipe.xml"), 0o600))
	if names, err := folder.Answers(); err != nil || len(names) > 0 {
		t.Errorf("listed are %v: %v", names, err)
	}
	for _, name := range []string{"link.xml", "pipe.xml"} {
		if file, _, err := folder.Fetch(name); err == nil {
			t.Errorf("%s is read", name)
			must(t, file.Close())
		}
	}
}
