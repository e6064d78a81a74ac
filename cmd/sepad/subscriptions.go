package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/payment"
)

type subscriptionsCommand struct {
	List     subscriptionsListCommand     `cmd:"" help:"List subscriptions, the newest first."`
	Show     subscriptionsShowCommand     `cmd:"" help:"Show one with all that is known of it."`
	Timeline subscriptionsTimelineCommand `cmd:"" help:"Show what happened to one, in order."`
	Preview  subscriptionsPreviewCommand  `cmd:"" help:"Show the next 24 billing dates of a subscription."`
	Cancel   subscriptionsCancelCommand   `cmd:"" help:"Cancel a subscription, at once or with its period; nothing is billed afterwards."`
	Pause    subscriptionsPauseCommand    `cmd:"" help:"Pause a subscription: nothing is billed until it is resumed."`
	Resume   subscriptionsResumeCommand   `cmd:"" help:"Resume a subscription that is paused, or that ends with its period."`
	Change   subscriptionsChangeCommand   `cmd:"" help:"Change what a subscription costs, or when it is billed next."`
}

type subscriptionsListCommand struct {
	Status      string `name:"status" query:"status" placeholder:"STATUS" help:"ACTIVE, PAST_DUE or CANCELLED."`
	Gateway     string `name:"gateway" short:"g" query:"payment_gateway_id" placeholder:"ID" help:"Those of a gateway."`
	OrderNumber string `name:"order-number" query:"order_number" placeholder:"ORD-…" help:"The one of an order."`
	Email       string `name:"email" query:"email" placeholder:"ADDRESS" help:"Those of a person."`
	listFlags
}

func (c *subscriptionsListCommand) Run(p *program) error {
	return c.list(p, c, "subscriptions/",
		"id status billing_amount+currency billing_frequency next_billing_date successful_billing_count failed_billing_count total_revenue")
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
	outputFlag
	dataFlags
}

// subscription is what commands say of one.
type subscription struct {
	Status          payment.SubscriptionStatus `json:"status"`
	Amount          string                     `json:"billing_amount"`
	Currency        string                     `json:"currency"`
	NextBillingDate string                     `json:"next_billing_date"`
	EndsOn          string                     `json:"ends_on"`
	PausedAt        string                     `json:"paused_at"`
	CancelledAt     string                     `json:"cancelled_at"`
}

// ask calls the API about the subscription.
func (f subscriptionFlags) ask(p *program, method, action string, body any, answer func(json.RawMessage) error) error {
	id, err := uuid.Parse(f.ID)
	if err != nil {
		return fmt.Errorf("%q is no id of a subscription", f.ID)
	}
	return f.office(p, func(o *office) error {
		record, err := o.ask(method, "subscriptions/"+id.String()+"/"+action, nil, body)
		if isNotFound(err) {
			return fmt.Errorf("there is no subscription %s", id)
		}
		if err != nil {
			return err
		}
		return answer(record)
	})
}

// steer changes the subscription, and says what it has become.
func (f subscriptionFlags) steer(p *program, action string, body any, sentence func(subscription) string) error {
	return f.ask(p, http.MethodPost, action+"/", body, func(record json.RawMessage) error {
		var s subscription
		if err := json.Unmarshal(record, &s); err != nil {
			return err
		}
		return f.tell(p, record, "%s %s.", f.ID, sentence(s))
	})
}

type subscriptionsShowCommand struct{ subscriptionFlags }

func (c *subscriptionsShowCommand) Run(p *program) error {
	return c.ask(p, http.MethodGet, "", nil, func(record json.RawMessage) error { return p.printAnswer(c.JSON, record) })
}

type subscriptionsPreviewCommand struct {
	Format string `name:"format" enum:"table,json" default:"table" placeholder:"table|json" help:"Form of the list; json gives the dates alone (default: table)."`
	subscriptionFlags
}

func (subscriptionsPreviewCommand) Help() string {
	return "The dates hold as long as every collection succeeds; one that is refused is tried again on other days. Money moves on the due date, the next TARGET2 business day."
}

func (c *subscriptionsPreviewCommand) Run(p *program) error {
	return c.ask(p, http.MethodGet, "preview/", nil, func(record json.RawMessage) error {
		var preview struct {
			Status   payment.SubscriptionStatus
			Amount   string
			Currency string
			Dates    []string
			DueDates []string `json:"due_dates"`
		}
		err := json.Unmarshal(record, &preview)
		switch {
		case err != nil:
			return err
		case c.JSON:
			return p.printJSON(record)
		case c.Format == "json":
			return p.printJSON(preview.Dates)
		case len(preview.Dates) == 0:
			fmt.Fprintf(p.stderr, "The subscription is %s and has no billing dates.\n", preview.Status)
		}
		for i, date := range preview.Dates {
			due, err := payment.ParseDate(preview.DueDates[i])
			if err != nil {
				return err
			}
			fmt.Fprintf(p.stdout, "%s  due %s  %s  %s %s\n", date, due, due.Start().Format("Mon"), preview.Amount, preview.Currency)
		}
		return nil
	})
}

type subscriptionsCancelCommand struct {
	At string `name:"at" enum:"now,period_end" default:"now" placeholder:"now|period_end" help:"When it ends (default: now)."`
	subscriptionFlags
}

func (subscriptionsCancelCommand) Help() string {
	return "A rebill that is at the gateway at this moment is still settled by the gateway's answer."
}

func (c *subscriptionsCancelCommand) Run(p *program) error {
	return c.steer(p, "cancel", map[string]string{"at": c.At}, func(s subscription) string {
		if c.At == "period_end" {
			return "ends on " + s.EndsOn
		}
		return fmt.Sprintf("is %s since %s", s.Status, s.CancelledAt)
	})
}

type subscriptionsPauseCommand struct{ subscriptionFlags }

func (c *subscriptionsPauseCommand) Run(p *program) error {
	return c.steer(p, "pause", nil, func(s subscription) string { return "is paused since " + s.PausedAt })
}

type subscriptionsResumeCommand struct{ subscriptionFlags }

func (subscriptionsResumeCommand) Help() string {
	return "Periods that have begun meanwhile are not billed; one that is owed is tried again at once."
}

func (c *subscriptionsResumeCommand) Run(p *program) error {
	return c.steer(p, "resume", nil, func(s subscription) string { return "is billed next on " + orDash(s.NextBillingDate) })
}

type subscriptionsChangeCommand struct {
	Amount          string `name:"amount" placeholder:"AMOUNT" help:"What each period costs, from the first one on that has not been tried yet."`
	NextBillingDate string `name:"next-billing-date" placeholder:"DATE" help:"When it is billed next, YYYY-MM-DD; its rhythm counts from then on."`
	subscriptionFlags
}

func (c *subscriptionsChangeCommand) Run(p *program) error {
	body := map[string]string{}
	if c.Amount != "" {
		body["amount"] = c.Amount
	}
	if c.NextBillingDate != "" {
		if _, err := payment.ParseDate(c.NextBillingDate); err != nil {
			return fmt.Errorf("--next-billing-date %q is no date in the form YYYY-MM-DD", c.NextBillingDate)
		}
		body["next_billing_date"] = c.NextBillingDate
	}
	if len(body) == 0 {
		return errors.New("say what changes with --amount or --next-billing-date")
	}
	return c.steer(p, "change", body, func(s subscription) string {
		return fmt.Sprintf("costs %s %s and is billed next on %s", s.Amount, s.Currency, orDash(s.NextBillingDate))
	})
}
