package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"

	"sepad/internal/billing"
	"sepad/internal/config"
	"sepad/internal/payment"
	"sepad/internal/setup"
	"sepad/internal/store"
)

type gatewaysCommand struct {
	Paused gatewaysPausedCommand `cmd:"" help:"List the gateway accounts whose rebills are held back, and why."`
	Resume gatewaysResumeCommand `cmd:"" help:"Let the rebills of a gateway account go on."`
}

type gatewaysPausedCommand struct {
	outputFlag
	dataFlags
}

func (c *gatewaysPausedCommand) Run(p *program) error {
	return c.use(p, func(st *store.Store, _ config.Access) error {
		pauses, err := st.RebillPauses(p.ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			return printPausesJSON(p, pauses)
		}
		if len(pauses) == 0 {
			fmt.Fprintln(p.stderr, "No gateway account is paused.")
			return nil
		}
		table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "TENANT\tGATEWAY\tREASON\tCODE\tSINCE\tUNTIL")
		for _, pause := range pauses {
			until := "resumed by hand"
			if !pause.Until.IsZero() {
				until = pause.Until.UTC().Format(time.RFC3339)
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", pause.TenantID, pause.GatewayID, pause.Reason, orDash(pause.Code),
				pause.Since.UTC().Format(time.RFC3339), until)
		}
		return table.Flush()
	})
}

func printPausesJSON(p *program, pauses []payment.RebillPause) error {
	all := make([]map[string]any, len(pauses)) // never null
	for i, pause := range pauses {
		all[i] = map[string]any{
			"tenant_id": pause.TenantID, "payment_gateway_id": pause.GatewayID, "reason": pause.Reason, "reason_code": pause.Code,
			"since": pause.Since.UTC(), "paused_until": nil,
		}
		if !pause.Until.IsZero() {
			all[i]["paused_until"] = pause.Until.UTC()
		}
	}
	return p.printJSON(all)
}

type gatewaysResumeCommand struct {
	ID string `arg:"" help:"The gateway account, by its id."`
	tenantFlag
	outputFlag
	dataFlags
}

func (gatewaysResumeCommand) Help() string {
	return "A bank that blames the creditor (a wrong creditor identifier, a closed account of ours) pauses the account: every further debit would come back too. Mend what it complains of, then resume. What fell due meanwhile is billed by the next run."
}

func (c *gatewaysResumeCommand) Run(p *program) error {
	id, err := uuid.Parse(c.ID)
	if err != nil {
		return fmt.Errorf("%q is no id of a gateway account", c.ID)
	}
	return c.use(p, func(st *store.Store, access config.Access) error {
		tenant, err := setup.FindTenant(p.ctx, st, c.Tenant)
		if err != nil {
			return err
		}
		service, err := serviceClock(p, st, access)
		if err != nil {
			return err
		}
		work := &billing.Billing{Checkout: useCases(st, access, service)}
		if _, err := work.Resume(p.ctx, tenant.ID, id); err != nil {
			return err
		}
		if c.JSON {
			return p.printJSON(map[string]any{"tenant_id": tenant.ID, "payment_gateway_id": id})
		}
		fmt.Fprintln(p.stderr, "The rebills of the gateway account go on.")
		return nil
	})
}
