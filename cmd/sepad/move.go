package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"sepad/internal/backup"
	"sepad/internal/clock"
	"sepad/internal/config"
	"sepad/internal/db"
	"sepad/internal/payment"
)

type moveCommand struct {
	To      string `name:"to" placeholder:"URL" help:"The new database, sqlite:PATH or postgres://…; it must be missing or empty."`
	Release bool   `name:"release" help:"Move nothing: let a database be used again that was moved, because the other one never will be."`
	outputFlag
	dataFlags
}

func (moveCommand) Help() string {
	return "Stop every server first. Afterwards SEPAD_DATABASE_URL names the new database, with the same environment and keys; the old one is left as it was and refuses to be used."
}

// Validate wants exactly one thing to do.
func (c *moveCommand) Validate() error {
	if (c.To == "") != c.Release {
		return errors.New("give either --to URL or --release")
	}
	return nil
}

func (c *moveCommand) Run(p *program) error {
	c.Complete(os.Environ())
	p.ctx = p.asUser()
	database, err := config.Folder(c.Data).Locate(c.Database)
	if err != nil {
		return err
	}
	access, err := database.Access()
	if err != nil {
		return err
	}
	if path, isFile := strings.CutPrefix(access.DatabaseURL, "sqlite:"); isFile {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("the database cannot be opened: %w", err)
		}
	}
	bar := newProgress(p.stderr)
	move := backup.Move{
		From: access.DatabaseURL, To: c.To, Vault: access.Vault, Environment: access.Environment, Now: clock.Real{}.Now(),
		Told: func(table string, done, total int64) { bar.show("rows", int(done), int(total)) },
	}
	if c.Release {
		return move.Release(p.ctx)
	}
	sums, err := move.Run(p.ctx)
	bar.clear()
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(map[string]any{"rows": sums.Rows(), "sums": sums})
	}
	printMoved(p, sums)
	return nil
}

// printMoved shows what was counted and summed up on both sides.
func printMoved(p *program, sums db.Tally) {
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		if column, currency, byCurrency := strings.Cut(name, " "); byCurrency && sums[name] != 0 {
			fmt.Fprintf(p.stdout, "%s: %s %s\n", column, payment.Minor(sums[name]), currency)
		}
	}
	fmt.Fprintf(p.stdout, "%d rows were moved, and every value is what it was. Name the new database in SEPAD_DATABASE_URL and start sepad; the old one refuses to be used.\n", sums.Rows())
}
