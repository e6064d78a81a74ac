package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/config"
	"sepad/internal/merchant"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/webhook"
)

type eventsTailCommand struct {
	Last int `name:"last" short:"n" default:"10" help:"How many earlier events to print first (default: 10)."`
	tailFlags
	tenantFlag
	dataFlags
}

// tailFlags say how long events are waited for.
type tailFlags struct {
	Once bool `name:"once" help:"End when there is nothing more, instead of waiting."`
}

func (eventsTailCommand) Help() string {
	return "Every event is a line of JSON. Ctrl-C ends it. Those that are opt-in are there where a webhook profile asks for them."
}

func (c *eventsTailCommand) Run(p *program) error {
	return c.use(p, func(st *store.Store, _ config.Access) error {
		tenant, err := setup.FindTenant(p.ctx, st, c.Tenant)
		if err != nil {
			return err
		}
		return tail(p, st, tenant.ID, max(0, c.Last), c.Once, func(e store.FeedEvent) error {
			_, err := fmt.Fprintf(p.stdout, `{"id":%q,"type":%q,"created_at":%q,"data":%s}`+"\n", e.ID, e.Kind, e.CreatedAt.UTC().Format(time.RFC3339Nano), e.Payload)
			return err
		})
	})
}

// tailEvery is how often the feed is looked at, tailPage how much of it at a time.
const (
	tailEvery = 300 * time.Millisecond
	tailPage  = 500
)

// tail hands a tenant's events on: the last few that there are, then those that come.
func tail(p *program, st *store.Store, tenantID uuid.UUID, last int, once bool, show func(store.FeedEvent) error) error {
	var place int64
	var earlier []store.FeedEvent
	for more := true; more; {
		page, err := webhook.ReadFeed(p.ctx, st, tenantID, place, store.FeedAll, tailPage, clock.Real{}.Now())
		if err != nil {
			return ended(p.ctx, err)
		}
		earlier = append(earlier, page.Events...)
		earlier = earlier[max(0, len(earlier)-last):]
		place, more = page.Next, page.More
	}
	for _, event := range earlier {
		if err := show(event); err != nil {
			return err
		}
	}
	again := time.NewTicker(tailEvery)
	defer again.Stop()
	for !once {
		page, err := webhook.ReadFeed(p.ctx, st, tenantID, place, store.FeedAll, tailPage, clock.Real{}.Now())
		if err != nil {
			return ended(p.ctx, err)
		}
		for _, event := range page.Events {
			if err := show(event); err != nil {
				return err
			}
		}
		place = page.Next
		select {
		case <-p.ctx.Done():
			return nil
		case <-again.C:
		}
	}
	return nil
}

// ended takes it for no failure that somebody has ended the command.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// onlySandbox refuses what must not be done where money moves.
func onlySandbox(access config.Access) error {
	if access.Environment != merchant.Sandbox {
		return errors.New("this is for sandboxes alone: nothing is played where money moves")
	}
	return nil
}
