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
	"sepad/internal/config"
	"sepad/internal/gateway/bank/playedbank"
	"sepad/internal/merchant"
	"sepad/internal/store"
	"sepad/internal/store/listing"
)

type bankCommand struct {
	Preview   bankPreviewCommand   `cmd:"" help:"Show what the next file would hold, and what a bank would refuse."`
	Write     bankWriteCommand     `cmd:"" help:"Write what is due now, outside of the daily cut-off."`
	List      bankListCommand      `cmd:"" aliases:"files" help:"List files, the newest first."`
	Show      bankShowCommand      `cmd:"" aliases:"export" help:"Show one file with its collections, or its very bytes."`
	Deliver   bankDeliverCommand   `cmd:"" help:"Put the files that wait where the bank fetches them."`
	Read      bankReadCommand      `cmd:"" help:"Take in a bank's answers: pain.002, camt.053, camt.054."`
	Statement bankStatementCommand `cmd:"" aliases:"statements" help:"List what was taken in, or show one with its lines."`
	Unmatched bankUnmatchedCommand `cmd:"" help:"List lines of a bank's answers that match nothing."`
	Assign    bankAssignCommand    `cmd:"" help:"Say to which payment a line belongs that matched nothing."`
	Hold      bankHoldCommand      `cmd:"" help:"Keep a collection out of every file until it is released."`
	Release   bankReleaseCommand   `cmd:"" help:"Let a collection that is held back into the next file."`
	Test      bankTestCommand      `cmd:"" help:"Try the connection to the bank: folder or server, login, host key."`
	Adopt     bankAdoptCommand     `cmd:"" help:"After a restore: take in files that left after the backup."`
	Resume    bankResumeCommand    `cmd:"" help:"After a restore: let an account write and send again."`
	Answer    bankAnswerCommand    `cmd:"" help:"Sandbox only: play the bank, and answer the files in out/."`
}

// bankFlags find the data and speak of banks.
type bankFlags struct {
	outputFlag
	dataFlags
}

// bank opens the data for work around banks, at the service's time.
func (f bankFlags) bank(p *program, work func(b *banking.Banking, now time.Time) error) error {
	return f.use(p, func(st *store.Store, access config.Access) error {
		service, err := serviceClock(p, st, access)
		if err != nil {
			return err
		}
		useCase := useCases(st, access, service)
		return work(&banking.Banking{Checkout: useCase, Logger: useCase.Logger}, service.Now())
	})
}

// owned opens the data for work on something that is named by its id, with the tenant that it belongs to.
func (f bankFlags) owned(p *program, text, what string, owner func(*store.Store, context.Context, uuid.UUID) (uuid.UUID, error),
	work func(b *banking.Banking, tenantID, id uuid.UUID) error,
) error {
	id, err := uuid.Parse(text)
	if err != nil {
		return fmt.Errorf("%q is no id of a %s", text, what)
	}
	return f.bank(p, func(b *banking.Banking, _ time.Time) error {
		tenantID, err := owner(b.Checkout.Store, p.ctx, id)
		if err != nil {
			return fmt.Errorf("there is no %s %s", what, id)
		}
		return work(b, tenantID, id)
	})
}

// accountFlags name an account at a bank.
type accountFlags struct {
	Gateway string `name:"gateway" short:"g" required:"" placeholder:"ID|NAME" help:"The bank gateway, by id, or by name where no other has it."`
	bankFlags
}

func (f accountFlags) account(p *program, work func(b *banking.Banking, account *banking.Account, now time.Time) error) error {
	return f.bank(p, func(b *banking.Banking, now time.Time) error {
		account, err := b.Find(p.ctx, f.Gateway)
		if err != nil {
			return err
		}
		return work(b, account, now)
	})
}

// someAccountFlags may name an account at a bank.
type someAccountFlags struct {
	Gateway string `name:"gateway" short:"g" placeholder:"ID|NAME" help:"Only those of this bank gateway."`
	bankFlags
}

// among opens the data for work on what belongs to the account that was named, or to all: their ids are then none.
func (f someAccountFlags) among(p *program, work func(b *banking.Banking, tenantID, gatewayID uuid.UUID) error) error {
	return f.bank(p, func(b *banking.Banking, _ time.Time) error {
		if f.Gateway == "" {
			return work(b, uuid.Nil, uuid.Nil)
		}
		account, err := b.Find(p.ctx, f.Gateway)
		if err != nil {
			return err
		}
		return work(b, account.Setup.Tenant.ID, account.ID)
	})
}

