package main

import "net/http"

type eventsCommand struct {
	List     eventsListCommand     `cmd:"" help:"List events that go out as webhooks, the newest first, with what became of them."`
	Tail     eventsTailCommand     `cmd:"" help:"Print a tenant's events as they happen."`
	Show     eventsShowCommand     `cmd:"" help:"Show one with every attempt to deliver it."`
	Timeline eventsTimelineCommand `cmd:"" help:"Show what happened to one, in order."`
	Resend   webhooksResendCommand `cmd:"" help:"Send events again: some by id, or all failed ones of a profile."`
}

type eventsListCommand struct {
	Profile string `name:"profile" query:"webhook_profile_id" placeholder:"ID" help:"Those of one webhook profile."`
	Status  string `name:"status" query:"status" placeholder:"STATUS" help:"pending, delivered or failed."`
	Event   string `name:"event" query:"event" placeholder:"KIND" help:"Only one kind, such as payment_session.completed."`
	listFlags
}

func (c *eventsListCommand) Run(p *program) error {
	return c.list(p, c, "webhook-deliveries/", "id event status attempts created_at next_attempt_at url")
}

type eventsShowCommand struct{ recordFlags }

func (c *eventsShowCommand) Run(p *program) error { return c.show(p, "webhook-deliveries/") }

type webhooksRotateCommand struct {
	Profile string `arg:"" help:"The webhook profile, by its id."`
	tenantFlag
	outputFlag
	dataFlags
}

func (webhooksRotateCommand) Help() string {
	return "The new secret is printed, this once. For 24 hours the old one signs beside it."
}

func (c *webhooksRotateCommand) Run(p *program) error {
	return c.office(p, func(o *office) error {
		id, err := o.tenantID(p.ctx, c.Tenant)
		if err != nil {
			return err
		}
		record, err := o.ask(http.MethodPost, "tenants/"+id+"/webhook-profiles/"+c.Profile+"/rotate-secret/", nil, nil)
		if err != nil {
			return err
		}
		return p.printAnswer(c.JSON, record)
	})
}
