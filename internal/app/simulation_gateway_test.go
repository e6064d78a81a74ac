package app_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sepad/internal/gateway"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/payment"
)

// simulatedTimeout is how long the gateway may take, in the world's time.
const simulatedTimeout = 30 * time.Second

// simulatedGateway is the sandbox behind a network of the world's: messages take
// their time, get lost on the way there or back, and arrive although the sender
// has given up or died. Its ledger outlives every process.
type simulatedGateway struct {
	w      *world
	ledger sandbox.Ledger
	// remote is a gateway of another company: a payment may arrive late.
	remote bool
	// outlives tells that what a dead process has sent may still arrive.
	outlives bool
	// faulty is in how many exchanges of a hundred something goes wrong; 0 is a
	// network without faults.
	faulty int
	// backAt is until when nobody reaches it.
	backAt time.Time
	// fate changes what becomes of a payment on its way; nil leaves it alone.
	fate func(gateway.Charge) gateway.Charge
}

func (g *simulatedGateway) kind() gateway.Kind {
	kind := sandbox.Kind(g.ledger, sandbox.Options{PublicURL: "http://sepad.test", SlowFor: 1, GiveUpAfter: 1})
	inner := kind.New
	kind.Real = g.remote
	kind.New = func(account gateway.Account, values gateway.Values) (gateway.Adapter, error) {
		adapter, err := inner(account, values)
		if err != nil {
			return nil, err
		}
		return &simulatedAdapter{gateway: g, inner: adapter.(*sandbox.Adapter)}, nil
	}
	return kind
}

type simulatedAdapter struct {
	gateway *simulatedGateway
	inner   *sandbox.Adapter
}

func (a *simulatedAdapter) Submit(_ context.Context, charge gateway.Charge) (payment.Outcome, error) {
	if a.gateway.fate != nil {
		charge = a.gateway.fate(charge)
	}
	return a.gateway.exchange("payment "+charge.MerchantTransactionID, func() (payment.Outcome, error) {
		return a.inner.Submit(context.Background(), charge)
	})
}

func (a *simulatedAdapter) Verify(_ context.Context, v gateway.Verification) (payment.Outcome, error) {
	return a.gateway.exchange("verification "+v.MerchantTransactionID, func() (payment.Outcome, error) {
		return a.inner.Verify(context.Background(), v)
	})
}

func (a *simulatedAdapter) Status(_ context.Context, l gateway.Lookup) (payment.Outcome, error) {
	return a.gateway.exchange("question "+l.MerchantTransactionID, func() (payment.Outcome, error) {
		return a.inner.Status(context.Background(), l)
	})
}

func (a *simulatedAdapter) Refund(_ context.Context, r gateway.Refund) (payment.Outcome, error) {
	return a.gateway.exchange("refund "+r.MerchantTransactionID, func() (payment.Outcome, error) {
		return a.inner.Refund(context.Background(), r)
	})
}

func (a *simulatedAdapter) Announce(_ context.Context, merchantTransactionID string, at time.Time) (gateway.Notification, error) {
	return a.inner.Announce(context.Background(), merchantTransactionID, at)
}

func (a *simulatedAdapter) ReceiveNotification(_ context.Context, n gateway.Notification) ([]gateway.Notice, error) {
	return a.inner.ReceiveNotification(context.Background(), n)
}

// fault is what goes wrong with one exchange.
type fault int

const (
	noFault fault = iota
	noConnection
	lostOnTheWayThere
	lostOnTheWayBack
	nonsense
	crashOfTheAdapter
	arrivesLate
)

var errBrokenConnection = errors.New("the connection broke")

func (g *simulatedGateway) fault() fault {
	if !g.w.chance(g.faulty) {
		return noFault
	}
	if g.remote && g.w.chance(30) {
		return arrivesLate
	}
	return fault(1 + g.w.random.IntN(int(arrivesLate)-1))
}

// exchange is one question and its answer. Whatever happens, it arrives before
// its time is over or not at all: that much a timeout can promise.
func (g *simulatedGateway) exchange(name string, arrive func() (payment.Outcome, error)) (payment.Outcome, error) {
	w, sender := g.w, g.w.current
	if w.serviceNow().Before(g.backAt) {
		return payment.Outcome{}, fmt.Errorf("nobody is there: %w", gateway.ErrNotSent)
	}
	if sender == nil {
		return arrive() // nobody is made to stop, so that many speak at once
	}
	if sender.process.dead {
		return payment.Outcome{}, errBrokenConnection // the dead send nothing
	}
	deadline := w.now.Add(simulatedTimeout)
	f := g.fault()
	w.note("%s is sent, fault %d", name, f)
	switch f {
	case noConnection:
		return payment.Outcome{}, fmt.Errorf("refused: %w", gateway.ErrNotSent)
	case arrivesLate:
		arrival := w.now.Add(time.Duration(w.random.Int64N(int64(simulatedTimeout))))
		w.spawn(nil, name+" on the wire", func(context.Context) {
			for w.now.Before(arrival) && !w.settling {
				w.pause()
			}
			if w.now.Before(deadline) {
				_, err := arrive()
				w.note("%s arrived late: %v", name, err)
			}
		})
		return payment.Outcome{}, errBrokenConnection
	}
	w.pause() // on its way there
	if !w.now.Before(deadline) || f == lostOnTheWayThere || sender.process.dead && !g.outlives {
		return payment.Outcome{}, context.DeadlineExceeded
	}
	outcome, err := arrive()
	w.note("%s arrived: %s %v", name, outcome.Verdict, err)
	w.pause() // on its way back
	switch {
	case !w.now.Before(deadline) || f == lostOnTheWayBack:
		return payment.Outcome{}, context.DeadlineExceeded
	case f == nonsense:
		return payment.Outcome{Verdict: "maybe"}, nil
	case f == crashOfTheAdapter:
		panic("an adapter with a mistake")
	}
	return outcome, err
}
