package backup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"sepad/internal/db"
	"sepad/internal/merchant"
	"sepad/internal/sepa"
	"sepad/internal/store"
	"sepad/internal/vault"
)

// Target is where a backup is restored to.
type Target struct {
	sepa.Masked
	Address     string
	Vault       *vault.Vault
	Environment merchant.Environment
	Now         time.Time
	// Finish is run on the restored database before it has its place; nil for nothing.
	Finish func(*store.Store) error
}

// Restore makes a new database of a file. It is complete, of this version, held
// against the manifest and marked as restored before a server can find it in its
// place. A PostgreSQL database, which has its place from the beginning, must be
// empty. It appears with a mark that keeps everybody away until all of that is done,
// and is to be dropped if this fails.
func (t Target) Restore(ctx context.Context, path string) (Manifest, error) {
	file, err := os.Open(path)
	if err != nil {
		return Manifest{}, err
	}
	defer file.Close()
	from := bufio.NewReader(file)
	m, head, err := readHead(from)
	if err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	if err := t.check(m); err != nil {
		return m, err
	}
	stream, err := t.stream(from, m, head)
	if err != nil {
		return m, err
	}
	if place, isFile := strings.CutPrefix(t.Address, "sqlite:"); isFile {
		return m, t.restoreFile(ctx, place, stream, m)
	}
	if err := db.Undump(ctx, t.Address, stream, store.Restoring(m.Schema, m.CreatedAt)); err != nil {
		return m, err
	}
	return m, t.prepare(ctx, t.Address, m)
}

// restoreFile makes an SQLite file, beside its place until it is done.
func (t Target) restoreFile(ctx context.Context, place string, stream io.Reader, m Manifest) (err error) {
	site, err := reserve(place)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, site.leave()) }()
	if err := db.Undump(ctx, site.draft(), stream, ""); err != nil {
		return err
	}
	if err := t.prepare(ctx, site.draft(), m); err != nil {
		return err
	}
	return site.finish()
}

var errDamaged = errors.New("the backup is damaged or cut off, or was made with another key of the same name")

// stream opens what lies behind the head.
func (t Target) stream(from io.Reader, m Manifest, head []byte) (io.Reader, error) {
	stream, err := t.Vault.OpenStream(from, m.Key, purpose, head)
	if errors.Is(err, vault.ErrUnknownKey) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", errDamaged, err)
	}
	return opened{stream}, nil
}

// opened is a stream that says what is wrong with the backup it is of.
type opened struct{ io.Reader }

func (o opened) Read(to []byte) (int, error) {
	n, err := o.Reader.Read(to)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w (%w)", errDamaged, err)
	}
	return n, err
}

// check refuses a backup that cannot belong here.
func (t Target) check(m Manifest) error {
	switch {
	case m.Environment != t.Environment:
		return fmt.Errorf("SEPAD_ENVIRONMENT: the backup is of a deployment of the environment %s; nothing was done", m.Environment)
	case m.Engine != db.EngineOf(t.Address):
		return fmt.Errorf("SEPAD_DATABASE_URL: the backup is of %s and cannot be restored to %s: give a database of the same kind",
			m.Engine, db.EngineOf(t.Address))
	case m.Schema > store.SchemaVersion:
		return fmt.Errorf("the backup has schema %d, this sepad knows %d: use the version that made it, or a newer one", m.Schema, store.SchemaVersion)
	}
	return nil
}

// prepare holds a restored database against its manifest, brings it to this version
// and notes that it is behind its gateways.
func (t Target) prepare(ctx context.Context, address string, m Manifest) (err error) {
	st, err := store.Open(ctx, address, store.Options{Vault: t.Vault})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	sums, err := st.Tally(ctx)
	if err != nil {
		return fmt.Errorf("the restored database cannot be used: %w", err)
	}
	if different := m.Tally.Differences(sums); len(different) > 0 {
		return fmt.Errorf("the restored database is not what was backed up: %s", strings.Join(different, ", "))
	}
	if err := st.Migrate(ctx); err != nil {
		return err
	}
	if err := st.AdoptKeys(ctx, t.Now); err != nil {
		return err
	}
	err = st.Write(ctx, t.Now, func(tx *store.Tx) error {
		tx.MarkRestored(m.CreatedAt)
		return nil
	})
	if err == nil && t.Finish != nil {
		err = t.Finish(st)
	}
	if err == nil {
		err = st.EndRestoring(ctx, t.Now)
	}
	if err != nil {
		return err
	}
	return st.Adopt(ctx, t.Environment, t.Now)
}
