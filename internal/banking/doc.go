// Package banking collects through merchants' own banks: what waits becomes files, files go to the bank, and what the
// bank answers becomes the fate of payments.
//
//	collect.go   at each cut-off: what waits is taken into a file, a batch in each transaction
//	compose.go   the file's bytes are made, once, and kept in parts
//	deliver.go   the file is put where the bank fetches it: under another name first, then under its own
//	place        where that is, and where the bank's answers lie: a folder, or the bank's server
//	read.go      a bank's answer, as a stream; item.go takes its lines in batches, match.go finds the collections
//	             that fit, choose.go the one that is meant, apply.go says what follows
//	amend.go     what a bank is told once when it changes under a mandate
//	preview.go   what the next file would hold, and what a bank would refuse
//	answer.go    the sandbox's bank
//	adopt.go     after a restore: what has left since the backup
//
// Three rules keep money right. A collection is taken by the transaction that gives it its place in a file, and
// can be in one file only. A file's bytes are made once and delivered from where they are kept, so that delivering it
// again sends the same message, which a bank takes once. What a bank says goes through the same rules as what any gateway says (package checkout), so
// that hearing it twice, late or in another order changes nothing.
package banking

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"sepad/internal/checkout"
	"sepad/internal/gateway/bank"
	"sepad/internal/gateway/bank/terms"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// Banking holds what the use cases share.
type Banking struct {
	Checkout *checkout.Checkout
	Logger   *slog.Logger
	// Silence is how long a bank's server may say nothing while it is waited for. 0 is the usual.
	Silence time.Duration
	// doors are the banks' servers, each with who is there.
	doors sync.Map
	// stays are large answers that were read and cannot be taken away.
	stays sync.Map
}

// Account is a gateway account at a bank, with what was agreed there.
type Account struct {
	ID    uuid.UUID
	Name  string
	Setup *merchant.Setup
	Terms terms.Terms
}

// ErrNoBank is the answer for a gateway that nobody has, or that is no bank.
var ErrNoBank = &payment.Error{Kind: payment.NotFound, Detail: "Bank gateway not found"}

// store and tenant shorten what every use case needs.
func (b *Banking) store() *store.Store { return b.Checkout.Store }

func (b *Banking) tenant(account *Account) store.Tenant {
	return b.store().Tenant(account.Setup.Tenant.ID)
}

