package checkout

import (
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
	now := settled.Session.UpdatedAt
	client, account, err := c.Account(setup, settled.Session.GatewayID)
	if err != nil {
		return Result{}, err
	}
	r := Result{
		Debit: settled.Debit, Status: settled.Result, Livemode: c.livemode(client, account),
		AdapterName: client.Kind().DisplayName, Gateway: account,
	}
	if r.Status == "" {
		now = c.now()
		if r.Status, err = settled.ResultAt(now); err != nil {
			return Result{}, err
		}
	}
	if r.Status == payment.ResultDeclined || r.Status == payment.ResultFailed {
		allowed := settled.Session.CheckPayable(now) == nil
		r.RetryAllowed = &allowed
	}
	return r, nil
}
