package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/sepa"
)

// Errors of a NotificationReceiver, wrapped or not.
var (
	// ErrForged: the signature is missing or not that of the account.
	ErrForged = errors.New("gateway: the notification is not signed by the gateway")
	// ErrUnreadable: signed, but not in a form that the adapter understands.
	ErrUnreadable = errors.New("gateway: the notification cannot be read")
)

// Notification is a gateway's call to us.
type Notification struct {
	sepa.Masked
	Header http.Header
	Body   []byte
}

// NotificationReceiver is a gateway that reports by calling us. It checks the
// sender's signature, in constant time, and gives what was reported. It must
// not call the gateway: a notification is answered at once.
type NotificationReceiver interface {
	ReceiveNotification(ctx context.Context, n Notification) ([]Notice, error)
}

// Announcer is a gateway inside this process, which nobody else makes speak: it
// gives the notification that it would send of a payment at a time.
type Announcer interface {
	Announce(ctx context.Context, merchantTransactionID string, at time.Time) (Notification, error)
}

// Announcement names a payment of which an Announcer has something to report.
type Announcement struct {
	TenantID, AccountID   uuid.UUID
	MerchantTransactionID string
	// Acknowledge records that the report was taken, or with a time, that it is to be
	// made again then.
	Acknowledge func(ctx context.Context, again time.Time) error
}

// Notice is one thing that a gateway reports by itself: what became of a
// payment or a refund, or that a payment was charged back. The gateway may say
// the same twice, late and in any order.
type Notice struct {
	// Transaction is what the gateway says of the payment: its names, amount,
	// currency, type and time, and whatever else it tells. It completes a
	// payment that is not known here, and is held against one that is.
	Transaction payment.Transaction
	// Outcome is the verdict on it; of no consequence beside a chargeback.
	Outcome payment.Outcome
	// Chargeback is set when the payer's bank took the money back.
	Chargeback *payment.Chargeback
}

// CanReceive tells whether the gateway sends notifications.
func (c *Client) CanReceive() bool { return c.receiver != nil }

// Receive reads a notification. The error wraps ErrForged or ErrUnreadable;
// texts in a notice are cleaned as those of an answer are.
func (c *Client) Receive(ctx context.Context, n Notification) (notices []Notice, err error) {
	if c.receiver == nil {
		return nil, fmt.Errorf("gateway: %s sends no notifications: %w", c.kind.Name, errors.ErrUnsupported)
	}
	defer func() {
		if fault := recover(); fault != nil {
			c.options.Logger.LogAttrs(ctx, slog.LevelError, "gateway adapter panicked",
				slog.String("adapter", c.kind.Name), slog.String("stack", string(debug.Stack())))
			notices, err = nil, ErrUnreadable
		}
	}()
	notices, err = c.receiver.ReceiveNotification(ctx, n)
	if err != nil {
		return nil, err
	}
	for i := range notices {
		if err := notices[i].accept(); err != nil {
			return nil, err
		}
	}
	return notices, nil
}

// Announce gives what an Announcer has to report, and false for gateways that
// call us by themselves.
func (c *Client) Announce(ctx context.Context, merchantTransactionID string, at time.Time) (Notification, bool, error) {
	if c.local == nil {
		return Notification{}, false, nil
	}
	n, err := c.local.Announce(ctx, merchantTransactionID, at)
	return n, err == nil, err
}

// accept makes a notice fit to be stored, or refuses it.
func (n *Notice) accept() error {
	t := &n.Transaction
	t.MerchantTransactionID, t.GatewayReference = usableReference(t.MerchantTransactionID), usableReference(t.GatewayReference)
	if t.MerchantTransactionID == "" && t.GatewayReference == "" {
		return fmt.Errorf("%w: it names no payment", ErrUnreadable)
	}
	n.Outcome.GatewayReference = t.GatewayReference
	n.Outcome.Decline = question{}.acceptDecline(n.Outcome.Decline)
	if n.Chargeback != nil {
		cleanChargeback(n.Chargeback)
	}
	switch n.Outcome.Verdict {
	case payment.VerdictApproved, payment.VerdictPending, payment.VerdictDeclined:
		return nil
	default:
		if n.Chargeback != nil {
			return nil
		}
		return fmt.Errorf("%w: unexpected verdict %q", ErrUnreadable, n.Outcome.Verdict)
	}
}

func cleanChargeback(c *payment.Chargeback) {
	var plain redactor
	for _, text := range []*string{&c.ReasonCode, &c.ReasonMessage, &c.ReportType, &c.ReportMessage, &c.ReportInfo, &c.ARN} {
		*text = plain.clean(*text)
	}
}
