package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"

	"sepad/internal/admin"
	"sepad/internal/banking"
	"sepad/internal/store"
	"sepad/internal/store/listing"
)

type bankReadCommand struct {
	Files  []string `arg:"" optional:"" help:"Files, folders or zips of them; the bank's own place where none is given."`
	DryRun bool     `name:"dry-run" help:"Say what would become of them, and change nothing."`
	accountFlags
}

func (bankReadCommand) Help() string {
	return "The same file twice, files that overlap and files in another order lead to the same. Exit code 3 tells that lines match nothing or a file could not be read."
}

func (c *bankReadCommand) Run(p *program) error {
	return c.account(p, func(b *banking.Banking, account *banking.Account, _ time.Time) error {
		if len(c.Files) == 0 && c.DryRun {
			return errors.New("name the files for a dry run")
		}
		readings, err := eachFile(c.Files, func(name string) ([]banking.Reading, error) {
			return b.ReadPath(p.ctx, account, name, c.DryRun)
		}, func() ([]banking.Reading, error) { return b.Receive(p.ctx, account) })
		if err != nil {
			return err
		}
		return c.report(p, admin.BankReadingsOf(readings))
	})
}

// eachFile gathers what becomes of files that were named, or of those in the bank's own place.
func eachFile[T any](names []string, one func(name string) ([]T, error), place func() ([]T, error)) (all []T, err error) {
	if len(names) == 0 {
		return place()
	}
	for _, name := range names {
		some, err := one(name)
		if all = append(all, some...); err != nil {
			return all, err
		}
	}
	return all, nil
}

func (c *bankReadCommand) report(p *program, readings []admin.BankReadingBody) error {
	open := false
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	if !c.JSON {
		fmt.Fprintln(table, "FILE\tSETTLED\tREJECTED\tRETURNED\tKNOWN\tIGNORED\tUNMATCHED\tPROBLEM")
	}
	for _, r := range readings {
		n := r.Counts
		open = open || n.Unmatched > 0 || r.Problem != nil
		if !c.JSON {
			fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\n", r.Name, n.Settled, n.Rejected, n.Returned, n.Known, n.Ignored, n.Unmatched, orNothing(r.Problem))
		}
	}
	err := table.Flush()
	if c.JSON {
		err = p.printJSON(readings)
	}
	if err == nil && open {
		err = &leftOver{"lines match nothing, or a file could not be read to its end: see sepad bank unmatched"}
	}
	return err
}

type bankUnmatchedCommand struct{ someAccountFlags }

// unmatchedPage is how many lines are read at a time.
const unmatchedPage = 500

func (c *bankUnmatchedCommand) Run(p *program) error {
	return c.among(p, func(b *banking.Banking, tenantID, gatewayID uuid.UUID) error {
		matched := false
		search := listing.BankLineSearch{Common: listing.Common{TenantID: tenantID}, GatewayID: gatewayID, Matched: &matched}
		bodies := []admin.BankEntryBody{}
		for beyond := uuid.Nil; ; {
			found, err := listing.SearchBankLines(p.ctx, b.Checkout.Store, search, listing.Paging{Beyond: beyond, Limit: unmatchedPage})
			if err != nil {
				return err
			}
			for _, line := range found.Rows {
				bodies, beyond = append(bodies, admin.BankEntryOf(p.ctx, b, line)), line.ID
			}
			if len(found.Rows) < unmatchedPage && found.Reached == uuid.Nil {
				break
			}
			if found.Reached != uuid.Nil {
				beyond = found.Reached
			}
		}
		if c.JSON {
			return p.printJSON(bodies)
		}
		return printUnmatched(p, bodies)
	})
}

func printUnmatched(p *program, entries []admin.BankEntryBody) error {
	if len(entries) == 0 {
		fmt.Fprintln(p.stderr, "Every line has its place.")
		return nil
	}
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tKIND\tAMOUNT\tDATE\tREFERENCE\tREASON\tNOTE\tTEXT")
	for _, e := range entries {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.ID, e.Kind, e.Amount, orNothing(e.BookingDate), orNothing(e.Reference), orNothing(e.Reason), orNothing(e.Note), e.Text)
	}
	return table.Flush()
}

type bankAssignCommand struct {
	Line        string `arg:"" help:"The line, by its id."`
	Transaction string `arg:"" help:"The payment, by its id or merchant transaction id."`
	bankFlags
}

func (c *bankAssignCommand) Run(p *program) error {
	return c.owned(p, c.Line, "line", (*store.Store).BankLineOwner, func(b *banking.Banking, tenantID, id uuid.UUID) error {
		_, transactionID, err := findPayment(p, b.Checkout.Store, c.Transaction)
		if err != nil {
			return err
		}
		line, err := b.Assign(p.ctx, tenantID, id, transactionID)
		if err != nil {
			return err
		}
		if c.JSON {
			return p.printJSON(admin.BankEntryOf(p.ctx, b, line))
		}
		fmt.Fprintf(p.stdout, "%s %s of %s belongs to %s.\n", line.Kind, line.AmountMinor, line.BookingDate, c.Transaction)
		return nil
	})
}

// collectionFlags name a payment that waits for a file.
type collectionFlags struct {
	Transaction string `arg:"" help:"The payment, by its id or merchant transaction id."`
	bankFlags
}

func (c collectionFlags) steer(p *program, done string, steer func(*banking.Banking) func(context.Context, uuid.UUID, uuid.UUID) error) error {
	return c.bank(p, func(b *banking.Banking, _ time.Time) error {
		tenantID, id, err := findPayment(p, b.Checkout.Store, c.Transaction)
		if err != nil {
			return err
		}
		if err := steer(b)(p.ctx, tenantID, id); err != nil {
			return err
		}
		return c.tell(p, map[string]any{"id": id}, "%s %s.", c.Transaction, done)
	})
}

type bankHoldCommand struct{ collectionFlags }

func (c *bankHoldCommand) Run(p *program) error {
	return c.steer(p, "is held back", func(b *banking.Banking) func(context.Context, uuid.UUID, uuid.UUID) error { return b.Hold })
}

type bankReleaseCommand struct{ collectionFlags }

func (c *bankReleaseCommand) Run(p *program) error {
	return c.steer(p, "waits for the next file", func(b *banking.Banking) func(context.Context, uuid.UUID, uuid.UUID) error { return b.Release })
}
