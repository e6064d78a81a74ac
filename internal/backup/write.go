package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"sepad/internal/db"
	"sepad/internal/merchant"
	"sepad/internal/sepa"
	"sepad/internal/store"
	"sepad/internal/vault"
)

// Source is what is copied.
type Source struct {
	sepa.Masked
	Store       *store.Store
	Address     string // of its database
	Vault       *vault.Vault
	Environment merchant.Environment
	Now         time.Time
}

// Write copies a database into a new file that its owner alone can read. The file
// has its name once it is whole and on the disk. Progress is told how many bytes
// were written.
func (s Source) Write(ctx context.Context, path string, progress func(bytes int64)) (m Manifest, err error) {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%s exists already: a backup is never written over another one", path)
	}
	m = Manifest{
		CreatedAt: s.Now.UTC(), Environment: s.Environment, Engine: db.EngineOf(s.Address),
		Schema: store.SchemaVersion, Key: s.Vault.Current(),
	}
	if err := removeLeftovers(path); err != nil {
		return m, err
	}
	part := path + partSuffix
	file, err := createPart(part)
	if err != nil {
		return m, fmt.Errorf("the backup could not be begun (another one under way holds its .part locked): %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(part))
		}
		err = errors.Join(err, file.Close()) // and only now another may take its place
	}()
	out := &counting{to: file, told: progress}
	err = errors.Join(s.copyTo(ctx, out, path+copySuffix, &m), file.Chmod(ownerOnly), file.Sync())
	if err != nil {
		return m, fmt.Errorf("the backup could not be written: %w", err)
	}
	if err = os.Rename(part, path); err != nil {
		return m, err
	}
	return m, syncFolder(filepath.Dir(path))
}

// copyTo writes the two lines and the sealed stream.
func (s Source) copyTo(ctx context.Context, out io.Writer, scratch string, m *Manifest) error {
	var sealed io.WriteCloser
	err := s.Store.Dump(ctx, scratch, func(sums db.Tally) (io.Writer, error) {
		m.Tally = sums
		head, err := m.head()
		if err != nil {
			return nil, err
		}
		if _, err := out.Write(head); err != nil {
			return nil, err
		}
		sealed, err = s.Vault.SealStream(out, purpose, head)
		return sealed, err
	})
	if err != nil {
		return err
	}
	return sealed.Close()
}

// counting tells how far it is.
type counting struct {
	to    io.Writer
	bytes int64
	told  func(int64)
}

func (c *counting) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.bytes += int64(n)
	c.told(c.bytes)
	return n, err
}

// syncFolder makes a file's name as durable as its bytes.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
