package listing

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"sepad/internal/store"
)

// MailSearch says which mails are looked for.
type MailSearch struct {
	Common
	Status        store.MailStatus
	TransactionID uuid.UUID
}

var mailSearch = searched[store.Mail]{
	table: "mails", name: "m", scan: store.ScanMail, id: func(m *store.Mail) uuid.UUID { return m.ID },
	query: `SELECT ` + store.Mails.List("m") + ` FROM mails m WHERE m.tenant_id = $1`,
}

func (f MailSearch) conditions() conditions {
	c := conditions{passing: period("m.created_at", f.CreatedFrom, f.CreatedBefore)}
	c.indexed = slices.Concat(when("m.transaction_id = $%d", f.TransactionID))
	if f.Status == store.MailFailed {
		c.indexed = append(c.indexed, condition{text: "m.status = 'failed'"})
	} else {
		c.passing = slices.Concat(c.passing, when("m.status = $%d", string(f.Status)))
	}
	return c
}

// SearchMails lists mails to payers.
func SearchMails(ctx context.Context, s *store.Store, f MailSearch, at Paging) (Part[store.Mail], error) {
	return mailSearch.of(ctx, s, f.TenantID, at, f.conditions())
}
