package backup

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// A backup on its way has files beside its place: NAME.part, which it holds locked,
// and of SQLite also NAME.copy, which is not encrypted yet. A process that is killed
// leaves them behind, and the next backup into the same folder removes them.
const (
	partSuffix = ".part"
	copySuffix = ".copy"
)

const ownerOnly = 0o600

// createPart makes the file of a backup that begins. What has its name is neither
// followed, if it is a link, nor written over.
func createPart(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, ownerOnly)
	if err != nil {
		return nil, err
	}
	// Somebody who has found it unlocked may have taken it away meanwhile.
	if err := lockInPlace(file, path); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// removeLeftovers removes what killed backups have left in the folder of a new one.
// Files of others, files that do not begin as a backup does, links and what is locked
// stay. A part that is still empty is known by its copy, or by the name that is wanted.
func removeLeftovers(path string) error {
	folder := filepath.Dir(path)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name, isPart := strings.CutSuffix(entry.Name(), partSuffix)
		if !isPart {
			continue
		}
		if err := removeLeftover(filepath.Join(folder, name), name == filepath.Base(path)); err != nil {
			return err
		}
	}
	return nil
}

func removeLeftover(place string, isWanted bool) (err error) {
	part, isEmpty := openOurs(place+partSuffix, firstLine)
	if part == nil {
		return nil
	}
	defer func() { err = errors.Join(err, part.Close()) }()
	if lockInPlace(part, place+partSuffix) != nil {
		return nil // it is being written
	}
	copied, _ := openOurs(place+copySuffix, "SQLite format 3\x00")
	if copied == nil && isEmpty && !isWanted {
		return nil
	}
	if copied != nil {
		if err := errors.Join(copied.Close(), os.Remove(place+copySuffix)); err != nil {
			return err
		}
	}
	return os.Remove(place + partSuffix)
}

// openOurs opens a file of our own that is empty or begins as it must, nil for none.
func openOurs(path, beginning string) (file *os.File, isEmpty bool) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	about, err := file.Stat()
	if err == nil && about.Mode().IsRegular() && isOwned(about) {
		read, err := io.ReadAll(io.LimitReader(file, int64(len(beginning))))
		if err == nil && strings.HasPrefix(beginning, string(read)) {
			return file, len(read) == 0
		}
	}
	_ = file.Close() // it was only looked at
	return nil, false
}

// isOwned tells a file that this user has made and that has no other name.
func isOwned(about fs.FileInfo) bool {
	known, ok := about.Sys().(*syscall.Stat_t)
	return ok && int(known.Uid) == os.Geteuid() && known.Nlink == 1
}

var errLocked = errors.New("the file is in use, or was replaced")

// lockInPlace takes the lock of a file, which ends with the process at the latest, and
// makes sure that the file still has its name.
func lockInPlace(file *os.File, path string) error {
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return errLocked
	}
	opened, err := file.Stat()
	if err != nil {
		return err
	}
	named, err := os.Lstat(path)
	if err != nil || !os.SameFile(opened, named) {
		return errLocked
	}
	return nil
}
