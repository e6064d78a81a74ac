package checkouttest

import (
	"context"
	"errors"
	"sync"
	"time"

	"sepad/internal/gateway"
	"sepad/internal/merchant"
	"sepad/internal/payment"
)

const adapterName = "played"

// errSilent is what happened on the way to a gateway that gave no answer.
var errSilent = errors.New("the connection broke")

// Gateway is played by the test: it gives the answer that the test has set, to
// whatever it is asked, and keeps what it was asked.
type Gateway struct {
	isLocal, isPlain bool
	noticeDays       int

	mu        sync.Mutex
	outcome   payment.Outcome
	err       error
	knows     map[string]payment.Outcome // by the payment's name
	isFickle  bool
	hasTold   bool // of a payment that it knows, when it was asked last
	during    func(context.Context)
	notices   []gateway.Notice
	unsaid    map[string]announcement // by the payment's name
	submitted []gateway.Charge
	asked     []gateway.Lookup
	verified  []gateway.Verification
	refunded  []gateway.Refund
}

func (g *Gateway) kind() gateway.Kind {
	return gateway.Kind{
		Name: adapterName, DisplayName: "Played", Real: !g.isLocal, Batch: g.noticeDays > 0, Currencies: []string{"EUR"},
		New: func(gateway.Account, gateway.Values) (gateway.Adapter, error) {
			switch {
			case g.isPlain:
				return plain{g}, nil
			case g.noticeDays > 0:
				return planning{able{plain{g}}}, nil
			default:
				return able{plain{g}}, nil
			}
		},
	}
}

// Answer sets the answer to every question from now on.
func (g *Gateway) Answer(outcome payment.Outcome) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.outcome, g.err, g.during = outcome, nil, nil
}

// AnswerEach has the gateway know these payments and no others, when it is asked.
func (g *Gateway) AnswerEach(known map[string]payment.Outcome) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.knows = known
}

// BeFickle has the gateway fall silent at the question behind each that it has answered with what it knows.
func (g *Gateway) BeFickle() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.isFickle = true
}

// Silence has every question from now on go without an answer.
func (g *Gateway) Silence() { g.Fail(errSilent) }

// Fail sets the error of every question from now on.
func (g *Gateway) Fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.outcome, g.err, g.during = payment.Outcome{}, err, nil
}

// During has something happen while the gateway works on a question.
func (g *Gateway) During(happens func(context.Context)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.during = happens
}

// Report sets what the next notifications say.
func (g *Gateway) Report(notices ...gateway.Notice) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.notices = notices
}

// announcement is what the gateway has to report by itself from an instant on.
type announcement struct {
	gateway.Announcement
	at time.Time
}

// Announce has the gateway report of a payment at an instant, if it is inside this
// process; what it says is what Report has set.
func (g *Gateway) Announce(of payment.Transaction, at time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.unsaid == nil {
		g.unsaid = map[string]announcement{}
	}
	name := of.MerchantTransactionID
	g.unsaid[name] = announcement{at: at, Announcement: gateway.Announcement{
		TenantID: of.TenantID, AccountID: of.GatewayID, MerchantTransactionID: name,
		Acknowledge: func(_ context.Context, again time.Time) error {
			g.mu.Lock()
			delete(g.unsaid, name)
			g.mu.Unlock()
			if !again.IsZero() {
				g.Announce(of, again)
			}
			return nil
		},
	}}
}

// announcements are those that are due.
func (g *Gateway) announcements(_ context.Context, now time.Time, _ int) (due []gateway.Announcement, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, one := range g.unsaid {
		if !one.at.After(now) {
			due = append(due, one.Announcement)
		}
	}
	return due, nil
}

// nextAnnouncement is when the next one after an instant is due.
func (g *Gateway) nextAnnouncement(_ context.Context, after time.Time) (next time.Time, found bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, one := range g.unsaid {
		if one.at.After(after) && (!found || one.at.Before(next)) {
			next, found = one.at, true
		}
	}
	return next, found, nil
}

// Submitted, Asked, Verified and Refunded are what the gateway was asked so far.
func (g *Gateway) Submitted() []gateway.Charge      { return kept(g, &g.submitted) }
func (g *Gateway) Asked() []gateway.Lookup          { return kept(g, &g.asked) }
func (g *Gateway) Verified() []gateway.Verification { return kept(g, &g.verified) }
func (g *Gateway) Refunded() []gateway.Refund       { return kept(g, &g.refunded) }

func kept[T any](g *Gateway, list *[]T) []T {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]T(nil), *list...)
}

// keep notes a question and gives the answer to it.
func keep[T any](ctx context.Context, g *Gateway, list *[]T, question T) (payment.Outcome, error) {
	g.mu.Lock()
	*list = append(*list, question)
	outcome, err, during := g.outcome, g.err, g.during
	g.mu.Unlock()
	if during != nil {
		during(ctx)
	}
	return outcome, err
}

// plain can be paid through; able can do everything else as well; planning knows beforehand when it collects.
type (
	plain    struct{ *Gateway }
	able     struct{ plain }
	planning struct{ able }
)

func (g plain) Submit(ctx context.Context, charge gateway.Charge) (payment.Outcome, error) {
	return keep(ctx, g.Gateway, &g.submitted, charge)
}

func (g able) Status(ctx context.Context, l gateway.Lookup) (payment.Outcome, error) {
	outcome, err := keep(ctx, g.Gateway, &g.asked, l)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.knows == nil {
		return outcome, err
	}
	known, found := g.knows[l.MerchantTransactionID]
	if g.isFickle && g.hasTold {
		g.hasTold = false
		return payment.Outcome{}, errSilent
	}
	if g.hasTold = found; found {
		return known, nil
	}
	return payment.Outcome{Verdict: payment.VerdictLost}, nil
}

func (g able) Verify(ctx context.Context, v gateway.Verification) (payment.Outcome, error) {
	return keep(ctx, g.Gateway, &g.verified, v)
}

func (g able) Refund(ctx context.Context, r gateway.Refund) (payment.Outcome, error) {
	return keep(ctx, g.Gateway, &g.refunded, r)
}

func (g able) Announce(context.Context, string, time.Time) (gateway.Notification, error) {
	return gateway.Notification{}, nil
}

func (g able) ReceiveNotification(context.Context, gateway.Notification) ([]gateway.Notice, error) {
	return kept(g.Gateway, &g.notices), nil
}

func (g planning) Plan(tenant merchant.Tenant, told time.Time, owedFrom payment.Date) payment.Plan {
	due := g.PreparesUntil(told)
	if due.Start().Before(owedFrom.Start()) {
		due = owedFrom
	}
	return payment.Plan{DueDate: due, CreditorName: tenant.Name, CreditorIdentifier: "DE98ZZZ09999999999"}
}

func (g planning) PreparesAt(billing payment.Date) time.Time {
	return billing.Start().AddDate(0, 0, -g.noticeDays)
}

func (g planning) PreparesUntil(at time.Time) payment.Date {
	return payment.DateOf(at.AddDate(0, 0, g.noticeDays))
}

func (g planning) NoticeDays() int { return g.noticeDays }
