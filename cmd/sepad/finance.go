package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
)

// daysFlags are a range of days.
type daysFlags struct {
	From string `name:"from" query:"from" placeholder:"DATE" help:"The first day, YYYY-MM-DD in UTC (default: 29 days before the last)."`
	To   string `name:"to" query:"to" placeholder:"DATE" help:"The last day, which belongs to it (default: today)."`
	tenantFlag
	dataFlags
}

// ask opens the data for a report on the days.
func (f daysFlags) ask(p *program, work func(o *office, query url.Values) error) error {
	return f.office(p, func(o *office) error {
		id, err := o.tenantID(p.ctx, f.Tenant)
		if err != nil {
			return err
		}
		query := url.Values{"tenant_id": {id}}
		for name, text := range map[string]string{"from": f.From, "to": f.To} {
			if text != "" {
				query.Set(name, text)
			}
		}
		return work(o, query)
	})
}

type totalsCommand struct {
	outputFlag
	daysFlags
}

func (totalsCommand) Help() string {
	return "A payment counts on the day (UTC) on which its gateway answered, a chargeback on the day it was reported. What is left is what was collected, less what went back and what banks took for chargebacks."
}

func (c *totalsCommand) Run(p *program) error {
	return c.ask(p, func(o *office, query url.Values) error {
		return o.print("totals/", query, 0, c.JSON,
			"day currency collected.count collected.amount pending.amount refunded.amount charged_back.count charged_back.amount fees net")
	})
}

type payoutsCommand struct {
	Gateway string `name:"gateway" short:"g" query:"gateway_id" placeholder:"ID" help:"Those of a bank gateway."`
	listFlags
}

func (payoutsCommand) Help() string {
	return "Each line is a day on a bank's statement (camt.053) that was taken in: what was credited and debited, and the charges that the bank named."
}

func (c *payoutsCommand) Run(p *program) error {
	return c.list(p, c, "payouts/", "booking_date currency credited.count credited.amount debited.count debited.amount fees net statement_id")
}

type exportCommand struct {
	Kind   string `arg:"" enum:"transactions,chargebacks,subscriptions" help:"transactions, chargebacks or subscriptions."`
	Format string `name:"format" enum:"csv,json,xml" default:"csv" help:"csv, xml, or json with an object on each line (default: csv)."`
	JSON   bool   `name:"json" help:"The same as --format json."`
	Out    string `name:"out" short:"o" placeholder:"FILE" help:"Write to a file instead of standard output."`
	daysFlags
}

func (exportCommand) Help() string {
	return "The records are those of reconciliation, of any number of days and however many there are: they are written as they are read."
}

func (c *exportCommand) Run(p *program) error {
	return c.ask(p, func(o *office, query url.Values) error {
		query.Set("format", c.Format)
		if c.JSON {
			query.Set("format", "json")
		}
		path := "exports/" + c.Kind + "/"
		if c.Out == "" {
			return o.send(http.MethodGet, path, query, nil, p.stdout)
		}
		const ownerOnly = 0o600
		file, err := os.OpenFile(c.Out, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, ownerOnly)
		if err != nil {
			return err
		}
		if err := errors.Join(o.send(http.MethodGet, path, query, nil, file), file.Close()); err != nil {
			return fmt.Errorf("%s is not complete: %w", c.Out, err)
		}
		return nil
	})
}
