package banking

import (
	"slices"

	"sepad/internal/gateway/bank"
	"sepad/internal/sepa"
	"sepad/internal/store"
)

// hasAccountAlone tells a line that says nothing of a collection but the payer's account and the amount, on the account that is collected
// to: a file may have statements of several.
func (r *reader) hasAccountAlone(it *item) bool {
	c := it.clue
	isElsewhere := it.part != nil && !it.part.Account.IsZero() && it.part.Account != r.account.Terms.Creditor.Account
	return !isElsewhere && c.amount != 0 && !c.account.IsZero() && c.mandate == "" && c.endToEndID == ""
}

// ofAccount gives collections of an amount from a payer's account, and others that a line may speak of as well, but of which none is
// taken for it: of people who were erased, whose accounts nobody knows any more, and of other gateways with the same bank account, at
// each of which the same file is handed in.
func (r *reader) ofAccount(it *item) (found, others []store.BankFileEntry, err error) {
	found, others, err = r.alike(r.account, it.clue)
	if err != nil || len(found) == 0 || it.line.IsCredit {
		return found, nil, err
	}
	if r.besides == nil {
		if r.besides, err = r.accountsBeside(); err != nil {
			return nil, nil, err
		}
	}
	for _, account := range r.besides {
		sure, unsure, err := r.alike(account, it.clue)
		if err != nil {
			return nil, nil, err
		}
		others = slices.Concat(others, sure, unsure)
	}
	return found, others, nil
}

// alike gives collections of a gateway's from a payer's account, and those of which it cannot be told.
func (r *reader) alike(account *Account, c *clue) (sure, unsure []store.BankFileEntry, err error) {
	by, from := r.window(c)
	alike, err := r.tenant(account).BankEntriesByAmount(r.ctx, account.ID, c.amount, c.account.Masked(), from, by)
	if err != nil {
		return nil, nil, err
	}
	for _, entry := range alike {
		switch is, isKnown, err := r.debits(account, entry, c.account); {
		case err != nil:
			return nil, nil, err
		case !isKnown:
			unsure = append(unsure, entry)
		case is:
			sure = append(sure, entry)
		}
	}
	return sure, unsure, nil
}

// debits tells whether a collection is from an account: their endings are the same for many. That of somebody who was erased, or that
// cannot be opened, is not known, and holds up no other line of the file.
func (r *reader) debits(account *Account, entry store.BankFileEntry, from sepa.IBAN) (is, isKnown bool, err error) {
	if entry.MaskedIBAN == "" {
		return false, false, nil
	}
	sealed, err := r.tenant(account).SealedIBAN(r.ctx, entry.TransactionID)
	if err != nil {
		return false, false, err
	}
	electronic, err := r.Checkout.Vault.Open(sealed, store.BindIBAN(account.Setup.Tenant.ID, entry.MandateReference))
	return err == nil && string(electronic) == from.Electronic(), err == nil, nil
}

// accountsBeside gives the other gateways with the same bank account, of whichever tenant. Payments of one that is not used any more
// come back all the same; one that is half set up has none.
func (r *reader) accountsBeside() ([]*Account, error) {
	tenants, err := r.store().Tenants(r.ctx)
	if err != nil {
		return nil, err
	}
	beside := []*Account{}
	for _, tenant := range tenants {
		setup, err := r.Checkout.SetupOf(r.ctx, tenant.ID)
		if err != nil {
			return nil, err
		}
		for id, found := range setup.Gateways {
			if found.Adapter != bank.Name || id == r.account.ID {
				continue
			}
			if account, err := r.AccountOf(r.ctx, tenant.ID, id); err == nil && account.Terms.Creditor.Account == r.account.Terms.Creditor.Account {
				beside = append(beside, account)
			}
		}
	}
	return beside, nil
}
