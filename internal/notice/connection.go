package notice

import (
	"context"

	gomail "github.com/wneessen/go-mail"
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
