package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sepad/internal/gateway/sandbox"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
	"sepad/internal/testenv"
)

const (
	refundAdmin  = "SEPAD_ADMIN_TOKEN"
	refundToken  = "operator-of-the-refund-drill"
	refundClerks = 4
)

// TestCrashDuringRefunds kills a server while refunds are under way, and shows
// that none is given twice, none is left open, and no sale gives back more than
// it brought.
func TestCrashDuringRefunds(t *testing.T) {
	t.Parallel()
	t.Run("on SQLite", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		testCrashDuringRefunds(t, folder, "sqlite:"+folder+"/sepad.db")
	})
	t.Run("on PostgreSQL", func(t *testing.T) {
		t.Parallel()
		testCrashDuringRefunds(t, t.TempDir(), testenv.PostgresURL(t))
	})
}

func testCrashDuringRefunds(t *testing.T, folder, databaseURL string) {
	t.Helper()
	settings := append([]string{"SEPAD_DATABASE_URL=" + databaseURL, refundAdmin + "=" + refundToken}, crashSettings...)
	c := &refundCounter{t: t, url: databaseURL, closing: make(chan struct{})}
	start := func() *running {
		s := startDev(t, folder, settings, "--data", folder)
		c.address.Store(&s.url)
		return s
	}
	s := start()
	// The slow account takes two seconds for a refund, too: one is always open.
	for i, outcome := range []sandbox.Outcome{sandbox.Slow, sandbox.Slow, sandbox.Approved, sandbox.Approved} {
		c.sales = append(c.sales, s.sell(fmt.Sprintf("refunded-%d", i), outcome))
	}
	c.open()
	abandoned := map[string]bool{}
	for range 3 {
		c.await("a refund is under way", func(b *storetest.Books) bool { return len(b.OpenRebills()) > 0 })
		if err := s.cmd.Process.Kill(); err != nil {
			t.Fatalf("the server had ended by itself: %v\n%s", err, s.log)
		}
		_ = s.cmd.Wait() // it was killed
		for _, id := range storetest.ReadBooks(t, databaseURL).OpenRebills() {
			abandoned[id] = true
		}
		s = start()
	}
	c.close()
	books := c.await("every outcome is known", func(b *storetest.Books) bool { return len(b.OpenRebills()) == 0 })
	c.check(books)
	if len(abandoned) == 0 {
		t.Error("no refund was open at any kill: nothing was proven")
	}
	t.Logf("%d refunds were open at a kill", len(abandoned))
}

// sell pays for something of the demo shop and gives the transaction's id.
func (s *running) sell(customer string, outcome sandbox.Outcome) string {
	s.t.Helper()
	status, token := s.create(s.key, customer)
	if status != http.StatusCreated {
		s.t.Fatalf("a session is answered %d", status)
	}
	status, answer := s.call(http.MethodPost, "/api/v1/payment-sessions/"+token+"/pay/", s.key,
		fmt.Sprintf(`{"iban": %q, "iban_holder_name": "Ada Byron"}`, accountFor(outcome)))
	var paid struct{ Transaction struct{ ID string } }
	if err := json.Unmarshal([]byte(answer), &paid); err != nil || status != http.StatusOK || paid.Transaction.ID == "" {
		s.t.Fatalf("a payment is answered %d: %s", status, answer)
	}
	return paid.Transaction.ID
}

func accountFor(outcome sandbox.Outcome) string {
	for _, account := range sandbox.TestIBANs() {
		if account.Outcome == outcome {
			return account.IBAN
		}
	}
	panic("no test account is " + string(outcome))
}

// refundCounter is a counter where clerks give money back, whoever answers.
type refundCounter struct {
	t       *testing.T
	url     string
	sales   []string
	address atomic.Pointer[string]
	clerks  sync.WaitGroup
	closing chan struct{}

	mu       sync.Mutex
	promised []string // ids of refunds that were answered as given
}

func (c *refundCounter) open() {
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{}}
	for i := range refundClerks {
		c.clerks.Go(func() {
			for n := i; ; n++ {
				select {
				case <-c.closing:
					return
				default:
					c.refund(client, c.sales[n%len(c.sales)])
				}
			}
		})
	}
	c.t.Cleanup(c.close)
}

func (c *refundCounter) close() {
	select {
	case <-c.closing:
	default:
		close(c.closing)
	}
	c.clerks.Wait()
}

// refund asks for a euro, and remembers what was promised. A server that is gone
// has promised nothing.
func (c *refundCounter) refund(client *http.Client, sale string) {
	request, err := http.NewRequest(http.MethodPost, *c.address.Load()+"/admin/v1/transactions/"+sale+"/refunds/", strings.NewReader(`{"amount": "1.00"}`))
	if err != nil {
		return
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+refundToken)
	response, err := client.Do(request)
	if err != nil {
		return
	}
	defer response.Body.Close()
	var refund struct{ ID, Status string }
	if response.StatusCode == http.StatusCreated && json.NewDecoder(response.Body).Decode(&refund) == nil && refund.Status == "approved" {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.promised = append(c.promised, refund.ID)
	}
}

// await reads the books until they are as wanted.
func (c *refundCounter) await(what string, so func(*storetest.Books) bool) *storetest.Books {
	c.t.Helper()
	deadline, tick := time.After(recoveryPatience), time.NewTicker(100*time.Millisecond)
	defer tick.Stop()
	for {
		books := storetest.ReadBooks(c.t, c.url)
		if so(books) {
			return books
		}
		select {
		case <-tick.C:
		case <-deadline:
			c.t.Fatalf("not in time: %s", what)
		}
	}
}

// check holds what was promised, our records and the gateway's against each
// other.
func (c *refundCounter) check(books *storetest.Books) {
	c.t.Helper()
	for _, finding := range books.Audit(time.Now()) {
		c.t.Error(finding)
	}
	for _, id := range c.promised {
		if books.Refunds[id] == nil || books.Refunds[id].Status != payment.TransactionApproved {
			c.t.Errorf("the refund %s was promised and is %+v", id, books.Refunds[id])
		}
	}
	given := map[string]int{} // by our reference
	for _, line := range books.Ledger {
		if line.Type == payment.Refund && line.State == sandbox.StateApproved {
			given[line.MerchantTransactionID]++
		}
	}
	approved := 0
	for _, refund := range books.Refunds {
		isGiven := refund.Status == payment.TransactionApproved
		if isGiven {
			approved++
		}
		if isGiven != (given[refund.MerchantTransactionID] == 1) {
			c.t.Errorf("the refund %s is %s, and the gateway gave it %d times", refund.ID, refund.Status, given[refund.MerchantTransactionID])
		}
	}
	if approved != len(given) {
		c.t.Errorf("%d refunds are recorded, the gateway gave %d", approved, len(given))
	}
	c.t.Logf("%d refunds, %d of them promised", len(books.Refunds), len(c.promised))
}