// AccountOf finds an account at a bank by its tenant and id.
func (b *Banking) AccountOf(ctx context.Context, tenantID, gatewayID uuid.UUID) (*Account, error) {
	setup, err := b.Checkout.SetupOf(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	found, known := setup.Gateways[gatewayID]
	if !known || found.Adapter != bank.Name {
		return nil, ErrNoBank
	}
	client, _, err := b.Checkout.Account(setup, gatewayID)
	if err != nil {
		return nil, fmt.Errorf("gateway %s: %w", found.Name, err)
	}
	adapter, isBank := client.Adapter().(*bank.Adapter)
	if !isBank {
		return nil, ErrNoBank
	}
	account := &Account{ID: gatewayID, Name: found.Name, Setup: setup}
	if account.Terms, err = adapter.Terms.For(setup.Tenant); err != nil {
		return nil, fmt.Errorf("gateway %s: %w", found.Name, err)
	}
	return account, nil
}

// Find finds an account at a bank by its id or its name, among all tenants.
func (b *Banking) Find(ctx context.Context, name string) (*Account, error) {
	tenants, err := b.store().Tenants(ctx)
	if err != nil {
		return nil, err
	}
	var called []store.BankDue
	for _, tenant := range tenants {
		setup, err := b.Checkout.SetupOf(ctx, tenant.ID)
		if err != nil {
			return nil, err
		}
		for id, account := range setup.Gateways {
			switch {
			case account.Adapter != bank.Name:
			case id.String() == name:
				return b.AccountOf(ctx, tenant.ID, id) // whichever else is called so
			case account.Name == name:
				called = append(called, store.BankDue{TenantID: tenant.ID, GatewayID: id})
			}
		}
	}
	switch len(called) {
	case 0:
		return nil, fmt.Errorf("there is no bank gateway %q", name)
	case 1:
		return b.AccountOf(ctx, called[0].TenantID, called[0].GatewayID)
	default:
		return nil, fmt.Errorf("there are several bank gateways called %q: give the id", name)
	}
}

// silentBatch bounds how many collections are settled by silence between two looks.
const silentBatch = 200

// RunDue does what has fallen due by an instant of the service's time: what ended subscriptions would have owed is
// withdrawn, files whose cut-off has come are written, files
// that wait are delivered, and collections of which nothing was heard long enough are settled. It says how much was
// done; what one process does, another finds done.
func (b *Banking) RunDue(ctx context.Context, now time.Time) (int, error) {
	done, failed := b.Checkout.WithdrawEnded(ctx, now)
	waiting, err := b.store().CollectionsWaiting(ctx)
	if err != nil {
		return done, errors.Join(failed, err)
	}
	for _, one := range waiting {
		account, err := b.AccountOf(ctx, one.TenantID, one.GatewayID)
		if errors.Is(err, ErrNoBank) {
			continue // another gateway's payments, which it is asked about
		}
		var files []store.BankFile
		isProven := false
		if err == nil {
			isProven, err = b.proven(ctx, account)
		}
		if isProven {
			files, err = b.collectDue(ctx, account, now)
		}
		failed = errors.Join(failed, err)
		done += len(files)
	}
	var delivered, settled int
	err = b.sideBySide(ctx,
		func() (err error) { delivered, err = b.Deliver(ctx, now); return err },
		func() (err error) { settled, err = b.settleSilent(ctx, now); return err })
	return done + delivered + settled, errors.Join(failed, err)
}

// settleSilent takes silence for what was agreed that it means. A bank that cannot be heard is not silent: what it has said
// is read first, and where that cannot be done its payments wait.
func (b *Banking) settleSilent(ctx context.Context, now time.Time) (done int, failed error) {
	silent, err := b.store().SilentAccounts(ctx, now)
	if err != nil {
		return 0, err
	}
	var all atomic.Int64
	failed = inLanes(ctx, b, silent, func(one store.BankDue) error {
		settled, err := b.settleSilentAt(ctx, one, now)
		all.Add(int64(settled))
		return err
	})
	return int(all.Load()), failed
}

func (b *Banking) settleSilentAt(ctx context.Context, at store.BankDue, now time.Time) (done int, err error) {
	account, err := b.AccountOf(ctx, at.TenantID, at.GatewayID)
	switch {
	case errors.Is(err, ErrNoBank): // it was one, and nothing can come any more
	case err != nil:
		return 0, err
	default:
		if _, err := b.Receive(ctx, account); err != nil {
			return 0, fmt.Errorf("gateway %s: payments wait, because what the bank says of them cannot be read: %w", account.Name, err)
		}
	}
	for {
		due, err := b.store().SilentDue(ctx, at, now, silentBatch+b.Checkout.Aside.Len(b.Checkout.Real.Now()))
		if err != nil {
			return done, err
		}
		settled, err := b.settleTogether(ctx, at.TenantID, b.unhindered(due))
		if err != nil {
			return done, err
		}
		if done += settled; settled == 0 {
			return done, b.endFiles(ctx, at, now)
		}
	}
}

// unhindered has payments settled, but for those that failed before.
func (b *Banking) unhindered(due []uuid.UUID) (reports []checkout.Report) {
	for _, id := range due {
		if !b.Checkout.Aside.Holds(id, b.Checkout.Real.Now()) {
			reports = append(reports, checkout.Report{TransactionID: id, Outcome: payment.Outcome{Verdict: payment.VerdictApproved}})
		}
	}
	return reports
}

// settleTogether settles a tenant's payments; one that cannot be is set aside.
func (b *Banking) settleTogether(ctx context.Context, tenantID uuid.UUID, reports []checkout.Report) (done int, err error) {
	setup, err := b.Checkout.SetupOf(ctx, tenantID)
	if err != nil {
		return 0, err
	}
	err = apart(reports, func(some []checkout.Report) error {
		refused, err := b.Checkout.SettleReported(ctx, setup, some)
		for i, why := range refused {
			if why != nil {
				b.Checkout.SetAside(ctx, tenantID, some[i].TransactionID, why)
			} else {
				done++
			}
		}
		return err
	}, func(one checkout.Report, why error) error {
		b.Checkout.SetAside(ctx, tenantID, one.TransactionID, why)
		return nil
	})
	return done, err
}

// endFiles marks the files of an account in which nothing is open any more.
func (b *Banking) endFiles(ctx context.Context, at store.BankDue, now time.Time) error {
	return b.store().SettleBankFiles(ctx, now, at.TenantID, at.GatewayID)
}
