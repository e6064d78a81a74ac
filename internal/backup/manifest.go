// Package backup copies a whole database into one file that is of no use without
// the encryption keys, and makes a database of such a file again.
//
//	manifest.go  what a file says of itself, readable without a key
//	write.go     sepad backup: a consistent copy while the service runs
//	move.go      sepad move: everything into another database, of either engine
//	restore.go   sepad restore: a new database, held against the manifest, that
//	             knows that it is behind its gateways
//
// A file is two lines, the second of them the manifest, and then the database as a
// sealed stream: SQLite's file, or what pg_dump writes. The lines are bound to the
// stream: whoever changes one of them, or cuts the file off, makes it unreadable.
package backup

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"sepad/internal/db"
	"sepad/internal/merchant"
)

// Manifest is what a backup says of itself.
type Manifest struct {
	CreatedAt   time.Time            `json:"created_at"`
	Environment merchant.Environment `json:"environment"`
	Engine      string               `json:"engine"`
	Schema      int64                `json:"schema"`
	// Key is the name of the encryption key that opens the file.
	Key string `json:"key"`
	// Tally is what the copy holds: rows of tables, sums of amounts.
	Tally db.Tally `json:"tally"`
}

const (
	firstLine = "sepad backup 1\n"
	purpose   = "backup"
	// maxManifest bounds what is read of a file that may be anything.
	maxManifest = 1 << 20
)

var errNoBackup = errors.New("this is not a backup that sepad has made")

// head is the two lines before the stream.
func (m Manifest) head() ([]byte, error) {
	line, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return append(append([]byte(firstLine), line...), '\n'), nil
}

// readHead reads the two lines and leaves the stream.
func readHead(from *bufio.Reader) (m Manifest, head []byte, err error) {
	head = make([]byte, len(firstLine))
	if _, err := io.ReadFull(from, head); err != nil || string(head) != firstLine {
		return m, nil, errNoBackup
	}
	for len(head) < maxManifest {
		c, err := from.ReadByte()
		if err != nil {
			return m, nil, errNoBackup
		}
		if head = append(head, c); c == '\n' {
			if err := json.Unmarshal(head[len(firstLine):], &m); err != nil {
				return m, nil, fmt.Errorf("%w: %w", errNoBackup, err)
			}
			return m, head, nil
		}
	}
	return m, nil, errNoBackup
}
