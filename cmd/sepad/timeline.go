package main

import (
	"encoding/json"
	"net/http"
	"net/url"
)

// timelineFlags name something that things happen to.
type timelineFlags struct{ recordFlags }

// relate prints what happened to it.
func (f timelineFlags) relate(p *program, path string) error {
	return f.office(p, func(o *office) error {
		answer, err := o.ask(http.MethodGet, path+url.PathEscape(f.ID)+"/timeline/", nil, nil)
		if err != nil {
			return err
		}
		if f.JSON {
			return p.printJSON(answer)
		}
		var story struct{ Entries []json.RawMessage }
		if err := json.Unmarshal(answer, &story); err != nil {
			return err
		}
		printer := p.newRecordPrinter(false, "at kind text actor")
		for _, entry := range story.Entries {
			if err := printer.add(entry); err != nil {
				return err
			}
		}
		return printer.end()
	})
}

type sessionsTimelineCommand struct{ timelineFlags }

func (c *sessionsTimelineCommand) Run(p *program) error { return c.relate(p, "sessions/") }

type transactionsTimelineCommand struct{ timelineFlags }

func (c *transactionsTimelineCommand) Run(p *program) error { return c.relate(p, "transactions/") }

type subscriptionsTimelineCommand struct{ timelineFlags }

func (c *subscriptionsTimelineCommand) Run(p *program) error { return c.relate(p, "subscriptions/") }

type chargebacksTimelineCommand struct{ timelineFlags }

func (c *chargebacksTimelineCommand) Run(p *program) error { return c.relate(p, "chargebacks/") }

type leadsTimelineCommand struct{ timelineFlags }

func (c *leadsTimelineCommand) Run(p *program) error { return c.relate(p, "leads/") }

type mandatesTimelineCommand struct{ timelineFlags }

func (c *mandatesTimelineCommand) Run(p *program) error { return c.relate(p, "mandates/") }

type eventsTimelineCommand struct{ timelineFlags }

func (c *eventsTimelineCommand) Run(p *program) error { return c.relate(p, "webhook-deliveries/") }

type importTimelineCommand struct{ timelineFlags }

func (c *importTimelineCommand) Run(p *program) error { return c.relate(p, "imports/") }
