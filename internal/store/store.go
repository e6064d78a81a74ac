package store

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"

	"sepad/internal/cache"
	"sepad/internal/db"
	"sepad/internal/vault"
)

// Store is what lies in the database of one installation. How it is opened,
// migrated, watched and closed is the database's own affair.
type Store struct {
	*db.DB
	vault  *vault.Vault
	setups cache.Cache[uuid.UUID, versionedSetup]
	// readingSetup has each version of a set-up read once at a time.
	readingSetup singleflight.Group
	credentials  cache.Cache[string, foundCredential]
	renewals     renewals
	onEvents     func(Endpoint)
	// tokensHidden says that no token of a session lies open in the database.
	tokensHidden atomic.Bool
	// namesLine says that every program knows events_in_line.
	namesLine atomic.Bool
}

// maxCached bounds the memory that tenants and keys take who are seldom seen.
const maxCached = 10_000

// Options say how a database is opened.
type Options struct {
	// Vault seals IBANs and secrets.
	Vault *vault.Vault
	db.Options
}

// Open opens the database at a URL, "sqlite:PATH" or "postgres://…".
func Open(ctx context.Context, url string, opts Options) (*Store, error) {
	opened, err := db.Open(ctx, url, schema, opts.Options)
	if err != nil {
		return nil, err
	}
	return &Store{
		DB: opened, vault: opts.Vault, setups: cache.Cache[uuid.UUID, versionedSetup]{Most: maxCached}, credentials: cache.Cache[string, foundCredential]{Most: maxCached},
	}, nil
}

// Tx is a unit of work: the one door to durable effects. Whoever holds one can do
// to the nouns what has a method here.
type Tx struct {
	*db.Tx
	announced []Endpoint
	// actor is who the audit trail names.
	actor Actor
	// namesLine is as in Store, and the same for all of the unit.
	namesLine bool
}

// Write runs work as one unit: everything it does through tx is committed
// together, or nothing is. Work may be run again when the database asks for
// it, so it must change nothing but tx.
func (s *Store) Write(ctx context.Context, at time.Time, work func(*Tx) error) error {
	var tx Tx
	err := s.DB.Write(ctx, at, func(unit *db.Tx) error {
		tx = Tx{Tx: unit, actor: ActorOf(ctx), namesLine: s.namesLine.Load()}
		return work(&tx)
	})
	if err == nil {
		s.tell(tx.announced)
	}
	return err
}

// IsDuplicate tells that a unit would have broken a unique key.
func IsDuplicate(err error) bool {
	_, duplicate := errors.AsType[*db.KeyError](err)
	return duplicate
}
