package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/config"
	"sepad/internal/payment"
	"sepad/internal/setup"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/webhook"
)

type webhooksCommand struct {
	List   webhooksListCommand   `cmd:"" help:"List deliveries, the newest first, with their last attempt."`
	Resend webhooksResendCommand `cmd:"" help:"Send events again: some by id, or all failed ones of a profile."`
	Rotate webhooksRotateCommand `cmd:"" name:"rotate-secret" help:"Give a webhook profile a new signing secret."`
	Verify webhooksVerifyCommand `cmd:"" help:"Compute or check the signature of a body given on standard input."`
}

type webhooksListCommand struct {
	Profile string `name:"profile" placeholder:"ID" help:"Of one webhook profile."`
	Status  string `name:"status" enum:"pending,delivered,failed," default:"" placeholder:"STATUS" help:"Only those that are pending, delivered or failed."`
	Event   string `name:"event" placeholder:"KIND" help:"Only one kind of event, such as payment_session.completed."`
	Limit   int    `name:"limit" default:"50" help:"How many at most (default: 50)."`
	Format  string `name:"format" enum:"table,json" default:"table" placeholder:"table|json" help:"Form of the list (default: table)."`
	tenantFlag
	outputFlag
	dataFlags
}

func (c *webhooksListCommand) Run(p *program) error {
	filter := listing.DeliveryFilter{Status: store.DeliveryStatus(c.Status), Kind: payment.EventKind(c.Event)}
	if c.Profile != "" {
		id, err := uuid.Parse(c.Profile)
		if err != nil {
			return fmt.Errorf("%q is no id of a webhook profile", c.Profile)
		}
		filter.ProfileID = id
	}
	return c.use(p, func(st *store.Store, _ config.Access) error {
		records, err := c.read(p, st, filter)
		if err != nil {
			return err
		}
		if c.JSON || c.Format == "json" {
			return printDeliveriesJSON(p, records)
		}
		return printDeliveries(p.stdout, records)
	})
}

func (c *webhooksListCommand) read(p *program, st *store.Store, filter listing.DeliveryFilter) ([]listing.DeliveryRecord, error) {
	page := listing.Paging{Limit: max(1, c.Limit)}
	if c.Tenant == "" {
		return listing.AllDeliveries(p.ctx, st, filter, page)
	}
	tenant, err := setup.FindTenant(p.ctx, st, c.Tenant)
	if err != nil {
		return nil, err
	}
	return listing.Deliveries(p.ctx, st.Tenant(tenant.ID), filter, page)
}

func printDeliveries(out io.Writer, records []listing.DeliveryRecord) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tEVENT\tCREATED\tSTATUS\tATTEMPTS\tLAST\tNEXT")
	for _, r := range records {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n",
			r.EventID, r.Kind, day(r.CreatedAt), r.Status, len(r.Attempts), lastAttempt(r), day(r.NextAttemptAt))
	}
	return table.Flush()
}

// lastAttempt says what came of it in a word or a sentence.
func lastAttempt(r listing.DeliveryRecord) string {
	if len(r.Attempts) == 0 {
		return "-"
	}
	last := r.Attempts[len(r.Attempts)-1]
	if last.Error != "" {
		return last.Error
	}
	return fmt.Sprint(last.StatusCode)
}

// deliveryLine is a delivery for programs.
type deliveryLine struct {
	ID               uuid.UUID            `json:"id"`
	Event            payment.EventKind    `json:"event"`
	TenantID         uuid.UUID            `json:"tenant_id"`
	WebhookProfileID uuid.UUID            `json:"webhook_profile_id"`
	Status           store.DeliveryStatus `json:"status"`
	CreatedAt        time.Time            `json:"created_at"`
	NextAttemptAt    *time.Time           `json:"next_attempt_at"`
	Attempts         int                  `json:"attempts"`
	Last             string               `json:"last"`
}

func printDeliveriesJSON(p *program, records []listing.DeliveryRecord) error {
	lines := make([]deliveryLine, len(records))
	for i, r := range records {
		lines[i] = deliveryLine{
			ID: r.EventID, Event: r.Kind, TenantID: r.TenantID, WebhookProfileID: r.ProfileID, Status: r.Status,
			CreatedAt: r.CreatedAt, Attempts: len(r.Attempts), Last: lastAttempt(r),
		}
		if !r.NextAttemptAt.IsZero() {
			lines[i].NextAttemptAt = &r.NextAttemptAt
		}
	}
	return p.printJSON(lines)
}

type webhooksResendCommand struct {
	IDs    []string  `arg:"" optional:"" name:"id" help:"Deliveries, by id."`
	Failed string    `name:"failed" placeholder:"PROFILE-ID" help:"All failed deliveries of this webhook profile."`
	From   time.Time `name:"from" format:"2006-01-02T15:04:05Z07:00" placeholder:"INSTANT" help:"With --failed: events created from this instant, such as 2026-03-31T12:00:00Z."`
	To     time.Time `name:"to" format:"2006-01-02T15:04:05Z07:00" placeholder:"INSTANT" help:"With --failed: events created until this instant."`
	outputFlag
	dataFlags
}

