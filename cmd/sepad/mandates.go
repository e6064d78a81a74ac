package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"sepad/internal/admin"
	"sepad/internal/checkout"
	"sepad/internal/config"
	"sepad/internal/store"
	"sepad/internal/web"
)

type mandatesCommand struct {
	Show     mandatesShowCommand     `cmd:"" help:"Show what the payer agreed to under a mandate's reference."`
	Timeline mandatesTimelineCommand `cmd:"" help:"Show what happened under one, in order."`
}

type mandatesShowCommand struct {
	Reference string `arg:"" help:"The mandate, by its reference, such as MND-7K2M9QXA4TPL."`
	outputFlag
	dataFlags
}

func (mandatesShowCommand) Help() string {
	return "This is the evidence for a bank that says there was no mandate (MD01). It names a person: that it was read is logged on standard error."
}

func (c *mandatesShowCommand) Run(p *program) error {
	logger, err := web.NewLogger("", p.stderr)
	if err != nil {
		return err
	}
	return c.use(p, func(st *store.Store, _ config.Access) error {
		work := checkout.Checkout{Store: st, Logger: logger}
		evidence, err := work.Evidence(p.ctx, c.Reference, checkout.Command)
		if err != nil {
			return err
		}
		mandate := admin.MandateOf(c.Reference, evidence)
		if c.JSON {
			return p.printJSON(mandate)
		}
		return printMandate(p.stdout, evidence)
	})
}

// printMandate writes each agreement with the text that was agreed to.
func printMandate(out io.Writer, evidence []store.Evidence) error {
	for i, e := range evidence {
		if i > 0 {
			fmt.Fprintln(out)
		}
		t := e.Transaction
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for _, line := range [][2]string{
			{"Mandate", t.MandateReference},
			{"Accepted", day(e.AcceptedAt) + " (" + string(e.Mode) + ")"},
			{"From", orDash(e.ClientIP) + ", " + orDash(e.UserAgent)},
			{"Account", t.MaskedIBAN + ", " + t.HolderName},
			{"Tenant", t.TenantID.String()},
			{"Session", e.SessionID.String()},
			{"Transaction", t.ID.String() + " (" + t.MerchantTransactionID + ", " + string(t.Status) + ")"},
			{"Text", e.Language + ", version " + e.TextVersion + ", SHA-256 " + e.TextHash},
		} {
			fmt.Fprintf(table, "%s\t%s\n", line[0], line[1])
		}
		if err := table.Flush(); err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s\n", e.Text)
	}
	return nil
}
