package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sepad/internal/vault"
)

// Folder is where sepad dev keeps its data, so that a developer has nothing to
// set. Files in it are readable by their owner alone.
type Folder string

// Files of a folder.
const (
	databaseFile   = "sepad.db"
	encryptionFile = "encryption-key"
	adminFile      = "admin-token"
	apiKeyFile     = "api-key"
)

func (f Folder) path(name string) string { return filepath.Join(string(f), name) }

// Locate fills in the database and the keys that were not set from a folder
// that has them already.
func (f Folder) Locate(d Database) (Database, error) {
	if d.EncryptionKeys == "" {
		keys, found, err := f.read(encryptionFile)
		if err != nil {
			return d, err
		}
		if found {
			d.EncryptionKeys = keys
		}
	}
	if d.DatabaseURL != "" {
		return d, nil
	}
	if _, err := os.Stat(f.path(databaseFile)); errors.Is(err, fs.ErrNotExist) {
		return d, fmt.Errorf("there is no data in %s: run sepad dev first, or name a database with SEPAD_DATABASE_URL", f)
	}
	d.DatabaseURL = "sqlite:" + f.path(databaseFile)
	return d, nil
}

// Provide fills in the database and the keys that were not set, and makes what
// is missing.
func (f Folder) Provide(d Database) (Database, error) {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return d, fmt.Errorf("the data folder cannot be made: %w", err)
	}
	if d.EncryptionKeys == "" {
		keys, err := f.keep(encryptionFile, vault.GenerateKey)
		if err != nil {
			return d, err
		}
		d.EncryptionKeys = keys
	}
	if d.DatabaseURL == "" {
		d.DatabaseURL = "sqlite:" + f.path(databaseFile)
	}
	return d, nil
}

// AdminToken is the folder's own admin token, made at the first call.
func (f Folder) AdminToken(create func() string) (string, error) { return f.keep(adminFile, create) }

// APIKey is the developer's API key, made at the first call.
func (f Folder) APIKey(create func() string) (string, error) { return f.keep(apiKeyFile, create) }

// ForgetAPIKey lets the next APIKey make another one.
func (f Folder) ForgetAPIKey() error { return os.Remove(f.path(apiKeyFile)) }

// keep gives what a file holds, and writes it first where there is none.
func (f Folder) keep(name string, create func() string) (string, error) {
	text, found, err := f.read(name)
	if found || err != nil {
		return text, err
	}
	if err := f.write(name, create()); err != nil {
		return "", fmt.Errorf("the data folder cannot be used: %w", err)
	}
	// Another process may have been first: what lies there counts.
	text, _, err = f.read(name)
	return text, err
}

func (f Folder) read(name string) (text string, found bool, err error) {
	raw, err := os.ReadFile(f.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("the data folder cannot be used: %w", err)
	}
	text = strings.TrimSpace(string(raw))
	if text == "" {
		return "", false, fmt.Errorf("%s is empty: restore it, or remove it to have a new one made", f.path(name))
	}
	return text, true, nil
}

// write brings a text to disk before its name exists, so that a crash leaves
// the whole file or none; an existing one is left as it is.
func (f Folder) write(name, text string) error {
	draft, err := os.CreateTemp(string(f), name+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(draft.Name()) }() // a draft that stays does no harm
	_, err = draft.WriteString(text + "\n")
	err = errors.Join(err, draft.Sync(), draft.Close())
	if err != nil {
		return err
	}
	if err := os.Link(draft.Name(), f.path(name)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
