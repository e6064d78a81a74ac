package main

import (
	"fmt"

	"sepad/internal/config"
	"sepad/internal/recon"
	"sepad/internal/store"
)

type reconcileCommand struct {
	gatewayFlag
	File   string `name:"file" required:"" placeholder:"FILE" help:"The processor's CSV, or - for standard input."`
	Kind   string `name:"kind" enum:"transactions,chargebacks" default:"transactions" help:"What the file holds: transactions or chargebacks (default: transactions)."`
	Apply  bool   `name:"apply" help:"Settle what the file proves: pending payments that were collected or refused, and chargebacks."`
	Format string `name:"format" enum:"table,csv,json" default:"table" help:"How the report is written: table, csv or json (default: table)."`
	outputFlag
	dataFlags
}

func (reconcileCommand) Help() string {
	return "The file is compared with our records of the days that it covers. Each column of the balance adds up: " +
		"what the file has is matched, differing or missing here; what we have is matched, differing or missing there. Exit code 3 tells that something is to be looked at."
}

func (c *reconcileCommand) Run(p *program) error {
	return c.use(p, func(st *store.Store, access config.Access) error {
		importer, setup, gatewayID, err := p.importer(st, access, c.Gateway)
		if err != nil {
			return err
		}
		file, done, err := p.openFile(c.File)
		if err != nil {
			return err
		}
		report, err := importer.Reconcile(p.ctx, recon.ImportRequest{
			TenantID: setup.Tenant.ID, GatewayID: gatewayID, Kind: recon.ImportKind(c.Kind), File: file,
		}, c.Apply)
		done()
		if err != nil {
			return err
		}
		if err := c.write(p, &report, setup.Gateways[gatewayID].Name); err != nil {
			return err
		}
		if open := report.Open(); open > 0 {
			return &leftOver{fmt.Sprintf("%d records are to be looked at", open)}
		}
		return nil
	})
}

func (c *reconcileCommand) write(p *program, report *recon.Report, gateway string) error {
	switch {
	case c.JSON || c.Format == "json":
		return p.printJSON(report)
	case c.Format == "csv":
		return report.WriteCSV(p.stdout)
	default:
		return report.WriteTable(p.stdout, gateway)
	}
}
