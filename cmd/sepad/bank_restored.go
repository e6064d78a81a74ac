package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"sepad/internal/admin"
	"sepad/internal/banking"
)

type bankAdoptCommand struct {
	Files []string `arg:"" optional:"" type:"existingfile" help:"Files of ours, as the bank's portal shows them; what lies where the bank fetches it where none is given."`
	accountFlags
}

func (bankAdoptCommand) Help() string {
	return "Their payments are known as sent from then on, and are in no file again. A file that is known changes nothing."
}

func (c *bankAdoptCommand) Run(p *program) error {
	return c.account(p, func(b *banking.Banking, account *banking.Account, _ time.Time) error {
		all, err := eachFile(c.Files, func(name string) ([]banking.Adoption, error) {
			file, err := os.Open(name)
			if err != nil {
				return nil, err
			}
			return b.Adopt(p.ctx, account, filepath.Base(name), file)
		}, func() ([]banking.Adoption, error) { return b.AdoptSent(p.ctx, account) })
		if err != nil {
			return err
		}
		return c.report(p, b, account, all)
	})
}

func (c *bankAdoptCommand) report(p *program, b *banking.Banking, account *banking.Account, all []banking.Adoption) error {
	body, err := admin.BankAdoptionsOf(p.ctx, b, account, all)
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(body)
	}
	for _, one := range body.Results {
		word := "taken in"
		if one.IsKnown {
			word = "known"
		}
		fmt.Fprintf(p.stdout, "%s  %s  %d payments  %s\n", one.Name, one.MessageID, one.Count, word)
	}
	fmt.Fprintf(p.stdout, "%d payments of such files have no transaction here (yet).\n", body.UnknownPayments)
	return nil
}

type bankResumeCommand struct{ accountFlags }

func (bankResumeCommand) Help() string {
	return "Only after every file that the bank has received since the backup was taken in with sepad bank adopt: whatever else waits is written anew."
}

func (c *bankResumeCommand) Run(p *program) error {
	return c.account(p, func(b *banking.Banking, account *banking.Account, _ time.Time) error {
		restoredTo, err := b.Resume(p.ctx, account)
		switch {
		case err != nil:
			return err
		case restoredTo.IsZero():
			return c.tell(p, map[string]any{"gateway_id": account.ID, "waited": false}, "%s does not wait.", account.Name)
		default:
			return c.tell(p, map[string]any{"gateway_id": account.ID, "waited": true, "restored_to": restoredTo.UTC()},
				"%s goes on; the backup was of %s.", account.Name, restoredTo.UTC().Format(time.RFC3339))
		}
	})
}
