package db

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ErrInUse says that another server works on the same SQLite file.
var ErrInUse = errors.New("another sepad server is using this database")

// LockForServing makes this process the only server of an SQLite database. Two
// servers on one file would each believe to be alone with limits and due work;
// short commands may run beside one. On PostgreSQL nothing is locked.
func (d *DB) LockForServing() (unlock func(), err error) {
	file, ok := d.engine.(*sqlite)
	if !ok {
		return func() {}, nil
	}
	if known, ok := file.file.Sys().(*syscall.Stat_t); ok && known.Nlink > 1 {
		return nil, fmt.Errorf("the database file %s has a second name (a hard link), by which another server could come: remove one", file.path)
	}
	unlock, err = file.flock(".server", syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%w: %s", ErrInUse, file.path)
	}
	return unlock, err
}

// ErrOpenElsewhere says that others have an SQLite file open.
var ErrOpenElsewhere = errors.New("another process is using this database, perhaps a command that waits for an answer: stop it first")

// holdOpen locks a file beside an SQLite database, which whoever has the database open holds together with all others.
func (s *sqlite) holdOpen(how int) (unlock func(), err error) {
	return s.flock(".open", how)
}

// openBeside opens a file that lies beside the database, and gives it to whom the database belongs, as SQLite does with its
// own: root's would be in the way of the server. Links are not followed and only what is empty is given away: whom the folder
// belongs to could have put something else of root's there.
func (s *sqlite) openBeside(suffix string) (*os.File, error) {
	file, err := os.OpenFile(s.path+suffix, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, ownerOnly)
	if err != nil {
		return nil, err
	}
	found, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	owner, isKnown := s.file.Sys().(*syscall.Stat_t)
	present, isOurs := found.Sys().(*syscall.Stat_t)
	isEmpty := found.Mode().IsRegular() && found.Size() == 0
	if isKnown && isOurs && isEmpty && present.Nlink == 1 && os.Geteuid() == 0 {
		_ = file.Chown(int(owner.Uid), int(owner.Gid)) // what cannot be given away is in nobody's way on such a file system
	}
	return file, nil
}

// companions of a file have no names: who can hold alone what they hold together has none.
func (s *sqlite) companions(context.Context) ([]string, error) {
	unlock, err := s.holdOpen(syscall.LOCK_EX | syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%w: %s", ErrOpenElsewhere, s.path)
	}
	if err == nil {
		unlock()
	}
	return nil, err
}

// CheckFile looks whether an SQLite file is sound when a log lay beside it: after a
// crash it is, but SQLite also takes the log of another file for its own, where
// somebody has copied a backup to its place and left the log there. On PostgreSQL
// there is nothing to look at.
func (d *DB) CheckFile(ctx context.Context) error {
	file, ok := d.engine.(*sqlite)
	if !ok || !file.hadLog {
		return nil
	}
	var verdict string
	err := file.readers.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict)
	if err == nil && verdict != "ok" {
		err = errors.New(verdict)
	}
	if err != nil {
		return damaged(file.path, err)
	}
	return nil
}

// Rewrite writes an SQLite file anew, so that neither it nor its log holds anything of
// what was overwritten or removed before. Nobody can write meanwhile, so that it is
// refused while a server runs (ErrInUse). PostgreSQL uses such room again by itself.
func (d *DB) Rewrite(ctx context.Context) error {
	file, ok := d.engine.(*sqlite)
	if !ok {
		return nil
	}
	unlock, err := d.LockForServing()
	if err != nil {
		return err
	}
	defer unlock()
	for _, statement := range []string{"VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := file.writer.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("the database file could not be written anew: %w", err)
		}
	}
	return nil
}

// damaged says what the reason may be.
func damaged(path string, why error) error {
	return fmt.Errorf("the database file %s cannot be used: %w; if it was copied there, the -wal file of the one before must not lie beside it", path, why)
}

// ServedAlone tells that LockForServing keeps every other server away.
func (d *DB) ServedAlone() bool {
	_, ok := d.engine.(*sqlite)
	return ok
}

// flock locks a file beside the database, until the process ends at the latest.
func (s *sqlite) flock(suffix string, how int) (unlock func(), err error) {
	file, err := s.openBeside(suffix)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), how); err != nil {
		_ = file.Close()
		return nil, err
	}
	return func() { _ = file.Close() }, nil
}
