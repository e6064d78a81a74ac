package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"

	"sepad/internal/billing"
	"sepad/internal/config"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/store/listing"
)

type subscriptionsCommand struct {
	List    subscriptionsListCommand    `cmd:"" help:"List a tenant's subscriptions, the newest first."`
	Preview subscriptionsPreviewCommand `cmd:"" help:"Show the next 24 billing dates of a subscription."`
	Cancel  subscriptionsCancelCommand  `cmd:"" help:"Cancel a subscription, at once or with its period; nothing is billed afterwards."`
	Pause   subscriptionsPauseCommand   `cmd:"" help:"Pause a subscription: nothing is billed until it is resumed."`
	Resume  subscriptionsResumeCommand  `cmd:"" help:"Resume a subscription that is paused, or that ends with its period."`
	Change  subscriptionsChangeCommand  `cmd:"" help:"Change what a subscription costs, or when it is billed next."`
}

type subscriptionsListCommand struct {
	Status []string `name:"status" enum:"ACTIVE,PAST_DUE,CANCELLED" placeholder:"STATUS" help:"Only those that are ACTIVE, PAST_DUE or CANCELLED."`
	Limit  int      `name:"limit" default:"50" help:"How many at most (default: 50)."`
	tenantFlag
	dataFlags
}

func (c *subscriptionsListCommand) Run(p *program) error {
	var filter listing.SubscriptionFilter
	for _, status := range c.Status {
		filter.Statuses = append(filter.Statuses, payment.SubscriptionStatus(status))
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
		page, err := listing.Subscriptions(p.ctx, st.Tenant(tenant.ID), listing.Window{Before: service.Now().Add(time.Second), Limit: max(1, c.Limit)}, filter)
		if err != nil {
			return err
		}
		return printSubscriptions(p, tenant, page.Rows)
	})
}

func printSubscriptions(p *program, tenant merchant.Tenant, subscriptions []payment.Subscription) error {
	if len(subscriptions) == 0 {
		fmt.Fprintf(p.stderr, "%s has no such subscriptions.\n", tenant.Name)
		return nil
	}
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tSTATUS\tAMOUNT\tFREQUENCY\tNEXT\tBILLED\tFAILED\tREVENUE")
	for _, s := range subscriptions {
		fmt.Fprintf(table, "%s\t%s\t%s %s\t%s\t%s\t%d\t%d\t%s\n", s.ID, s.Status, s.AmountMinor, s.Currency,
			orDash(string(s.Frequency)), orDash(s.NextBillingDate.String()), s.SuccessfulCount, s.FailedCount, s.RevenueMinor)
	}
	return table.Flush()
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// subscriptionFlags name one subscription of any tenant.
type subscriptionFlags struct {
	ID string `arg:"" help:"The subscription, by its id."`
	dataFlags
}

// find opens the data and finds the subscription's owner.
func (f subscriptionFlags) find(p *program, work func(b *billing.Billing, tenantID, id uuid.UUID) error) error {
	id, err := uuid.Parse(f.ID)
	if err != nil {
		return fmt.Errorf("%q is no id of a subscription", f.ID)
	}
	return f.use(p, func(st *store.Store, access config.Access) error {
		tenantID, err := st.SubscriptionOwner(p.ctx, id)
		if err != nil {
			return fmt.Errorf("there is no subscription %s", id)
		}
		service, err := serviceClock(p, st, access)
		if err != nil {
			return err
		}
		return work(&billing.Billing{Checkout: useCases(st, access, service)}, tenantID, id)
	})
}

type subscriptionsPreviewCommand struct {
	Format string `name:"format" enum:"table,json" default:"table" placeholder:"table|json" help:"Form of the list (default: table)."`
	subscriptionFlags
}

func (subscriptionsPreviewCommand) Help() string {
	return "The dates hold as long as every collection succeeds; one that is refused is tried again on other days. Money moves on the due date, the next TARGET2 business day."
}

func (c *subscriptionsPreviewCommand) Run(p *program) error {
	return c.find(p, func(b *billing.Billing, tenantID, id uuid.UUID) error {
		sub, dates, err := b.Preview(p.ctx, tenantID, id)
		if err != nil {
			return err
		}
		if c.Format == "json" {
			return printDatesJSON(p, dates)
		}
		if len(dates) == 0 {
			fmt.Fprintf(p.stderr, "The subscription is %s and has no billing dates.\n", sub.Status)
			return nil
		}
		for _, date := range dates {
			due := date.DueDate()
			fmt.Fprintf(p.stdout, "%s  due %s  %s  %s %s\n", date, due, due.Start().Format("Mon"), sub.AmountMinor, sub.Currency)
		}
		return nil
	})
}

func printDatesJSON(p *program, dates []payment.Date) error {
	texts := make([]string, len(dates))
	for i, date := range dates {
		texts[i] = date.String()
	}
	encoder := json.NewEncoder(p.stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(texts)
}

type subscriptionsCancelCommand struct {
	At string `name:"at" enum:"now,period_end" default:"now" placeholder:"now|period_end" help:"When it ends (default: now)."`
	subscriptionFlags
}

func (subscriptionsCancelCommand) Help() string {
	return "A rebill that is at the gateway at this moment is still settled by the gateway's answer."
}

func (c *subscriptionsCancelCommand) Run(p *program) error {
	return c.find(p, func(b *billing.Billing, tenantID, id uuid.UUID) error {
		if c.At == "period_end" {
			ending, err := b.CancelAtPeriodEnd(p.ctx, tenantID, id, payment.CancelledByOperator)
			if err != nil {
				return err
			}
			fmt.Fprintf(p.stdout, "%s ends on %s.\n", ending.ID, ending.EndsOn)
			return nil
		}
		cancelled, err := b.Cancel(p.ctx, tenantID, id, payment.CancelledByOperator)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "%s is %s since %s.\n", cancelled.ID, cancelled.Status, cancelled.CancelledAt.Format(time.RFC3339))
		return nil
	})
}

type subscriptionsPauseCommand struct{ subscriptionFlags }

func (c *subscriptionsPauseCommand) Run(p *program) error {
	return c.find(p, func(b *billing.Billing, tenantID, id uuid.UUID) error {
		paused, err := b.PauseSubscription(p.ctx, tenantID, id)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "%s is paused since %s.\n", paused.ID, paused.PausedAt.Format(time.RFC3339))
		return nil
	})
}

