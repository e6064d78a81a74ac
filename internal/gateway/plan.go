package gateway

import (
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
}

// Planner is how the gateway plans collections, false for one that does not.
func (c *Client) Planner() (Planner, bool) {
	planner, plans := c.adapter.(Planner)
	return planner, plans
}