func (webhooksResendCommand) Help() string {
	return "The running service sends them, as the same events with the same ids."
}

// Validate is asked while the command line is read: what it says is wrong usage.
func (c *webhooksResendCommand) Validate() error {
	switch {
	case (c.Failed == "") == (len(c.IDs) == 0):
		return errors.New("name deliveries by id, or a webhook profile with --failed")
	case c.Failed == "" && !(c.From.IsZero() && c.To.IsZero()):
		return errors.New("--from and --to belong to --failed")
	}
	for _, text := range c.IDs {
		if _, err := uuid.Parse(text); err != nil {
			return fmt.Errorf("%q is no id of a delivery", text)
		}
	}
	if _, err := uuid.Parse(c.Failed); c.Failed != "" && err != nil {
		return fmt.Errorf("%q is no id of a webhook profile", c.Failed)
	}
	return nil
}

func (c *webhooksResendCommand) Run(p *program) error {
	return c.use(p, func(st *store.Store, _ config.Access) error {
		if c.Failed != "" {
			return c.resendFailed(p, st)
		}
		return c.resendEach(p, st)
	})
}

func (c *webhooksResendCommand) resendEach(p *program, st *store.Store) error {
	for _, text := range c.IDs {
		id := uuid.MustParse(text) // Validate has looked at it
		record, err := webhook.Resend(p.ctx, st, id, clock.Real{}.Now())
		if err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		if err := c.tell(p, map[string]any{"id": id, "event": record.Kind}, "%s (%s) is in line.", id, record.Kind); err != nil {
			return err
		}
	}
	return nil
}

func (c *webhooksResendCommand) resendFailed(p *program, st *store.Store) error {
	id := uuid.MustParse(c.Failed) // Validate has looked at it
	owner, _, found, err := st.RecordOwner(p.ctx, id)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("there is no webhook profile %s", id)
	}
	before := c.To
	if !before.IsZero() {
		before = before.Add(time.Second) // the second that was named belongs to the range
	}
	failed := store.FailedEvents{Endpoint: store.Endpoint{TenantID: owner, ProfileID: id}, From: c.From, Before: before}
	for n := 0; ; {
		resent, err := webhook.ResendFailed(p.ctx, st, failed, clock.Real{}.Now())
		n += resent.Count
		if err != nil {
			return fmt.Errorf("after %d deliveries: %w", n, err)
		}
		if resent.After == nil {
			return c.tell(p, map[string]int{"resent": n}, "%d deliveries are in line.", n)
		}
		failed.After = *resent.After
		if !c.JSON {
			fmt.Fprintf(p.stdout, "%d deliveries are in line, %d are left.\n", n, resent.Left)
		}
	}
}

type webhooksVerifyCommand struct {
	Secret    string `name:"secret" required:"" env:"SEPAD_WEBHOOK_SECRET" placeholder:"SECRET" help:"The signing secret of the webhook profile."`
	Signature string `name:"signature" placeholder:"HEX" help:"The X-Service-Signature that was received; without it the right one is printed."`
}

func (webhooksVerifyCommand) Help() string {
	return "The body is read from standard input, as it was received: sepad webhooks verify --secret whsec_… --signature 1f0c… < body.json"
}

// maxBody is far beyond the largest event.
const maxBody = 10 << 20

func (c *webhooksVerifyCommand) Run(p *program) error {
	body, err := io.ReadAll(io.LimitReader(p.stdin, maxBody))
	if err != nil {
		return err
	}
	if c.Signature == "" {
		return c.compute(p, body)
	}
	switch webhook.Verify(c.Secret, body, c.Signature) {
	case webhook.MatchBody:
		fmt.Fprintln(p.stdout, "The signature is right.")
	case webhook.MatchTrimmed:
		fmt.Fprintln(p.stdout, "The signature is right, without the white space around the body: it was not sent.")
	case webhook.MatchCanonical:
		fmt.Fprintln(p.stdout, "The signature is right for the canonical form of this JSON: the body was written anew after it was received.")
	default:
		return errors.New("the signature does not fit: the secret is another one, or the body was changed")
	}
	return nil
}

// compute prints the signature of the form that is sent.
func (c *webhooksVerifyCommand) compute(p *program, body []byte) error {
	canonical, err := webhook.Canonical(body)
	if err != nil {
		return fmt.Errorf("the body is not JSON that could have been sent: %w", err)
	}
	fmt.Fprintln(p.stdout, webhook.Sign(c.Secret, canonical))
	if string(canonical) != string(body) {
		fmt.Fprintln(p.stderr, "The body is not in canonical form; this is the signature of that form.")
	}
	return nil
}
