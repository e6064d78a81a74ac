package page_test

import (
	"fmt"
	"net/http"
	"sync"
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
