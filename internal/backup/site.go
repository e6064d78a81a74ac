package backup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"sepad/internal/db"
)

// site is where an SQLite file is made: beside its place until it is complete.
type site struct {
	place  string
	folder *os.File
}

// reserve locks the folder of a place where nothing lies. One restore or move at a time works in a folder: a second would
// take the draft of the first for what a killed one has left.
func reserve(place string) (*site, error) {
	folder, err := os.Open(filepath.Dir(place))
	if err != nil {
		return nil, err
	}
	if syscall.Flock(int(folder.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		err = fmt.Errorf("another database is being restored or moved into %s: wait for its end", folder.Name())
	}
	if err == nil {
		err = db.CheckVacant(place)
	}
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	s := &site{place, folder}
	s.removeDraft() // of a restore or move that was killed
	return s, nil
}

// draft is the address of the database that is being made.
func (s *site) draft() string { return "sqlite:" + db.DraftOf(s.place) }

// finish gives the draft its place. Who had looked for a database before the draft was there may have made an empty one
// since, whose log would lie beside the one that comes.
func (s *site) finish() error {
	if err := db.CheckVacant(s.place); err != nil {
		return fmt.Errorf("somebody began to use the place meanwhile, stop every process and begin again: %w", err)
	}
	if err := os.Rename(db.DraftOf(s.place), s.place); err != nil {
		return err
	}
	return s.folder.Sync()
}

// leave takes away what was not finished, and lets others in.
func (s *site) leave() error {
	s.removeDraft()
	return s.folder.Close()
}

func (s *site) removeDraft() {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal", ".migrate", ".open", ".turn"} {
		_ = os.Remove(db.DraftOf(s.place) + suffix) // what stays is in the way of the next one, which says so
	}
}
