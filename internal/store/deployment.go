package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/merchant"
	"sepad/internal/vault"
)

// What the database says where somebody waits.
var (
	ErrBusy   = db.ErrBusy
	ErrSilent = db.ErrSilent
)

// keySetting is the setting that a refused key is told by.
const keySetting = "SEPAD_ENCRYPTION_KEYS"

// CheckEnvironment refuses a database that belongs to another environment, before
// anything else is read or written. One that is new or from an older version
// belongs to none yet.
func (s *Store) CheckEnvironment(ctx context.Context, environment merchant.Environment) error {
	result, err := s.Query(ctx, environmentQuestion)
	owner, err := db.One(result, err, scanText)
	if db.NoSuchTable(err) || err == nil && (owner == "" || owner == string(environment)) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the database cannot be used: %w", err)
	}
	return cmp.Or(refuseMarked(owner), otherEnvironment(owner))
}

// LeaveOnceMarked keeps a server from a database that is moved, or that a backup is restored into, while it is out of
// touch with it: such a server holds no connection that the one could see or the other end, and would go on as soon as it
// has another. To a database that was made anew and is still empty it makes none either, for there is nothing to ask.
func (s *Store) LeaveOnceMarked() {
	s.Guard(environmentQuestion, refuseMarked)
}

// refuseMarked refuses a database that nobody may use for now, or ever again.
func refuseMarked(owner string) error {
	switch {
	case strings.HasPrefix(owner, movedMark):
		return errMoved
	case strings.HasPrefix(owner, restoringMark):
		return errRestoring
	default:
		return nil
	}
}

// ProveWrite writes a row as it is: a disk that is full, or a database that only reads, is found out before a payer
// does.
func (s *Store) ProveWrite(ctx context.Context, now time.Time) error {
	if err := s.HasRoom(ctx); err != nil {
		return err
	}
	return s.Write(ctx, now, func(tx *Tx) error {
		tx.Relax()
		// SQLite writes nothing where a row stays as it is, and would succeed on a disk that only reads.
		tx.Then(`UPDATE deployment SET environment = environment || ' ' WHERE id = 1`)
		tx.Then(`UPDATE deployment SET environment = RTRIM(environment) WHERE id = 1`)
		return nil
	})
}

func scanText(r db.Rows) (text string, err error) { return text, r.Scan(&text) }

func otherEnvironment(owner string) error {
	return fmt.Errorf("SEPAD_ENVIRONMENT: the database belongs to a deployment of the environment %s; nothing was done", owner)
}

