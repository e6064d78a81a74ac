package notice

import (
	"context"

	gomail "github.com/wneessen/go-mail"

	"sepad/internal/merchant"
	"sepad/internal/store"
)

// connection is a line to the server, opened for the first mail and again after one
// that broke it. Once it cannot be opened, the mails behind it need not wait for that.
type connection struct {
	outbox *Outbox
	client *gomail.Client
	// away says why the server cannot be reached, "" while it can.
	away string
}

// send hands a mail in.
func (c *connection) send(ctx context.Context, m *gomail.Msg) verdict {
	if c.client == nil && c.away == "" {
		client, err := c.outbox.Server.connect(ctx)
		if err != nil {
			c.away = judgeConnection(err)
		} else {
			c.client = client
		}
	}
	if c.away != "" {
		return verdict{refusedForNow, c.away}
	}
	v := judge(m, c.client.Send(m))
	if v.kind != taken {
		c.close() // what the line is good for is not known
	}
	return v
}

func (c *connection) close() {
	if c.client != nil {
		_ = c.client.Close() // nothing depends on how it ends
		c.client = nil
	}
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
