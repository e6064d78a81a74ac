package place

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Folder is a place on this machine: out for the bank, in for its answers, done and failed for what was read.
type Folder struct{ Path string }

const (
	folderOut    = "out"
	folderIn     = "in"
	folderDone   = "done"
	folderFailed = "failed"
)

func (f Folder) in(part, name string) string { return filepath.Join(f.Path, part, name) }

// open makes the folders below. Files name people's accounts, so nobody else may look.
func (f Folder) open() error {
	for _, part := range []string{folderOut, folderIn, folderDone, folderFailed} {
		if err := os.MkdirAll(filepath.Join(f.Path, part), 0o700); err != nil {
			return err
		}
	}
	return nil
}

func (f Folder) Put(temporary string, content func(io.Writer) error) error {
	if err := f.open(); err != nil {
		return err
	}
	path := f.in(folderOut, temporary)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	counted := &counter{out: file}
	if err := errors.Join(content(counted), file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := checkSize(path, counted.count); err != nil {
		return err
	}
	return syncFolder(filepath.Join(f.Path, folderOut))
}

func checkSize(path string, want int64) error {
	found, err := os.Stat(path)
	if err != nil {
		return err
	}
	if found.Size() != want {
		return fmt.Errorf("%s has %d bytes in place of %d", path, found.Size(), want)
	}
	return nil
}

func (f Folder) Discard(temporary string) error {
	err := os.Remove(f.in(folderOut, temporary))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (f Folder) Publish(temporary, name string) error {
	if err := os.Rename(f.in(folderOut, temporary), f.in(folderOut, name)); err != nil {
		return err
	}
	return syncFolder(filepath.Join(f.Path, folderOut))
}

// Identity names the folder itself beside its path: where a disk is not mounted, another one has the same path.
func (f Folder) Identity() (string, error) {
	if err := f.open(); err != nil {
		return "", err
	}
	found, err := os.Stat(filepath.Join(f.Path, folderOut))
	if err != nil {
		return "", err
	}
	known, _ := found.Sys().(*syscall.Stat_t)
	return fmt.Sprint(f.Path, known.Ino), nil
}

// Sent looks also among what was taken away: whoever carries files to the bank may put them there.
func (f Folder) Sent() (names []string, err error) {
	if err := f.open(); err != nil {
		return nil, err
	}
	for _, part := range []string{folderOut, folderDone} {
		found, err := f.list(part)
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			names = append(names, filepath.Join(part, name))
		}
	}
	return names, nil
}

// WasTakenAway tells of a name that Sent has given whether its file no longer lies where it was put.
func WasTakenAway(name string) bool { return filepath.Dir(name) == folderDone }

func (f Folder) FetchSent(name string) (*os.File, error) {
	return openPlain(filepath.Join(f.Path, name))
}

// openPlain opens a file that is one: whoever may write into the folder must not have us read another file, or wait for
// a pipe, by what stands in its place.
func openPlain(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	found, err := file.Stat()
	if err == nil && !found.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", path)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// syncFolder brings a new name to the disk.
func syncFolder(path string) error {
	opened, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(opened.Sync(), opened.Close())
}

func (f Folder) Answers() ([]string, error) {
	if err := f.open(); err != nil {
		return nil, err
	}
	return f.list(folderIn)
}

// list gives the files of a part that are whole.
func (f Folder) list(part string) ([]string, error) { return f.pick(part, isWhole) }

// pick gives the files of a part whose names fit, in order.
func (f Folder) pick(part string, fits func(name string) bool) (names []string, err error) {
	entries, err := os.ReadDir(filepath.Join(f.Path, part))
	for _, entry := range entries {
		if entry.Type().IsRegular() && fits(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	return names, err
}

func (f Folder) Leftovers() ([]string, error) {
	if err := f.open(); err != nil {
		return nil, err
	}
	return f.pick(folderOut, isTemporary)
}

func (f Folder) Fetch(name string) (*os.File, fs.FileInfo, error) {
	file, err := openPlain(f.in(folderIn, name))
	if err != nil {
		return nil, nil, err
	}
	found, err := file.Stat()
	if err == nil && found.Size() > LargestFetch { // it may take no room there at all, and would here
		err = ErrTooLarge
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, found, nil
}

// Unfetched lists the files that wait for the bank, with their paths.
func (f Folder) Unfetched() (paths []string, err error) {
	if err := f.open(); err != nil {
		return nil, err
	}
	names, err := f.list(folderOut)
	for _, name := range names {
		paths = append(paths, f.in(folderOut, name))
	}
	return paths, err
}

// Answer puts a file there as a bank does. Whoever looks into the folder meanwhile finds whole files.
func (f Folder) Answer(name string, content []byte) error {
	if err := f.open(); err != nil {
		return err
	}
	part := f.in(folderIn, temporaryPrefix+name)
	if err := os.WriteFile(part, content, 0o600); err != nil {
		return err
	}
	return os.Rename(part, f.in(folderIn, name))
}

func (f Folder) Done(name string, fetched fs.FileInfo, failed bool) error {
	present, err := os.Stat(f.in(folderIn, name))
	if err == nil && !isSame(present, fetched) {
		return nil // the next look reads it
	}
	to := folderDone
	if failed {
		to = folderFailed
	}
	if err == nil {
		err = os.Rename(f.in(folderIn, name), f.in(to, name))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process has taken it away
	}
	return err
}
