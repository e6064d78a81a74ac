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
type turns struct {
	file *os.File
	// patience is how long the next turn is waited for.
	patience time.Duration
}

// turnPatience is how long somebody else's turn is waited for, and turnPause until it is looked for again. A process that
// stands still while it has the turn, as one that was suspended, is waited for so long once, and then for a moment only
// until it has moved on.
const (
	turnPatience = time.Second
	turnMoment   = 10 * time.Millisecond
	turnPause    = time.Millisecond
)

func (s *sqlite) openTurns() (*turns, error) {
	file, err := s.openBeside(".turn")
	return &turns{file, turnPatience}, err
}

// take waits for the turn, and done lets the next one have it.
func (t *turns) take() (done func()) {
	if t.takeAtOnce() {
		return t.pass
	}
	over := time.NewTimer(t.patience)
	defer over.Stop()
	for {
		select {
		case <-over.C:
			t.patience = turnMoment
			return func() {}
		case <-time.After(turnPause):
		}
		if t.takeAtOnce() {
			return t.pass
		}
	}
}

// takeAtOnce takes the turn where nobody has it.
func (t *turns) takeAtOnce() bool {
	if syscall.Flock(int(t.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return false
	}
	t.patience = turnPatience
	return true
}

func (t *turns) pass() { _ = syscall.Flock(int(t.file.Fd()), syscall.LOCK_UN) }

// leave ends with the process at the latest, and may come twice.
func (t *turns) leave() { _ = t.file.Close() }
