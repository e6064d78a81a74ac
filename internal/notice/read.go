package notice

import (
	"context"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/notice/letter"
	"sepad/internal/store"
)

// Written is a mail as it is sent.
type Written struct{ Subject, Text, HTML string }

// Read gives a mail with what it says now.
func Read(ctx context.Context, st *store.Store, id uuid.UUID) (m store.Mail, written Written, err error) {
	owner, err := st.MailOwner(ctx, id)
	if err != nil {
		return m, written, err
	}
	if m, err = st.Tenant(owner).Mail(ctx, id); err != nil {
		return m, written, err
	}
	setup, of, err := read(ctx, st, m)
	if err != nil {
		return m, written, err
	}
	l := letter.Write(setup, m, of)
	written.Subject, written.Text = l.Subject, l.Text()
	written.HTML, err = l.HTML()
	return m, written, err
}

// read gives what a mail is about, with the tenant's set-up.
func read(ctx context.Context, st *store.Store, m store.Mail) (*merchant.Setup, store.Letter, error) {
	version, err := st.SetupVersion(ctx, m.TenantID)
	if err != nil {
		return nil, store.Letter{}, err
	}
	setup, err := st.Setup(ctx, m.TenantID, version)
	if err != nil {
		return nil, store.Letter{}, err
	}
	of, err := st.Tenant(m.TenantID).Letter(ctx, m)
	return setup, of, err
}