type bankPreviewCommand struct{ accountFlags }

func (c *bankPreviewCommand) Run(p *program) error {
	return c.account(p, func(b *banking.Banking, account *banking.Account, now time.Time) error {
		preview, err := b.Preview(p.ctx, account, now)
		if err != nil {
			return err
		}
		body := admin.BankPreviewOf(preview)
		if c.JSON {
			return p.printJSON(body)
		}
		fmt.Fprintf(p.stdout, "%d collections of %s EUR at the cut-off of %s.\n", body.Count, body.Sum, preview.CutOffAt.In(account.Terms.Zone).Format("2006-01-02 15:04 MST"))
		for _, block := range body.Blocks {
			fmt.Fprintf(p.stdout, "  due %s  %s  %d of %s EUR\n", block.DueDate, block.SequenceType, block.Count, block.Sum)
		}
		if body.Refunds.Count > 0 {
			fmt.Fprintf(p.stdout, "%d refunds of %s EUR, to be paid on %s.\n", body.Refunds.Count, body.Refunds.Sum, *body.Refunds.DueDate)
		}
		for _, fault := range body.Refused {
			fmt.Fprintf(p.stdout, "refused  %s  %s: %s\n", fault.MerchantTransactionID, fault.Field, fault.Reason)
		}
		for _, fault := range body.Changed {
			fmt.Fprintf(p.stdout, "changed  %s  %s: %s\n", fault.MerchantTransactionID, fault.Field, fault.Reason)
		}
		for _, held := range body.Held {
			fmt.Fprintf(p.stdout, "held     %s\n", held)
		}
		return nil
	})
}

type bankWriteCommand struct{ accountFlags }

func (c *bankWriteCommand) Run(p *program) error {
	return c.account(p, func(b *banking.Banking, account *banking.Account, now time.Time) error {
		files, err := b.WriteNow(p.ctx, account, now)
		if err != nil {
			return err
		}
		if len(files) == 0 && !c.JSON {
			fmt.Fprintf(p.stderr, "Nothing is due at %s.\n", account.Name)
			return nil
		}
		return c.showFiles(p, files)
	})
}

// showFiles prints files as the admin API gives them, or as a table.
func (f bankFlags) showFiles(p *program, files []store.BankFile) error {
	bodies := make([]admin.BankFileBody, len(files))
	for i, file := range files {
		bodies[i] = admin.BankFileOf(file)
	}
	if f.JSON {
		return p.printJSON(bodies)
	}
	return printFiles(p, bodies)
}

func printFiles(p *program, files []admin.BankFileBody) error {
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tMESSAGE\tDUE\tCOUNT\tSUM\tSTATE\tPROBLEM")
	for _, f := range files {
		problem := "-"
		if f.Problem != nil {
			problem = *f.Problem
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", f.ID, f.MessageID, f.DueDate, f.Count, f.Sum, f.State, problem)
	}
	return table.Flush()
}

type bankListCommand struct {
	Limit int `name:"limit" default:"50" help:"How many at most (default: 50)."`
	someAccountFlags
}

func (c *bankListCommand) Run(p *program) error {
	return c.among(p, func(b *banking.Banking, tenantID, gatewayID uuid.UUID) error {
		search := listing.BankFileSearch{Common: listing.Common{TenantID: tenantID}, GatewayID: gatewayID}
		found, err := listing.SearchBankFiles(p.ctx, b.Checkout.Store, search, listing.Paging{Limit: max(1, c.Limit)})
		if err != nil {
			return err
		}
		return c.showFiles(p, found.Rows)
	})
}

type bankShowCommand struct {
	ID  string `arg:"" help:"The file, by its id."`
	XML bool   `name:"xml" help:"The very bytes, on standard output."`
	bankFlags
}

func (c *bankShowCommand) Run(p *program) error {
	return c.owned(p, c.ID, "bank file", (*store.Store).BankFileOwner, func(b *banking.Banking, tenantID, id uuid.UUID) error {
		file, err := b.Checkout.Store.Tenant(tenantID).BankFile(p.ctx, id)
		if err != nil {
			return err
		}
		if c.XML {
			return b.Download(p.ctx, file, p.stdout)
		}
		body, err := admin.BankFileDetail(p.ctx, b, file, 0, file.Count)
		if err != nil {
			return err
		}
		if c.JSON {
			return p.printJSON(body)
		}
		return printFile(p, body)
	})
}

func printFile(p *program, body admin.BankFileDetailBody) error {
	if err := printFiles(p, []admin.BankFileBody{body.BankFileBody}); err != nil {
		return err
	}
	words := map[bool]string{true: "agree", false: "DIFFER"}[body.Matching.Agrees]
	fmt.Fprintf(p.stdout, "\nOurs: %s collected, %s returned. Statement: %s credited, %s debited. They %s.\n\n", body.Matching.Collected,
		body.Matching.Returned, orNothing(body.Matching.Credited), orNothing(body.Matching.Debited), words)
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NO\tEND-TO-END ID\tMANDATE\tACCOUNT\tAMOUNT\tDUE\tSEQUENCE\tSTATUS")
	for _, e := range body.Collections {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Position, e.EndToEndID, e.MandateReferenceID, e.IBANMasked, e.Amount, e.DueDate, e.SequenceType, e.Status)
	}
	return table.Flush()
}

