package store

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
)

// A person may have a hundred thousand rows, and a unit that overwrote all of them would
// keep everybody else from writing on SQLite for most of a minute. One unit decides: it
// refuses, or ends what could be paid and overwrites the lead, so that nothing of the
// person begins any more. The rest follows some at a time; when that is broken off, it is
// done when the person is erased again. The lead's address goes last: what files have
// brought is found by nothing else.

const (
	// erasedAtOnce is how many rows one unit overwrites.
	erasedAtOnce = 1_000
	// rememberedAtOnce is how many payments one unit notes. Whoever rests on the memory
	// reads it anew after each, so that these are few.
	rememberedAtOnce = 5_000
)

// pieces are the person's rows, as many in each as one unit overwrites: the lead in the
// first, and what is found by other rows before these. At least one is given.
func (p *Person) pieces() []*Person {
	piece := p.part()
	piece.rows["leads"] = p.rows["leads"]
	all, room := []*Person{piece}, erasedAtOnce
	for _, table := range slices.Backward(PersonalTables) {
		if table.Name == "leads" {
			continue
		}
		for ids := newestFirst(p.rows[table.Name]); len(ids) > 0; {
			if room == 0 {
				piece, room = p.part(), erasedAtOnce
				all, all[0].keepsAddress = append(all, piece), true
			}
			some := min(room, len(ids))
			piece.rows[table.Name] = ids[:some]
			ids, room = ids[some:], room-some
		}
	}
	return all
}

func (p *Person) part() *Person {
	return &Person{TenantID: p.TenantID, LeadID: p.LeadID, rows: map[string][]uuid.UUID{}}
}

// newestFirst has refunds before what they give back.
func newestFirst(ids []uuid.UUID) []uuid.UUID {
	return slices.SortedFunc(slices.Values(ids), func(a, b uuid.UUID) int { return bytes.Compare(b[:], a[:]) })
}

// EraseRest overwrites what Erase had no room for, and gives a conflict where money has
// begun to move since: a payment that is being given back keeps its account until the
// person is erased again.
func (s *Store) EraseRest(ctx context.Context, p *Person, m *Memory, at time.Time, payload func(string) (string, error)) error {
	rest := p.pieces()[1:]
	if len(rest) == 0 {
		return nil
	}
	if err := s.rememberRest(ctx, rest, m, at); err != nil {
		return err
	}
	for _, piece := range rest {
		if err := s.Write(ctx, at, func(tx *Tx) error { return tx.overwrite(piece, time.Time{}, payload) }); err != nil {
			return err
		}
	}
	open, err := openOf(s.reads(ctx), p)
	if err != nil {
		return err
	}
	if len(open) > 0 {
		return open[0].refusal()
	}
	return s.Write(ctx, at, func(tx *Tx) error {
		tx.Then(`UPDATE leads SET email = '', updated_at = $3 WHERE tenant_id = $1 AND id = $2`, p.TenantID, p.LeadID, db.Micros(at))
		return nil
	})
}

// rememberRest comes before anything is overwritten by which a payment would be found.
func (s *Store) rememberRest(ctx context.Context, rest []*Person, m *Memory, at time.Time) error {
	var paid []*Person
	for _, piece := range rest {
		if piece.Count("transactions") > 0 {
			paid = append(paid, piece)
		}
	}
	for some := range slices.Chunk(paid, rememberedAtOnce/erasedAtOnce) {
		err := s.Write(ctx, at, func(tx *Tx) error {
			tx.holdMemory(some[0].TenantID)
			for _, piece := range some {
				if err := tx.rememberPayments(piece, m); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