// Adopt makes a database that belongs to nobody one of this environment, and
// refuses one whose environment or encryption keys are others. The schema must be
// there.
func (s *Store) Adopt(ctx context.Context, environment merchant.Environment, now time.Time) error {
	if err := s.CheckEnvironment(ctx, environment); err != nil {
		return err
	}
	if err := s.checkKeyPrefixes(ctx, environment); err != nil {
		return err
	}
	err := s.Write(ctx, now, func(tx *Tx) error {
		tx.Then(`UPDATE deployment SET environment = $1 WHERE id = 1 AND environment = ''`, string(environment))
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.CheckEnvironment(ctx, environment); err != nil {
		return err
	}
	return s.AdoptKeys(ctx, now)
}

// AdoptKeys refuses keys that are not those of the database, whosever it is.
func (s *Store) AdoptKeys(ctx context.Context, now time.Time) error {
	if err := s.LearnCompatibility(ctx); err != nil || s.vault == nil {
		return err
	}
	return s.adoptKeys(ctx, now)
}

// checkKeyPrefixes keeps a database from before environments were written down
// from being taken for another one: its API keys tell what it is.
func (s *Store) checkKeyPrefixes(ctx context.Context, environment merchant.Environment) error {
	result, err := s.Query(ctx, `
		SELECT prefix FROM api_keys WHERE EXISTS (SELECT 1 FROM deployment WHERE environment = '') LIMIT 1`)
	prefix, err := db.One(result, err, scanText)
	switch {
	case IsNotFound(err):
		return nil
	case err != nil:
		return err
	case merchant.KeyFitsEnvironment(prefix, environment):
		return nil
	case environment == merchant.Sandbox:
		return otherEnvironment(string(merchant.Production))
	default:
		return otherEnvironment(string(merchant.Sandbox))
	}
}

// knownKey is a key that the database has met.
type knownKey struct {
	name, check string
	wasFirst    bool
}

// checkPurpose binds what keys are recognized by.
var checkPurpose = vault.Purpose(uuid.Nil, "encryption key check")

// adoptKeys refuses keys that are not those of the database, and remembers new
// ones. A key that never was the first, or was retired, may be missing if nothing
// is sealed with it.
func (s *Store) adoptKeys(ctx context.Context, now time.Time) error {
	known, err := s.knownKeys(ctx)
	if err != nil {
		return err
	}
	if len(known) == 0 {
		if err := s.checkAnySecrets(ctx); err != nil {
			return err
		}
	}
	names := s.vault.Names()
	for _, key := range known {
		if !slices.Contains(names, key.name) {
			if key.wasFirst {
				return missingKey(key.name)
			}
			if err := s.checkUnused(ctx, key.name, now); err != nil {
				return err
			}
			continue
		}
		if _, err := s.vault.Open(key.check, checkPurpose); err != nil {
			return fmt.Errorf("%s: the key %q is not the one with which this database is sealed", keySetting, key.name)
		}
	}
	return s.rememberKeys(ctx, known, now)
}

func (s *Store) knownKeys(ctx context.Context) ([]knownKey, error) {
	result, err := s.Query(ctx, `SELECT name, sealed_check, was_first FROM encryption_keys ORDER BY name`)
	return db.Collect(result, err, func(r db.Rows) (k knownKey, err error) { return k, r.Scan(&k.name, &k.check, &k.wasFirst) })
}

// rememberKeys writes down what is new about the keys. Another process may be
// about to do the same: the one that is later reads what the first has written.
func (s *Store) rememberKeys(ctx context.Context, known []knownKey, now time.Time) error {
	var missing []knownKey
	for _, name := range s.vault.Names() {
		isFirst := name == s.vault.Current()
		if slices.ContainsFunc(known, func(k knownKey) bool { return k.name == name && (k.wasFirst || !isFirst) }) {
			continue
		}
		check, err := s.vault.SealWith(name, []byte(name), checkPurpose)
		if err != nil {
			return err
		}
		missing = append(missing, knownKey{name, check, isFirst})
	}
	if len(missing) == 0 {
		return nil
	}
	err := s.Write(ctx, now, func(tx *Tx) error {
		for _, key := range missing {
			tx.Then(`
				INSERT INTO encryption_keys (name, sealed_check, was_first) VALUES ($1, $2, $3)
				ON CONFLICT (name) DO UPDATE SET was_first = encryption_keys.was_first OR excluded.was_first`,
				key.name, key.check, key.wasFirst)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.adoptKeys(ctx, now)
}

// checkAnySecrets tries the keys on a record of a database from before keys were
// remembered.
func (s *Store) checkAnySecrets(ctx context.Context) error {
	type sealedRecord struct {
		tenantID uuid.UUID
		setupRecord
	}
	result, err := s.Query(ctx, `SELECT tenant_id, id, kind, secrets FROM setup_records WHERE secrets <> '' LIMIT 1`)
	record, err := db.One(result, err, func(r db.Rows) (v sealedRecord, err error) {
		return v, r.Scan(&v.tenantID, &v.id, &v.kind, &v.secrets)
	})
	if IsNotFound(err) {
		return nil
	}
	if err == nil {
		var any any
		err = s.openSecrets(record.tenantID, record.setupRecord, &any)
	}
	if errors.Is(err, vault.ErrUnknownKey) || errors.Is(err, vault.ErrCannotOpen) {
		return fmt.Errorf("%s: %w", keySetting, err)
	}
	return err
}
