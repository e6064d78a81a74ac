package main

import (
	"net/http"
	"net/url"
)

type gatewaysCommand struct {
	Adapters gatewaysAdaptersCommand `cmd:"" help:"List the gateways at which accounts can be opened, and what they need."`
	Settings gatewaysSettingsCommand `cmd:"" help:"Show what a gateway account works with; of its secrets, the names."`
	Paused   gatewaysPausedCommand   `cmd:"" help:"List the gateway accounts whose rebills are held back, and why."`
	Resume   gatewaysResumeCommand   `cmd:"" help:"Let the rebills of a gateway account go on."`
}

type gatewaysAdaptersCommand struct {
	outputFlag
	dataFlags
}

func (c *gatewaysAdaptersCommand) Run(p *program) error {
	return c.office(p, func(o *office) error {
		return o.print("adapters/", nil, 0, c.JSON, "name display_name moves_money batch currencies")
	})
}

type gatewaysSettingsCommand struct {
	ID string `arg:"" help:"The gateway account, by its id."`
	oneTenantFlags
}

func (c *gatewaysSettingsCommand) Run(p *program) error {
	return c.with(p, func(o *office, path string) error {
		return o.show(path+"gateways/"+url.PathEscape(c.ID)+"/settings/", c.JSON)
	})
}

type gatewaysPausedCommand struct {
	outputFlag
	dataFlags
}

func (c *gatewaysPausedCommand) Run(p *program) error {
	return c.office(p, func(o *office) error {
		return o.print("rebill-pauses/", nil, 0, c.JSON, "tenant_id payment_gateway_id reason reason_code since paused_until needs_person")
	})
}

type gatewaysResumeCommand struct {
	ID string `arg:"" help:"The gateway account, by its id."`
	oneTenantFlags
}

func (gatewaysResumeCommand) Help() string {
	return "A bank that blames the creditor (a wrong creditor identifier, a closed account of ours) pauses the account: every further debit would come back too. Mend what it complains of, then resume. What fell due meanwhile is billed by the next run."
}

func (c *gatewaysResumeCommand) Run(p *program) error {
	return c.with(p, func(o *office, path string) error {
		ended, err := o.ask(http.MethodPost, path+"gateways/"+url.PathEscape(c.ID)+"/resume/", nil, nil)
		if err != nil {
			return err
		}
		return c.tell(p, ended, "The rebills of the gateway account go on.")
	})
}
