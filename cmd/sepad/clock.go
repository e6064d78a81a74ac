package main

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"sepad/internal/banking"
	"sepad/internal/billing"
	"sepad/internal/checkout"
	"sepad/internal/clock"
	"sepad/internal/config"
	"sepad/internal/gateway"
	"sepad/internal/gateway/adapters"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/gateway/sandbox/ledgerdb"
	"sepad/internal/jobs"
	"sepad/internal/merchant"
	"sepad/internal/sepa"
	"sepad/internal/store"
)

type clockCommand struct {
	Advance span   `name:"advance" xor:"far" placeholder:"1month" help:"How far to move it, such as 36h, 10d, 2w, 1month or 1month3d; what falls due on the way is done before the command ends."`
	To      string `name:"to" xor:"far" placeholder:"DATE" help:"The day, or the instant, to which to move it, such as 2027-01-31."`
	outputFlag
	dataFlags
}

func (clockCommand) Help() string {
	return "The clock can be moved beside a running server, and never back."
}

func (c *clockCommand) Run(p *program) error {
	return c.use(p, func(st *store.Store, access config.Access) error {
		if access.Environment != merchant.Sandbox {
			return errors.New("only a sandbox has a clock that can be moved")
		}
		movable := clock.NewMovable(clock.Real{}, st.ClockOffset)
		if err := movable.Refresh(p.ctx); err != nil {
			return err
		}
		now := movable.Now()
		by, err := c.distance(now)
		if err != nil {
			return err
		}
		if by != 0 {
			work := &billing.Billing{Checkout: useCases(st, access, movable)}
			banks := &banking.Banking{Checkout: work.Checkout, Logger: work.Checkout.Logger}
			if now, err = jobs.Advance(p.ctx, work, banks, movable, by); err != nil {
				return err
			}
		}
		ahead := now.Sub(clock.Real{}.Now()).Round(time.Second)
		return c.tell(p, map[string]any{"now": now, "ahead_seconds": ahead.Seconds()}, "%s (%s ahead of real time)", now.Format(time.RFC3339), ahead)
	})
}

// distance is how far the clock is to be moved.
func (c *clockCommand) distance(now time.Time) (time.Duration, error) {
	if c.To == "" {
		return c.Advance.after(now).Sub(now), nil
	}
	for _, form := range []string{time.DateOnly, time.RFC3339} {
		if to, err := time.Parse(form, c.To); err == nil {
			if to.Before(now) {
				return 0, fmt.Errorf("--to %s lies behind: the clock shows %s and is never moved back", c.To, now.UTC().Format(time.RFC3339))
			}
			return to.Sub(now), nil
		}
	}
	return 0, fmt.Errorf("--to %q is no day such as 2027-01-31 and no instant such as 2027-01-31T08:00:00Z", c.To)
}

// useCases is as much of the service as it takes to do its work from here.
func useCases(st *store.Store, access config.Access, service clock.Clock) *checkout.Checkout {
	quiet := slog.New(slog.DiscardHandler)
	return &checkout.Checkout{
		Store: st, Vault: access.Vault, Banks: sepa.EmbeddedBanks,
		Gateways:      gateway.NewPool(adapters.All(ledgerdb.New(st.DB, access.Vault), sandbox.Options{}), gateway.Options{Logger: quiet}),
		Announcements: ledgerdb.New(st.DB, access.Vault).Announcements, NextAnnouncement: ledgerdb.New(st.DB, access.Vault).NextAnnouncement,
		Clock: service, Real: clock.Real{}, Own: clock.Own{}, Logger: quiet, Environment: access.Environment,
		SessionTTL: checkout.DefaultSessionTTL, GatewayTimeout: gateway.DefaultTimeout,
		LookupSchedule: checkout.DefaultLookupSchedule(), Dunning: access.Dunning, KeepSubscriptions: access.KeepSubscriptions,
	}
}
