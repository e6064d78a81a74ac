package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"sepad/internal/backup"
	"sepad/internal/clock"
	"sepad/internal/config"
	"sepad/internal/store"
)

type backupCommand struct {
	File string `arg:"" placeholder:"FILE" help:"The file to write; it must not exist yet."`
	outputFlag
	dataFlags
}

func (backupCommand) Help() string {
	return "The service may go on meanwhile. The file is encrypted with the first of SEPAD_ENCRYPTION_KEYS: keep that key apart from it, for nobody can read the file without it. PostgreSQL is copied by pg_dump, which must be installed."
}

func (c *backupCommand) Run(p *program) error {
	return c.use(p, func(st *store.Store, access config.Access) error {
		source := backup.Source{
			Store: st, Address: access.DatabaseURL, Vault: access.Vault, Environment: access.Environment, Now: clock.Real{}.Now(),
		}
		bar := newProgress(p.stderr)
		made, err := source.Write(p.ctx, c.File, func(bytes int64) { bar.show(c.File+", MB", int(bytes>>20), unknownTotal) })
		bar.clear()
		if err != nil {
			return err
		}
		// Kept beside it, the list of erased persons outlives every older backup.
		if _, err := writeErased(p, st, c.File+erasedSuffix); err != nil {
			return err
		}
		return c.tell(p, map[string]any{"file": c.File, "rows": made.Tally.Rows(), "created_at": made.CreatedAt, "key": made.Key},
			"%s holds %d rows as of %s; the key %q opens it.", c.File, made.Tally.Rows(), made.CreatedAt.Format(time.RFC3339), made.Key)
	})
}

// erasedSuffix is behind the name of a backup the list of erased persons.
const erasedSuffix = ".erased"

// unknownTotal makes a bar that only shows that it goes on.
const unknownTotal = -1

type restoreCommand struct {
	File    string   `arg:"" optional:"" placeholder:"FILE" help:"The backup to restore."`
	Mark    string   `name:"mark" placeholder:"TIME" help:"Restore nothing: note that the database was restored by other means and is as it was at this time (RFC 3339)."`
	Erased  []string `name:"erased" placeholder:"FILE" help:"Lists of erased persons (sepad leads erased) who are erased again, beside those that lie in the backup's folder; with --mark these alone."`
	Release bool     `name:"release" help:"Restore nothing: let billing and webhooks go on although gateways have not answered yet."`
	outputFlag
	dataFlags
}

func (restoreCommand) Help() string {
	return "The database must not exist yet (SQLite) or be empty (PostgreSQL, for which pg_restore and psql must be installed). If this is broken off, drop the PostgreSQL database and begin again. After a restore the service asks the gateways what happened since the backup before it bills or sends anything, and sessions that could be paid at that time are ended."
}

// Validate wants exactly one thing to do.
func (c *restoreCommand) Validate() error {
	if (c.File != "") != (c.Mark == "" && !c.Release) || c.Mark != "" && c.Release {
		return errors.New("give either a FILE to restore, --mark TIME or --release")
	}
	if c.Release && len(c.Erased) > 0 {
		return errors.New("--erased goes with a FILE to restore or with --mark TIME")
	}
	return nil
}

func (c *restoreCommand) Run(p *program) error {
	switch {
	case c.Release:
		return c.use(p, func(st *store.Store, _ config.Access) error {
			return note(p, st, func(tx *store.Tx) { tx.ForgetRestore() })
		})
	case c.Mark == "":
		return c.restore(p)
	}
	at, err := time.Parse(time.RFC3339, c.Mark)
	if err != nil {
		return errors.New("--mark: a time such as 2026-03-31T12:00:00Z is needed")
	}
	if now := (clock.Real{}).Now(); at.After(now) {
		return fmt.Errorf("--mark: this time is still to come, for it is %s; Z stands for UTC, another zone is written as +02:00", now.UTC().Format(time.RFC3339))
	}
	return c.use(p, func(st *store.Store, access config.Access) error {
		if err := note(p, st, func(tx *store.Tx) { tx.MarkRestored(at) }); err != nil {
			return err
		}
		again, err := c.eraseAgain(p, st, access, nil)
		if err == nil && !c.JSON {
			again.tell(p)
		}
		return err
	})
}

// note changes what the database knows of its being restored.
func note(p *program, st *store.Store, change func(*store.Tx)) error {
	return st.Write(p.ctx, clock.Real{}.Now(), func(tx *store.Tx) error {
		change(tx)
		return nil
	})
}

// erasedAgain counts the persons who had been erased and were there again; some wait until their payments are settled.
type erasedAgain struct{ done, waiting int }

// eraseAgain erases whoever is in the lists, or remembered, and is there again.
func (c *restoreCommand) eraseAgain(p *program, st *store.Store, access config.Access, lists []string) (again erasedAgain, err error) {
	pr, err := privacyOf(p, st, access)
	if err == nil {
		err = readErased(p, pr, append(lists, c.Erased...))
	}
	if err == nil {
		again.done, again.waiting, err = pr.EraseRemembered(p.ctx)
	}
	return again, err
}

func (a erasedAgain) tell(p *program) {
	if a.done+a.waiting > 0 {
		fmt.Fprintf(p.stdout, "%d persons who had been erased since were erased again; %d more follow once their payments are settled.\n", a.done, a.waiting)
	}
}

func (c *restoreCommand) restore(p *program) error {
	c.Complete(os.Environ())
	p.ctx = p.asUser()
	database := c.Database
	if database.DatabaseURL == "" {
		var err error
		if database, err = config.Folder(c.Data).Provide(database); err != nil {
			return err
		}
	}
	access, err := database.Access()
	if err != nil {
		return err
	}
	lists, err := erasedBeside(c.File)
	if err != nil {
		return err
	}
	var again erasedAgain
	target := backup.Target{
		Address: access.DatabaseURL, Vault: access.Vault, Environment: access.Environment, Now: clock.Real{}.Now(),
		// Before anybody finds the database in its place, who was erased is erased again.
		Finish: func(st *store.Store) (err error) {
			again, err = c.eraseAgain(p, st, access, lists)
			return err
		},
	}
	made, err := target.Restore(p.ctx, c.File)
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(map[string]any{"as_of": made.CreatedAt, "rows": made.Tally.Rows(), "erased_again": again.done, "to_be_erased": again.waiting})
	}
	fmt.Fprintf(p.stdout, "The database is as it was at %s (%d rows). Once it is started, sepad asks the gateways what happened since, and only then bills and sends.\n",
		made.CreatedAt.Format(time.RFC3339), made.Tally.Rows())
	again.tell(p)
	return nil
}
