package db

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ErrInUse says that another server works on the same SQLite file.
var ErrInUse = errors.New("another sepad server is using this database")

// lockFile waits for an exclusive lock that ends with the process at the latest.
func lockFile(path string) (unlock func(), err error) { return flock(path, syscall.LOCK_EX) }

// LockForServing makes this process the only server of an SQLite database. Two
// servers on one file would each believe to be alone with limits and due work;
// short commands may run beside one. On PostgreSQL nothing is locked.
func (d *DB) LockForServing() (unlock func(), err error) {
	file, ok := d.engine.(*sqlite)
	if !ok {
		return func() {}, nil
	}
	unlock, err = flock(file.path+".server", syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%w: %s", ErrInUse, file.path)
	}
	return unlock, err
}

// ServedAlone tells that LockForServing keeps every other server away.
func (d *DB) ServedAlone() bool {
	_, ok := d.engine.(*sqlite)
	return ok
}

func flock(path string, how int) (func(), error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), how); err != nil {
		_ = file.Close()
		return nil, err
	}
	return func() { _ = file.Close() }, nil
}
