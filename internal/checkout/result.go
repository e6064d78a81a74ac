package checkout

import (
	"time"

	"sepad/internal/merchant"
	"sepad/internal/payment"
)

// Result is what pay and verify answer (contract 2.9).
type Result struct {
	payment.Debit
	Status payment.ResultStatus
	// RetryAllowed is nil where the question does not arise.
	RetryAllowed *bool
	Livemode     bool
	AdapterName  string
	Gateway      merchant.GatewayAccount
}

// result dresses a settled payment for the caller. One that somebody else has
// settled meanwhile is shown as they have left it.
func (c *Checkout) result(setup *merchant.Setup, settled payment.Change) (Result, error) {
	if settled.Result != "" {
		return c.dress(setup, settled.Debit, settled.Result, settled.Session.UpdatedAt)
	}
	now := c.now()
	status, err := settled.ResultAt(now)
	if err != nil {
		return Result{}, err
	}
	return c.dress(setup, settled.Debit, status, now)
}

// dress adds to a payment what its gateway account says, and whether it may be
// tried again.
func (c *Checkout) dress(setup *merchant.Setup, d payment.Debit, status payment.ResultStatus, now time.Time) (Result, error) {
	client, account, err := c.Account(setup, d.Session.GatewayID)
	if err != nil {
		return Result{}, err
	}
	r := Result{Debit: d, Status: status, Livemode: c.livemode(client, account), AdapterName: client.Kind().DisplayName, Gateway: account}
	if status == payment.ResultDeclined || status == payment.ResultFailed {
		allowed := d.Session.CheckPayable(now) == nil
		r.RetryAllowed = &allowed
	}
	return r, nil
}
