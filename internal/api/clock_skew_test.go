package api_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/clock"
	"sepad/internal/config"
	"sepad/internal/gateway"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
)

// wrongClock is a machine's clock that is off, and that a test may step.
type wrongClock struct{ by atomic.Int64 }

func (c *wrongClock) Now() time.Time { return clock.Real{}.Now().Add(time.Duration(c.by.Load())) }

func (c *wrongClock) step(by time.Duration) { c.by.Store(int64(by)) }

// pair is two processes on one PostgreSQL: one that serves and one that works in
// the background, each with a clock that may be wrong.
type pair struct {
	*apptest.Server
	asker         *apptest.Server
	gateway       *scripted
	serves, works *wrongClock
	asked         atomic.Int64
}

func newPair(t *testing.T, timeout string) *pair {
	t.Helper()
	p := &pair{gateway: &scripted{}, serves: &wrongClock{}, works: &wrongClock{}}
	p.gateway.status = func(context.Context, gateway.Lookup) (payment.Outcome, error) {
		p.asked.Add(1)
		return payment.Outcome{Verdict: payment.VerdictLost}, nil
	}
	options := p.gateway.options(gateway.Kind{Real: true})
	options.Change = func(s *config.Settings) { s.GatewayTimeout, s.LookupSchedule = timeout, "10ms" }
	options.World = p.serves
	p.Server = apptest.Open(t, storetest.Postgres(t), options)
	addScripted(t, p.Server, "")
	options.World = p.works
	p.asker = p.Beside(t, options)
	return p
}

// askAround has both processes look for payments to ask about.
func (p *pair) askAround(t *testing.T) {
	t.Helper()
	for _, s := range []*apptest.Server{p.asker, p.Server} {
		if _, err := s.App.Checkout.RunLookups(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNobodyAsksAboutAPaymentUnderWay holds a payment on its way to the gateway,
// where another process would be told that it never arrived. Whatever the machines'
// clocks show, nobody may ask before its sender must have given up.
func TestNobodyAsksAboutAPaymentUnderWay(t *testing.T) {
	t.Parallel()
	clocks := map[string]func(*pair){
		"the asker is two minutes ahead":         func(p *pair) { p.works.step(2 * time.Minute) },
		"the asker is an hour ahead":             func(p *pair) { p.works.step(time.Hour) },
		"the sender is two minutes behind":       func(p *pair) { p.serves.step(-2 * time.Minute) },
		"both are wrong, in different ways":      func(p *pair) { p.works.step(time.Hour); p.serves.step(-time.Hour) },
		"the sender is ahead, and the asker too": func(p *pair) { p.works.step(time.Hour); p.serves.step(2 * time.Hour) },
	}
	for name, setClocks := range clocks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, "30s")
			token := p.Create(t, onScript())
			setClocks(p)
			underWay, finish := p.gateway.hold()
			done := p.Later(t, apptest.PayRequest(token, apptest.Approved))
			<-underWay
			for range 3 {
				p.askAround(t)
			}
			p.Pay(t, token, apptest.Approved).Want(t, http.StatusConflict, nil)
			finish()
			(<-done).Want(t, http.StatusOK, fields{"status": "completed"})
			if asked := p.asked.Load(); asked != 0 {
				t.Errorf("the gateway was asked %d times about a payment under way", asked)
			}
			if sent := len(p.gateway.received()); sent != 1 {
				t.Errorf("%d debits were sent", sent)
			}
		})
	}
}

// TestAClockThatSteppedLeavesNothingStuck claims with a clock that is an hour ahead,
// which is then put right, and waits for the answer in real time.
func TestAClockThatSteppedLeavesNothingStuck(t *testing.T) {
	t.Parallel()
	// Long enough for a busy machine to come to the gateway: what is given up before was never sent, and declined.
	p := newPair(t, "5s")
	token := p.Create(t, onScript())
	p.serves.step(time.Hour)
	p.gateway.tell(func(g *scripted) {
		g.submit = func(context.Context, gateway.Charge) (payment.Outcome, error) {
			return payment.Outcome{}, context.DeadlineExceeded
		}
	})
	p.Pay(t, token, apptest.Approved).Want(t, http.StatusInternalServerError, nil)
	p.serves.step(0)
	patience := time.After(time.Minute)
	for look := time.NewTicker(20 * time.Millisecond); p.asked.Load() == 0; {
		select {
		case <-look.C:
			p.askAround(t)
		case <-patience:
			t.Fatal("nobody asks about the payment")
		}
	}
	p.WantStatus(t, token, "PENDING")
}

// TestAWrongClockIsTold shows what an operator sees of it.
func TestAWrongClockIsTold(t *testing.T) {
	t.Parallel()
	p := newPair(t, "30s")
	ready := apptest.Request{Path: "/readyz"}
	if warning, told := p.Do(t, ready).Want(t, http.StatusOK, nil).Object(t)["warning"]; told {
		t.Errorf("a right clock is told of: %v", warning)
	}
	p.works.step(-90 * time.Second)
	warning, _ := p.asker.Do(t, ready).Want(t, http.StatusOK, fields{"status": "ready"}).Object(t)["warning"].(string)
	if !strings.Contains(warning, "behind the database's") || !strings.Contains(warning, "1m30") && !strings.Contains(warning, "1m29") {
		t.Errorf("the warning is %q", warning)
	}
}
