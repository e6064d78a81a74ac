package db

import (
	"os"
	"syscall"
	"time"
)

// turns has processes that write to one SQLite file take turns. SQLite gives its lock to whoever asks while it is free:
// who waits looks again every tenth of a second, and a server under load takes it back within microseconds. Who wants to
// write therefore holds a file beside the database from before it asks until its transaction has begun, and nobody else of
// ours asks meanwhile.
type turns struct{ file *os.File }

// turnPatience is how long somebody else's turn is waited for, and turnPause until it is looked for again. A process that
// stands still while it has the turn, as one that was suspended, makes the others slow and does not stop them.
const (
	turnPatience = time.Second
	turnPause    = time.Millisecond
)

func (s *sqlite) openTurns() (turns, error) {
	file, err := os.OpenFile(s.path+".turn", os.O_CREATE|os.O_RDWR, ownerOnly)
	if err != nil {
		return turns{}, err
	}
	s.leaveToOwner(file.Name())
	return turns{file}, nil
}

// take waits for the turn, and done lets the next one have it.
func (t turns) take() (done func()) {
	for range turnPatience / turnPause {
		if syscall.Flock(int(t.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			return func() { _ = syscall.Flock(int(t.file.Fd()), syscall.LOCK_UN) }
		}
		time.Sleep(turnPause)
	}
	return func() {}
}

// leave ends with the process at the latest, and may come twice.
func (t turns) leave() { _ = t.file.Close() }
