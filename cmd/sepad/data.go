package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"sepad/internal/clock"
	"sepad/internal/config"
	"sepad/internal/store"
)

// dataFlags are how a short command finds the data.
type dataFlags struct {
	config.Database
	Data string `name:"data" default:".sepad" placeholder:"FOLDER" help:"Folder of sepad dev, used where no database is named (default: .sepad)."`
}

// admit makes sure that the database is the one that the settings are for, before
// anything is read from it.
func (dataFlags) admit(p *program, st *store.Store, access config.Access) error {
	if err := st.CheckEnvironment(p.ctx, access.Environment); err != nil {
		return err
	}
	if err := st.Ready(p.ctx); err != nil {
		return err
	}
	return st.Adopt(p.ctx, access.Environment, clock.Real{}.Now())
}

// use opens the database for a command's work.
func (f dataFlags) use(p *program, work func(*store.Store, config.Access) error) error {
	st, access, err := f.open(p)
	if err != nil {
		return err
	}
	return errors.Join(work(st, access), st.Close())
}

// open opens a database that exists and has this version's schema.
func (f dataFlags) open(p *program) (*store.Store, config.Access, error) {
	f.Complete(os.Environ())
	p.ctx = p.asUser()
	database, err := config.Folder(f.Data).Locate(f.Database)
	if err != nil {
		return nil, config.Access{}, err
	}
	access, err := database.Access()
	if err != nil {
		return nil, config.Access{}, err
	}
	// SQLite would make an empty database of a mistyped path.
	if path, isFile := strings.CutPrefix(access.DatabaseURL, "sqlite:"); isFile {
		if _, err := os.Stat(path); err != nil {
			return nil, config.Access{}, fmt.Errorf("the database cannot be opened (sepad migrate makes a new one): %w", err)
		}
	}
	st, err := store.Open(p.ctx, access.DatabaseURL, store.Options{Vault: access.Vault})
	if err != nil {
		return nil, config.Access{}, err
	}
	if err := f.admit(p, st, access); err != nil {
		_ = st.Close() // why it cannot be used says more
		return nil, config.Access{}, err
	}
	return st, access, nil
}
