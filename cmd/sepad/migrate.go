package main

import (
	"errors"
	"fmt"
	"os"

	"sepad/internal/config"
	"sepad/internal/store"
)

type migrateCommand struct{ dataFlags }

func (migrateCommand) Help() string {
	return "A database that is missing is made. Several processes may do this at once, and serve does it by itself unless told not to."
}

func (c *migrateCommand) Run(p *program) error {
	c.Complete(os.Environ())
	database := c.Database
	if database.DatabaseURL == "" {
		var err error
		if database, err = config.Folder(c.Data).Provide(database); err != nil {
			return err
		}
	}
	access, err := database.KeylessAccess()
	if err != nil {
		return err
	}
	st, err := store.Open(p.ctx, access.DatabaseURL, store.Options{Vault: access.Vault})
	if err != nil {
		return err
	}
	if err = st.CheckEnvironment(p.ctx, access.Environment); err == nil {
		err = st.Migrate(p.ctx)
	}
	if err == nil {
		err = c.admit(p, st, access)
	}
	if err = errors.Join(err, st.Close()); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "The database has schema %d.\n", store.SchemaVersion)
	return nil
}
