package backup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sepad/internal/db"
	"sepad/internal/merchant"
	"sepad/internal/sepa"
	"sepad/internal/store"
	"sepad/internal/vault"
)

// moverName is by which PostgreSQL knows whoever moves, so that others can be told
// from it.
const moverName = "sepad move"

// Move is a database on its way into another one, of the same engine or of the
// other.
type Move struct {
	sepa.Masked
	From, To    string // addresses
	Vault       *vault.Vault
	Environment merchant.Environment
	Now         time.Time
	// Told hears how many rows of how many were written.
	Told func(table string, done, total int64)
}

// Run copies everything into a database that is missing or empty. The old one is
// marked first, so that no server and no command can use it meanwhile or afterwards:
// two that both bill would be worse than none. The copy has that mark too until it is
// complete, and nobody else is there: when the move fails it is taken back here, and what
// there is of the new database cannot be used. A mark that was there before stays: the move that has left
// it may have come to its end, and the database be in use elsewhere.
func (m Move) Run(ctx context.Context) (sums db.Tally, err error) {
	from, err := m.open(ctx, m.From)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	giveUp, unlock, err := m.claim(ctx, from)
	if err != nil {
		return nil, err
	}
	defer unlock()
	sums, err = m.copyFrom(ctx, from)
	if err != nil {
		return nil, errors.Join(err, giveUp())
	}
	return sums, m.admit(context.WithoutCancel(ctx))
}

// admit lets the new database be used. From here on the old one stays closed, whatever
// becomes of this: an answer that is lost does not tell whether the new one is open.
func (m Move) admit(ctx context.Context) error {
	to, err := m.open(ctx, m.To)
	if err == nil {
		err = errors.Join(to.Settle(ctx, m.Environment, m.Now), to.Close())
	}
	if err != nil {
		err = fmt.Errorf("everything was copied, but the new database may not be open yet: run sepad move --release with its address, never with the old one's: %w", err)
	}
	return err
}

// Release lets an old database be used again that was marked as moved.
func (m Move) Release(ctx context.Context) (err error) {
	from, err := m.open(ctx, m.From)
	if err != nil {
		return err
	}
	return errors.Join(from.Unmove(ctx, m.Environment, m.Now), from.Close())
}

func (m Move) open(ctx context.Context, address string) (*store.Store, error) {
	return store.Open(ctx, address, store.Options{Vault: m.Vault, Options: db.Options{Name: moverName}})
}

// claim makes sure that nobody else works on the old database, now and from now on.
// One that an interrupted move has marked is taken up again. Who gives up leaves it as
// it was found.
func (m Move) claim(ctx context.Context, from *store.Store) (giveUp func() error, unlock func(), err error) {
	serving, err := from.LockForServing()
	if err != nil {
		return nil, nil, fmt.Errorf("%w: stop it first", err)
	}
	moving, err := from.LockForMoving(ctx)
	if err != nil {
		serving()
		return nil, nil, fmt.Errorf("%w: stop it first", err)
	}
	unlock = func() { moving(); serving() }
	if giveUp, err = m.mark(ctx, from); err != nil {
		unlock()
		return nil, nil, err
	}
	return giveUp, unlock, nil
}

func (m Move) mark(ctx context.Context, from *store.Store) (giveUp func() error, err error) {
	if err := from.Ready(ctx); err != nil {
		return nil, err
	}
	wasMoved, err := from.IsMoved(ctx, m.Environment)
	if err != nil {
		return nil, err
	}
	giveUp = func() error { return nil }
	if !wasMoved {
		if err := from.Adopt(ctx, m.Environment, m.Now); err != nil {
			return nil, err
		}
		giveUp = func() error { return from.Unmove(context.WithoutCancel(ctx), m.Environment, m.Now) }
	}
	if err := alone(ctx, from, partingPatience); err != nil {
		return nil, err // a server that runs is not to see the mark, for it would make no connection meanwhile
	}
	if err := from.Move(ctx, m.Environment, m.Now); err != nil {
		return nil, err
	}
	if err := alone(ctx, from, 0); err != nil { // who came before the mark was there, and makes no connection while it is
		return nil, errors.Join(err, giveUp())
	}
	return giveUp, nil
}

// partingPatience is how long sessions may take to end whose clients have just left: PostgreSQL still lists them then.
const partingPatience = 2 * time.Second

// alone refuses a database that somebody else uses, for whose leaving it waits so long.
func alone(ctx context.Context, from *store.Store, patience time.Duration) error {
	enough := time.NewTimer(patience)
	defer enough.Stop()
	for {
		others, err := from.OpenElsewhere(ctx)
		if err != nil || len(others) == 0 {
			return err
		}
		select {
		case <-time.After(partingPatience / 40):
		case <-enough.C:
			return fmt.Errorf("somebody else is using this database (%d connections, by the name of %s): stop it first",
				len(others), strings.Join(slices.Compact(others), ", "))
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// copyFrom makes the new database. An SQLite file has its name once it is complete.
func (m Move) copyFrom(ctx context.Context, from *store.Store) (sums db.Tally, err error) {
	place, isFile := strings.CutPrefix(m.To, "sqlite:")
	if !isFile {
		return m.fill(ctx, from, m.To)
	}
	site, err := reserve(place)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, site.leave()) }()
	if sums, err = m.fill(ctx, from, site.draft()); err != nil {
		return nil, err
	}
	return sums, site.finish()
}

// fill brings a database to this version and copies everything into it.
func (m Move) fill(ctx context.Context, from *store.Store, address string) (sums db.Tally, err error) {
	to, err := m.open(ctx, address)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if err := to.CheckUnused(ctx); err != nil {
		return nil, err
	}
	if err := to.Migrate(ctx); err != nil {
		return nil, err
	}
	if err := m.reserve(ctx, to); err != nil {
		return nil, fmt.Errorf("the new database cannot be used: %w", err)
	}
	return from.CopyTo(ctx, to.DB, db.Copying{At: m.Now, Told: m.Told})
}

// reserve keeps everybody from the new database until it is complete. Whoever is there already would go on with what is
// copied as soon as it can be seen, whatever becomes of the move.
func (m Move) reserve(ctx context.Context, to *store.Store) error {
	if err := alone(ctx, to, partingPatience); err != nil {
		return err // it is not to see the mark
	}
	if err := to.Reserve(ctx, m.Environment, m.Now); err != nil {
		return err
	}
	return alone(ctx, to, 0) // who came before the mark was there
}
