package checkout

import (
	"context"
	"time"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/webhook"
)

// Result is what pay and verify answer (contract 2.9).
type Result struct {
	payment.Purchase
	Status payment.ResultStatus
	// RetryAllowed is nil where the question does not arise.
	RetryAllowed *bool
	Livemode     bool
	AdapterName  string
	Gateway      merchant.GatewayAccount
}

// result dresses a settlement for the caller.
func (c *Checkout) result(setup *merchant.Setup, s payment.Settlement, now time.Time) (Result, error) {
	client, account, err := c.Account(setup, s.Session.GatewayID)
	if err != nil {
		return Result{}, err
	}
	r := Result{
		Purchase: s.Purchase, Status: s.Result, Livemode: c.livemode(client, account),
		AdapterName: client.Kind().DisplayName, Gateway: account,
	}
	if s.Result == payment.ResultDeclined || s.Result == payment.ResultFailed {
		allowed := s.Session.CheckPayable(now) == nil
		r.RetryAllowed = &allowed
	}
	return r, nil
}

// present answers for an attempt that somebody else has settled meanwhile, with
// what they have made of it.
func (c *Checkout) present(ctx context.Context, setup *merchant.Setup, p payment.Purchase) (Result, error) {
	stored, err := c.Store.Tenant(p.Session.TenantID).Purchase(ctx, p.Transaction.ID)
	if err != nil {
		return Result{}, err
	}
	now := c.now()
	status, err := payment.ResultOf(stored, now)
	if err != nil {
		return Result{}, err
	}
	return c.result(setup, payment.Settlement{Purchase: stored, Result: status}, now)
}

// eventRows renders a settlement's events and says where each one goes.
func eventRows(setup *merchant.Setup, s payment.Settlement) ([]store.EventRow, error) {
	rows := make([]store.EventRow, len(s.Events))
	for i, event := range s.Events {
		payload, err := webhook.Payload(s, event)
		if err != nil {
			return nil, err
		}
		rows[i] = store.EventRow{
			Event: event, Payload: payload, WebhookProfileID: profileFor(setup, s.Session.WebhookProfileID, event.Kind),
		}
	}
	return rows, nil
}
