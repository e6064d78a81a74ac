package banking

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"sepad/internal/iso20022"
	"sepad/internal/store"
)

// presented reads how the collections were presented that came before those of a page, each under the same mandate.
func (b *Banking) presented(ctx context.Context, account *Account, page []store.Collectible) (map[uuid.UUID]store.Presented, error) {
	var ids []uuid.UUID
	for _, c := range page {
		if c.PreviousID != nil {
			ids = append(ids, *c.PreviousID)
		}
	}
	found, err := b.tenant(account).Presented(ctx, ids)
	before := make(map[uuid.UUID]store.Presented, len(found))
	for _, one := range found {
		before[one.TransactionID] = one
	}
	return before, err
}

// amend tells the bank what has changed since the last collection under the mandate. The next one finds this as the
// last, so that it is told once; one that the bank refuses was not told, and the next tells it again.
func (b *Banking) amend(account *Account, c *collection, last store.Presented) error {
	var amendment iso20022.Amendment
	creditor := account.Terms.Creditor
	if last.CreditorName != "" && last.CreditorName != creditor.Name {
		amendment.OriginalCreditorName = last.CreditorName
	}
	if last.CreditorIdentifier != "" && withoutBusinessCode(last.CreditorIdentifier) != withoutBusinessCode(creditor.Identifier) {
		amendment.OriginalCreditorIdentifier = last.CreditorIdentifier
	}
	if last.SealedIBAN != "" {
		electronic, err := b.Checkout.Vault.Open(last.SealedIBAN, store.BindIBAN(account.Setup.Tenant.ID, c.MandateReference))
		if err != nil {
			return fmt.Errorf("the account of payment %s cannot be read: %w", last.TransactionID, err)
		}
		amendment.NewAccount = string(electronic) != c.debit.Debtor.Account.Electronic()
	}
	if amendment != (iso20022.Amendment{}) {
		c.debit.Mandate.Amendment = &amendment
	}
	return nil
}

// withoutBusinessCode is what identifies a creditor: the three characters behind the check digits are its own to choose.
func withoutBusinessCode(identifier string) string {
	if len(identifier) < 7 {
		return identifier
	}
	return identifier[:4] + identifier[7:]
}
