package gateway

import (
	"fmt"
	"time"

	"sepad/internal/merchant"
	"sepad/internal/payment"
)

// Planner is a gateway that collects on days which it knows beforehand, so that
// payers can be told of them in time.
type Planner interface {
	// Plan says who collects a payment of which the payer is told at an instant, and
	// when: not before a day from which it is owed, none for at once.
	Plan(tenant merchant.Tenant, told time.Time, owedFrom payment.Date) payment.Plan
	// PreparesAt is when the rebills of a billing date are to be handed in, so that
	// payers are told in time; PreparesUntil is the last billing date whose rebills
	// are at an instant.
	PreparesAt(billing payment.Date) time.Time
	PreparesUntil(at time.Time) payment.Date
	// NoticeDays is how many days before a debit payers are told of it.
	NoticeDays() int
}

// Planner is how the gateway plans collections, false for one that does not.
func (c *Client) Planner() (Planner, bool) {
	planner, plans := c.adapter.(Planner)
	return planner, plans
}

// Planner is how an account would plan, false for one that does not, or that cannot
// be opened.
func (k Kind) Planner(account Account) (Planner, bool) {
	planner, plans := k.opened(account).(Planner)
	return planner, plans
}

// opened is an account's adapter, nil for one that cannot be opened.
func (k Kind) opened(account Account) Adapter {
	values, read := readSettings(k.Settings, account.Settings)
	if len(read.unknown)+len(read.wrong) > 0 {
		return nil
	}
	adapter, err := k.New(account, values)
	if err != nil {
		return nil
	}
	return adapter
}

// Fetcher is a gateway whose answers are fetched at a place, and taken away once they are read.
type Fetcher interface {
	// Inbox names the place: two accounts that have the same would take each other's answers away.
	Inbox() string
}

// Inbox is where an account would fetch answers, "" for one that does not, or that cannot be
// opened.
func (k Kind) Inbox(account Account) string {
	if fetcher, fetches := k.opened(account).(Fetcher); fetches {
		return fetcher.Inbox()
	}
	return ""
}

// TooOften says in a sentence that a rhythm is too fast for a notice: the next debit
// would have to be told before the period ahead of it has begun, and every one would
// come later than the one before. "" is for one that fits.
func TooOften(p Planner, rhythm payment.BillingFrequency) string {
	if rhythm == "" || p.NoticeDays() < rhythm.LeastDays() {
		return ""
	}
	return fmt.Sprintf("The gateway tells payers %d days before each debit (notice_days), which does not fit into a period of %d days.",
		p.NoticeDays(), rhythm.LeastDays())
}