type bankStatementCommand struct {
	ID      string `arg:"" optional:"" help:"One of them, by its id."`
	XML     bool   `name:"xml" help:"The very bytes of one, on standard output."`
	Gateway string `name:"gateway" short:"g" query:"gateway_id" placeholder:"ID" help:"Only those of this bank gateway."`
	listFlags
}

func (c *bankStatementCommand) Run(p *program) error {
	if c.XML {
		return bankFlags{c.outputFlag, c.dataFlags}.owned(p, c.ID, "bank statement", (*store.Store).BankStatementOwner, func(b *banking.Banking, tenantID, id uuid.UUID) error {
			found, err := b.Checkout.Store.Tenant(tenantID).BankStatement(p.ctx, id)
			if err != nil {
				return err
			}
			return b.Answered(p.ctx, found, p.stdout)
		})
	}
	if c.ID != "" {
		return recordFlags{c.ID, c.outputFlag, c.dataFlags}.show(p, "bank-statements/")
	}
	return c.list(p, c, "bank-statements/", "id name state count problem created_at")
}

func orNothing(text *string) string {
	if text == nil {
		return "nothing"
	}
	return *text
}

type bankDeliverCommand struct{ bankFlags }

func (c *bankDeliverCommand) Run(p *program) error {
	return c.bank(p, func(b *banking.Banking, now time.Time) error {
		delivered, err := b.Deliver(p.ctx, now)
		if err != nil {
			return err
		}
		left, err := b.Checkout.Store.BankFilesWaiting(p.ctx)
		if err != nil {
			return err
		}
		if err := c.tell(p, map[string]int{"delivered": delivered, "waiting": len(left)}, "%d delivered, %d wait.", delivered, len(left)); err != nil {
			return err
		}
		for _, file := range left {
			fmt.Fprintf(p.stderr, "%s: %s\n", file.ID, file.Problem)
		}
		if len(left) > 0 {
			return errors.New("not every file could be delivered")
		}
		return nil
	})
}

type bankTestCommand struct{ accountFlags }

func (c *bankTestCommand) Run(p *program) error {
	return c.account(p, func(b *banking.Banking, account *banking.Account, _ time.Time) error {
		if err := b.Test(p.ctx, account); err != nil {
			return err
		}
		return c.tell(p, map[string]any{"gateway_id": account.ID, "reachable": true}, "%s: files can be put, answers can be listed.", account.Name)
	})
}

type bankAnswerCommand struct {
	Files []string `arg:"" optional:"" type:"existingfile" help:"Files to answer; all in out/ where none is given."`
	Shape string   `name:"shape" enum:"plain,german,dutch,swiss,french" default:"plain" help:"How the bank writes: plain, german, dutch, swiss or french (default: plain)."`
	accountFlags
}

func (bankAnswerCommand) Help() string {
	return "What it answers is decided by the test IBANs, up to the sandbox's present. The service reads what is put into in/ by itself."
}

func (c *bankAnswerCommand) Run(p *program) error {
	return c.account(p, func(b *banking.Banking, account *banking.Account, _ time.Time) error {
		if b.Checkout.Environment != merchant.Sandbox {
			return errors.New("only a sandbox has a bank that is played")
		}
		put, err := b.Answer(account, playedbank.Shape(c.Shape), c.Files, b.Checkout.Clock.Now())
		if err != nil {
			return err
		}
		if c.JSON {
			return p.printJSON(put)
		}
		for _, name := range put {
			fmt.Fprintln(p.stdout, name)
		}
		return nil
	})
}
