package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"sepad/internal/gateway/sandbox"
)

type testIBANsCommand struct {
	Format string `name:"format" enum:"table,json" default:"table" help:"How to print: table or json."`
}

func (testIBANsCommand) Help() string {
	return "Any other valid IBAN of a SEPA country is approved. No money moves."
}

func (c *testIBANsCommand) Run(p *program) error {
	if c.Format == "json" {
		encoder := json.NewEncoder(p.stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(sandbox.TestIBANs())
	}
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "IBAN\tOUTCOME\tWHAT HAPPENS")
	for _, test := range sandbox.TestIBANs() {
		fmt.Fprintf(table, "%s\t%s\t%s\n", test.IBAN, test.Outcome, test.Description)
	}
	return table.Flush()
}
