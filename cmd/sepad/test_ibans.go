package main

import (
	"sepad/internal/gateway/sandbox"
)

type testIBANsCommand struct {
	Format string `name:"format" enum:"table,json" default:"table" help:"How to print: table or json."`
	outputFlag
}

func (testIBANsCommand) Help() string {
	return "Any other valid IBAN of a SEPA country is approved. No money moves."
}

func (c *testIBANsCommand) Run(p *program) error {
	if c.JSON || c.Format == "json" {
		return p.printJSON(sandbox.TestIBANs())
	}
	var rows [][]string
	for _, test := range sandbox.TestIBANs() {
		rows = append(rows, []string{test.IBAN, string(test.Outcome), test.Description})
	}
	return p.printTable([]string{"IBAN", "OUTCOME", "WHAT HAPPENS"}, rows)
}
