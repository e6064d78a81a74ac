package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"sepad/internal/checkout"
	"sepad/internal/clock"
	"sepad/internal/config"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/record"
	"sepad/internal/store"
)

type refundCommand struct {
	Transaction string `arg:"" help:"The payment, by its id or its merchant_transaction_id."`
	Amount      string `name:"amount" placeholder:"5.00" help:"How much to give back; all that is left when not given."`
	outputFlag
	dataFlags
}

func (refundCommand) Help() string {
	return "The refund goes through the payment's gateway and is recorded before that is asked, so that an interrupted command never refunds twice: what became of it is found out by the server."
}

func (c *refundCommand) Run(p *program) error {
	amount, err := c.amount()
	if err != nil {
		return err
	}
	return c.use(p, func(st *store.Store, access config.Access) error {
		service, err := serviceClock(p, st, access)
		if err != nil {
			return err
		}
		work := useCases(st, access, service)
		tenantID, id, err := findPayment(p, st, c.Transaction)
		if err != nil {
			return err
		}
		refund, err := work.Refund(p.ctx, tenantID, id, checkout.RefundRequest{AmountMinor: amount}, store.RequestKey{})
		if err != nil {
			return err
		}
		return c.tellOf(p, refund)
	})
}

func (c *refundCommand) amount() (*payment.Minor, error) {
	if c.Amount == "" {
		return nil, nil
	}
	amount, err := payment.ParseMinor(c.Amount)
	if err == nil && amount == 0 {
		err = errors.New("it must be more than 0")
	}
	if err != nil {
		return nil, fmt.Errorf("--amount %s: %w", c.Amount, err)
	}
	return &amount, nil
}

func (c *refundCommand) tellOf(p *program, refund payment.Transaction) error {
	if refund.IsDeclined() {
		return fmt.Errorf("the gateway refused the refund %s: %s", refund.MerchantTransactionID, refund.Decline.Words())
	}
	return c.tell(p, json.RawMessage(record.Transactions.AppendJSON(nil, &refund)),
		"%s %s refunded: %s (%s).", refund.AmountMinor, refund.Currency, refund.MerchantTransactionID, refund.Status)
}

// serviceClock is the time that the service goes by.
func serviceClock(p *program, st *store.Store, access config.Access) (clock.Clock, error) {
	if access.Environment != merchant.Sandbox {
		return clock.Real{}, nil
	}
	movable := clock.NewMovable(clock.Real{}, st.ClockOffset)
	return movable, movable.Refresh(p.ctx)
}

// findPayment finds a payment of any tenant by either of its names.
func findPayment(p *program, st *store.Store, name string) (tenantID, id uuid.UUID, err error) {
	if id, err := uuid.Parse(name); err == nil {
		tenantID, err := st.TransactionOwner(p.ctx, id)
		return tenantID, id, err
	}
	tenants, err := st.Tenants(p.ctx)
	if err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	for _, tenant := range tenants {
		found, err := st.Tenant(tenant.ID).DebitByMerchantID(p.ctx, strings.TrimSpace(name))
		if err == nil {
			return tenant.ID, found.Transaction.ID, nil
		}
		if payment.KindOf(err) != payment.NotFound {
			return uuid.Nil, uuid.Nil, err
		}
	}
	return uuid.Nil, uuid.Nil, fmt.Errorf("there is no transaction %q", name)
}
