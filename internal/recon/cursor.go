package recon

import (
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/store/listing"
	"sepad/internal/vault"
)

// cursor says where a page begins: after a position, or up to it.
type cursor struct {
	position listing.Position
	backward bool
}

const (
	cursorForward  = 'n'
	cursorBackward = 'p'
	cursorBytes    = 1 + 8 + len(uuid.UUID{})
	// maxCursor is beyond the longest that is ever made.
	maxCursor = 160
)

var errCursor = errors.New("recon: not a cursor of this query")

// seal makes the opaque text. It is encrypted with the installation's key and
// bound to what it was made for, so that every process can open it and nobody
// can turn it into another; a rotated key opens it as long as it is kept.
func (c cursor) seal(v *vault.Vault, q *Query) (string, error) {
	plain := make([]byte, 0, cursorBytes)
	if c.backward {
		plain = append(plain, cursorBackward)
	} else {
		plain = append(plain, cursorForward)
	}
	plain = binary.BigEndian.AppendUint64(plain, uint64(c.position.At.UnixMicro()))
	plain = append(plain, c.position.ID[:]...)
	sealed, err := v.Seal(plain, q.purpose())
	return strings.Replace(sealed, ":", ".", 1), err // nothing in it is to be escaped in an address
}

// openCursor reads what seal made for the same query.
func openCursor(v *vault.Vault, q *Query, text string) (cursor, error) {
	plain, err := v.Open(strings.Replace(text, ".", ":", 1), q.purpose())
	if err != nil || len(plain) != cursorBytes {
		return cursor{}, errCursor
	}
	c := cursor{backward: plain[0] == cursorBackward}
	c.position.At = time.UnixMicro(int64(binary.BigEndian.Uint64(plain[1:]))).UTC()
	c.position.ID = uuid.UUID(plain[9:])
	return c, nil
}

// looksLikeCursor tells texts that could be one from those that never were, also
// where the query is too faulty to open it with.
func looksLikeCursor(text string) bool {
	return len(text) <= maxCursor && strings.Count(text, ".") == 1 && !strings.ContainsFunc(text, func(c rune) bool {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		return !letter && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' && c != '~'
	})
}
