// Package banking collects through merchants' own banks: what waits becomes files, files go to the bank, and what the
// bank answers becomes the fate of payments.
//
//	collect.go   at each cut-off: what waits is taken into a file, a batch in each transaction
//	compose.go   the file's bytes are made, once, and kept in parts
//	deliver.go   the file is put where the bank fetches it: under another name first, then under its own
//	read.go      a bank's answer, as a stream; item.go takes its lines in batches, match.go finds the collections,
//	             apply.go says what follows
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
	var found *Account
	for _, tenant := range tenants {
		setup, err := b.Checkout.SetupOf(ctx, tenant.ID)
		if err != nil {
			return nil, err
		}
		for id, account := range setup.Gateways {
			if account.Adapter != bank.Name || id.String() != name && account.Name != name {
				continue
			}
			if found != nil {
				return nil, fmt.Errorf("there are several bank gateways called %q: give the id", name)
			}
			if found, err = b.AccountOf(ctx, tenant.ID, id); err != nil {
				return nil, err
			}
		}
	}
	if found == nil {
		return nil, fmt.Errorf("there is no bank gateway %q", name)
	}
	return found, nil
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
	delivered, err := b.Deliver(ctx, now)
	failed = errors.Join(failed, err)
	settled, err := b.settleSilent(ctx, now)
	return done + delivered + settled, errors.Join(failed, err)
}

// settleSilent takes silence for what was agreed that it means.
func (b *Banking) settleSilent(ctx context.Context, now time.Time) (done int, err error) {
	accounts := map[store.BankDue]bool{}
	for {
		due, err := b.store().SilentDue(ctx, now, silentBatch+b.Checkout.Aside.Len())
		if err != nil {
			return done, err
		}
		before := done
		for tenantID, reports := range b.unhindered(due) {
			settled, err := b.settleTogether(ctx, tenantID, reports)
			if err != nil {
				return done, err
			}
			done += settled
		}
		for _, one := range due {
			accounts[one.BankDue] = true
		}
		if done == before {
			return done, b.endFiles(ctx, accounts, now)
		}
	}
}

// unhindered gives what is due by tenants, without what failed before.
func (b *Banking) unhindered(due []store.Silent) map[uuid.UUID][]checkout.Report {
	reports := map[uuid.UUID][]checkout.Report{}
	for _, one := range due {
		if !b.Checkout.Aside.Holds(one.TransactionID, b.Checkout.Real.Now()) {
			reports[one.TenantID] = append(reports[one.TenantID], checkout.Report{TransactionID: one.TransactionID, Outcome: payment.Outcome{Verdict: payment.VerdictApproved}})
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

// endFiles marks the files of accounts in which nothing is open any more.
func (b *Banking) endFiles(ctx context.Context, accounts map[store.BankDue]bool, now time.Time) error {
	if len(accounts) == 0 {
		return nil
	}
	return b.store().Write(ctx, now, func(tx *store.Tx) error {
		for account := range accounts {
			tx.SettleBankFiles(account.TenantID, account.GatewayID)
		}
		return nil
	})
}
