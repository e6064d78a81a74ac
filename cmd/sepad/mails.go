package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/google/uuid"

	"sepad/internal/admin"
	"sepad/internal/clock"
	"sepad/internal/config"
	"sepad/internal/notice"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/store/listing"
)

type mailsCommand struct {
	List   mailsListCommand   `cmd:"" help:"List mails to payers, the newest first."`
	Show   mailsShowCommand   `cmd:"" help:"Show one mail with what it says."`
	Resend mailsResendCommand `cmd:"" help:"Put mails into line once more: some by id, or all that have failed."`
}

// mailFlags find the data.
type mailFlags struct {
	outputFlag
	dataFlags
}

type mailsListCommand struct {
	Status string `name:"status" enum:"pending,sent,failed,dropped," default:"" placeholder:"STATUS" help:"Only those that are pending, sent, failed or dropped."`
	Limit  int    `name:"limit" default:"50" help:"How many at most (default: 50)."`
	tenantFlag
	mailFlags
}

func (c *mailsListCommand) Run(p *program) error {
	return c.use(p, func(st *store.Store, _ config.Access) error {
		search := listing.MailSearch{Status: store.MailStatus(c.Status)}
		if c.Tenant != "" {
			tenant, err := setup.FindTenant(p.ctx, st, c.Tenant)
			if err != nil {
				return err
			}
			search.TenantID = tenant.ID
		}
		part, err := listing.SearchMails(p.ctx, st, search, listing.Paging{Limit: max(1, c.Limit)})
		if err != nil {
			return err
		}
		bodies := make([]admin.MailBody, len(part.Rows))
		for i, m := range part.Rows {
			bodies[i] = admin.MailOf(m)
		}
		if c.JSON {
			return p.printJSON(bodies)
		}
		table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "ID\tKIND\tDUE\tSTATUS\tATTEMPTS\tRESULT")
		for i, m := range part.Rows {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%s\n", m.ID, m.Kind, bodies[i].DueDate, m.Status, m.AttemptCount, m.Result)
		}
		return table.Flush()
	})
}

type mailsShowCommand struct {
	ID uuid.UUID `arg:"" name:"id" help:"The mail."`
	mailFlags
}

func (c *mailsShowCommand) Run(p *program) error {
	return c.use(p, func(st *store.Store, _ config.Access) error {
		body, err := admin.MailDetail(p.ctx, st, c.ID)
		if err != nil {
			return err
		}
		if c.JSON {
			return p.printJSON(body)
		}
		_, err = fmt.Fprintf(p.stdout, "%s, %s after %d attempts\nSubject: %s\n\n%s", body.Kind, body.Status, body.Attempts, body.Subject, body.Text)
		return err
	})
}

type mailsResendCommand struct {
	IDs    []uuid.UUID `arg:"" optional:"" name:"id" help:"Mails, by id."`
	Failed bool        `name:"failed" help:"All that have failed."`
	mailFlags
}

func (mailsResendCommand) Help() string {
	return "The running service sends them, each under its own Message-ID."
}

// Validate is asked while the command line is read: what it says is wrong usage.
func (c *mailsResendCommand) Validate() error {
	if c.Failed == (len(c.IDs) > 0) {
		return fmt.Errorf("name mails by id, or say --failed")
	}
	return nil
}

func (c *mailsResendCommand) Run(p *program) error {
	return c.use(p, func(st *store.Store, _ config.Access) error {
		ids := c.IDs
		for c.Failed {
			part, err := listing.SearchMails(p.ctx, st, listing.MailSearch{Status: store.MailFailed}, listing.Paging{Limit: 100})
			if err != nil {
				return err
			}
			ids = nil
			for _, m := range part.Rows {
				ids = append(ids, m.ID)
			}
			if len(ids) == 0 {
				return nil
			}
			if err := c.resend(p, st, ids); err != nil {
				return err
			}
		}
		return c.resend(p, st, ids)
	})
}

func (c *mailsResendCommand) resend(p *program, st *store.Store, ids []uuid.UUID) error {
	for _, id := range ids {
		m, err := notice.Resend(p.ctx, st, id, clock.Real{}.Now())
		if err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		if c.JSON {
			if err := p.printJSON(admin.MailOf(m)); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(p.stdout, "%s is in line.\n", id)
	}
	return nil
}