type subscriptionsResumeCommand struct{ subscriptionFlags }

func (subscriptionsResumeCommand) Help() string {
	return "Periods that have begun meanwhile are not billed; one that is owed is tried again at once."
}

func (c *subscriptionsResumeCommand) Run(p *program) error {
	return c.find(p, func(b *billing.Billing, tenantID, id uuid.UUID) error {
		resumed, err := b.ResumeSubscription(p.ctx, tenantID, id)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "%s is billed next on %s.\n", resumed.ID, orDash(resumed.NextBillingDate.String()))
		return nil
	})
}

type subscriptionsChangeCommand struct {
	Amount          string `name:"amount" placeholder:"AMOUNT" help:"What each period costs, from the first one on that has not been tried yet."`
	NextBillingDate string `name:"next-billing-date" placeholder:"DATE" help:"When it is billed next, YYYY-MM-DD; its rhythm counts from then on."`
	subscriptionFlags
}

func (c *subscriptionsChangeCommand) Run(p *program) error {
	var to payment.NewTerms
	if c.Amount != "" {
		amount, err := payment.ParseMinor(c.Amount)
		if err != nil || amount == 0 {
			return fmt.Errorf("--amount %q is no amount above 0, such as 29.99", c.Amount)
		}
		to.AmountMinor = &amount
	}
	if c.NextBillingDate != "" {
		day, err := payment.ParseDate(c.NextBillingDate)
		if err != nil {
			return fmt.Errorf("--next-billing-date %q is no date in the form YYYY-MM-DD", c.NextBillingDate)
		}
		to.NextBillingDate = day
	}
	if to == (payment.NewTerms{}) {
		return errors.New("say what changes with --amount or --next-billing-date")
	}
	return c.find(p, func(b *billing.Billing, tenantID, id uuid.UUID) error {
		changed, err := b.ChangeTerms(p.ctx, tenantID, id, to)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "%s costs %s %s and is billed next on %s.\n", changed.ID, changed.AmountMinor, changed.Currency, orDash(changed.NextBillingDate.String()))
		return nil
	})
}
