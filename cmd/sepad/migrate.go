package main

import (
	"errors"
	"fmt"
	"os"

	"sepad/internal/clock"
	"sepad/internal/config"
	"sepad/internal/db"
	"sepad/internal/store"
)

type migrateCommand struct {
	Finish bool `name:"finish" help:"End an upgrade: no process of an older version runs any more, nor will."`
	outputFlag
	dataFlags
}

func (migrateCommand) Help() string {
	return "A database that is missing is made. Several processes may do this at once, and serve does it by itself unless told not to. " +
		"Until an upgrade is finished, the version before can be brought back; from then on it is refused."
}

func (c *migrateCommand) Run(p *program) error {
	c.Complete(os.Environ())
	p.ctx = p.asUser()
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
	if err == nil {
		if !c.JSON {
			fmt.Fprintf(p.stdout, "The database has schema %d.\n", store.SchemaVersion)
		}
		err = c.finish(p, st, access)
	}
	if err == nil && c.JSON {
		err = p.printJSON(map[string]any{"schema": store.SchemaVersion, "upgrade_is_open": st.UpgradeIsOpen()})
	}
	return errors.Join(err, st.Close())
}

// finish ends an upgrade if that is asked for, and else says that it is open.
func (c *migrateCommand) finish(p *program, st *store.Store, access config.Access) error {
	switch {
	case !c.Finish && st.UpgradeIsOpen() && !c.JSON:
		fmt.Fprintln(p.stdout, "The upgrade is open: the version before can still use it. Once no process of it runs, end it with sepad migrate --finish.")
		return nil
	case !c.Finish:
		return nil
	case access.Vault == nil:
		return errors.New("SEPAD_ENCRYPTION_KEYS: to end an upgrade takes the keys, as serve has them")
	}
	bar := newProgress(p.stderr)
	done, err := st.FinishUpgrade(p.ctx, clock.Real{}.Now(), func(done, total int) { bar.show("rows sealed anew", done, total) })
	bar.clear()
	if err != nil {
		return err
	}
	say := func(sentence string, args ...any) {
		if !c.JSON {
			fmt.Fprintf(p.stdout, sentence+"\n", args...)
		}
	}
	say("The upgrade is finished: %d rows were sealed anew, and older versions are refused.", done)
	if err = st.Rewrite(p.ctx); errors.Is(err, db.ErrInUse) {
		say("The file of the database may still hold tokens in room that is not used. To have it written anew, stop the server and run this once more.")
		return nil
	}
	return err
}
