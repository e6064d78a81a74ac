package page_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/config"
	"sepad/internal/limit"
)

// load has several browsers at one address load a page at once, and counts their
// answers by status.
func (s *shop) load(t *testing.T, page, address string, times int) map[int]int {
	t.Helper()
	var group sync.WaitGroup
	var mu sync.Mutex
	answers := map[int]int{}
	for range times {
		group.Go(func() {
			answered, err := s.try(t, http.MethodGet, page, nil, "X-Forwarded-For", address)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			answers[answered.StatusCode]++
		})
	}
	group.Wait()
	return answers
}

// TestTooManyPaymentsAreLoadsOfThePage has one address press a button over and over. Beyond
// what the button takes it is shown how the session stands, and that no more often than
// it may load the page: each look costs the database as much.
func TestTooManyPaymentsAreLoadsOfThePage(t *testing.T) {
	t.Parallel()
	const loads, presses = 3, 10
	s := stock(t, apptest.SQLite(t, apptest.Options{
		Rates:  limit.Rates{limit.BrowserPay: 1, limit.BrowserVerify: 1, limit.Page: loads},
		Change: func(c *config.Settings) { c.TrustedProxies = "127.0.0.0/8" },
	}))
	for i, action := range []string{"pay", "verify"} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			page := path(s.session(t, posterCampaign))
			tries := 0
			apptest.Eventually(t, "presses within one second, of which most are turned away unseen", func() bool {
				tries++
				address := fmt.Sprintf("192.0.%d.%d", i+2, tries)
				var group sync.WaitGroup
				var unseen atomic.Int64
				for range presses {
					group.Go(func() {
						answered, err := s.try(t, http.MethodPost, page, url.Values{"action": {action}}, "X-Forwarded-For", address)
						if err != nil {
							t.Error(err)
						} else if strings.Contains(answered.body, "One moment, please") {
							unseen.Add(1)
						}
					})
				}
				group.Wait()
				return unseen.Load() == presses-1-loads
			})
		})
	}
}

func TestThePageScope(t *testing.T) {
	t.Parallel()
	const more = 6
	rate := limit.DefaultRates()[limit.Page]
	s := stock(t, apptest.SQLite(t, apptest.Options{
		Rates: limit.Rates{limit.Page: rate}, Change: func(c *config.Settings) { c.TrustedProxies = "127.0.0.0/8" },
	}))
	page := path(s.session(t, posterCampaign))
	t.Run("20 loads in a second from one address pass, and exactly those", func(t *testing.T) {
		var answers map[int]int
		tries := 0
		// Loads that took longer than the window prove nothing: another address
		// tries again.
		apptest.Eventually(t, "some loads within one second", func() bool {
			tries++
			began := time.Now()
			answers = s.load(t, page, fmt.Sprintf("198.51.100.%d", tries), rate+more)
			return time.Since(began) < time.Second
		})
		if answers[http.StatusOK] != rate || answers[http.StatusTooManyRequests] != more {
			t.Errorf("the answers are %v", answers)
		}
	})
	t.Run("each address has its own", func(t *testing.T) {
		for n := range rate + more {
			if answers := s.load(t, page, fmt.Sprintf("203.0.113.%d", n+1), 1); answers[http.StatusOK] != 1 {
				t.Errorf("the answers are %v", answers)
			}
		}
	})
}
