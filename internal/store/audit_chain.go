package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
)

// chainedAtOnce is how many entries get their places in one unit.
const chainedAtOnce = 500

// ChainAudit gives entries their places in the chain, and tells whether some are left.
// As with the places of events, an entry gets its place after its commit, from whoever
// comes upon it first, one after the other: units that write entries wait for nobody.
func (s *Store) ChainAudit(ctx context.Context) (more bool, err error) {
	result, err := s.Query(ctx, `SELECT id FROM audit_entries WHERE place IS NULL LIMIT 1`)
	_, err = db.One(result, err, func(r db.Rows) (id uuid.UUID, err error) { return id, r.Scan(&id) })
	if IsNotFound(err) {
		return false, nil // nothing is written for nothing
	}
	if err != nil {
		return false, err
	}
	err = s.Write(ctx, time.Time{}, func(tx *Tx) error {
		more, err = tx.chainAudit()
		return err
	})
	return more, err
}

// chainEnd is where the chain ends.
type chainEnd struct {
	place int64
	head  string
}

func scanChainEnd(r db.Rows) (e chainEnd, err error) { return e, r.Scan(&e.place, &e.head) }

func (tx *Tx) chainAudit() (more bool, err error) {
	result, err := tx.Query(`
		INSERT INTO audit_chain (id, last_place, head) VALUES (1, 0, '')
		ON CONFLICT (id) DO UPDATE SET last_place = audit_chain.last_place
		RETURNING last_place, head`)
	end, err := db.One(result, err, scanChainEnd)
	if err != nil {
		return false, err
	}
	result, err = tx.Query(`SELECT `+AuditEntries.List("")+` FROM audit_entries WHERE place IS NULL ORDER BY id LIMIT $1`, chainedAtOnce)
	entries, err := db.Collect(result, err, ScanAuditEntry)
	if err != nil || len(entries) == 0 {
		return false, err
	}
	for _, e := range entries {
		end.place++
		end.head = e.chained(end.place, end.head)
		tx.Then(`UPDATE audit_entries SET place = $2, hash = $3 WHERE id = $1 AND place IS NULL`, e.ID, end.place, end.head)
	}
	tx.Then(`UPDATE audit_chain SET last_place = $1, head = $2 WHERE id = 1`, end.place, end.head)
	return len(entries) == chainedAtOnce, nil
}

// chained is an entry's hash at a place behind another one: that of all it says, as a
// list of texts, in which nothing can be moved from one to the next.
func (e AuditEntry) chained(place int64, previous string) string {
	optional := func(text *string) string {
		if text == nil {
			return ""
		}
		return "=" + *text
	}
	id := func(id *uuid.UUID) string {
		if id == nil {
			return ""
		}
		return id.String()
	}
	text, err := json.Marshal([]string{
		previous, strconv.FormatInt(place, 10), e.ID.String(), strconv.FormatInt(e.At.UnixMicro(), 10), e.Actor.Name, id(e.OperatorID), e.Address,
		e.Action, e.ObjectType, e.ObjectID, id(e.TenantID), optional(e.Before), optional(e.After),
	})
	if err != nil {
		panic(err) // they are texts
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// ChainError is where the chain is broken.
type ChainError struct {
	Place int64
	// ID is the entry there, Nil where there is none.
	ID  uuid.UUID
	Why string
}

func (e *ChainError) Error() string {
	if e.ID == uuid.Nil {
		return fmt.Sprintf("the audit trail is broken at place %d: %s", e.Place, e.Why)
	}
	return fmt.Sprintf("the audit trail is broken at place %d, entry %s: %s", e.Place, e.ID, e.Why)
}

// VerifyAudit reads the chain from its beginning and gives its length and its last hash,
// or the first place at which an entry was changed, removed or put in (ChainError).
func (s *Store) VerifyAudit(ctx context.Context) (length int64, head string, err error) {
	for {
		result, err := s.Query(ctx, `SELECT `+AuditEntries.List("")+` FROM audit_entries WHERE place > $1 ORDER BY place LIMIT $2`, length, chainedAtOnce)
		entries, err := db.Collect(result, err, ScanAuditEntry)
		if err != nil {
			return length, head, err
		}
		for _, e := range entries {
			length++
			if *e.Place != length {
				return length, head, &ChainError{Place: length, Why: "the entry is missing"}
			}
			if head = e.chained(length, head); head != e.Hash {
				return length, head, &ChainError{Place: length, ID: e.ID, Why: "what it says, or the entry before it, was changed"}
			}
		}
		if len(entries) == 0 {
			return length, head, s.checkChainEnd(ctx, length, head)
		}
	}
}

// AuditPlace finds where in the trail an entry with a hash stands, 0 for nowhere.
func (s *Store) AuditPlace(ctx context.Context, hash string) (place int64, err error) {
	result, err := s.Query(ctx, `SELECT place FROM audit_entries WHERE hash = $1 AND hash <> ''`, hash)
	place, err = db.One(result, err, func(r db.Rows) (place int64, err error) { return place, r.Scan(&place) })
	if IsNotFound(err) {
		return 0, nil
	}
	return place, err
}

// checkChainEnd finds entries that are missing at the end.
func (s *Store) checkChainEnd(ctx context.Context, length int64, head string) error {
	result, err := s.Query(ctx, `SELECT last_place, head FROM audit_chain WHERE id = 1`)
	end, err := db.One(result, err, scanChainEnd)
	switch {
	case IsNotFound(err) && length == 0:
		return nil // nobody has done anything
	case IsNotFound(err):
		return &ChainError{Place: length, Why: "where the chain ends was removed"}
	case err != nil:
		return err
	case end.place > length:
		return &ChainError{Place: length + 1, Why: "the entry is missing"}
	case end.head != head:
		return &ChainError{Place: length, Why: "the chain goes on beyond its end"}
	}
	return nil
}
