package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"sepad/internal/gateway/sandbox"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
)

// customer shops without end, and tries again whatever did not work: it is the
// impatient caller at whom double debits happen.
type customer struct {
	crash  *crash
	number int
	random *rand.Rand
	client *http.Client
	visits int
}

func newCustomer(c *crash, number int) *customer {
	return &customer{
		crash: c, number: number, random: rand.New(rand.NewPCG(c.seed, uint64(number)+1)),
		// A server that is held up must not hold the customer up for ever.
		client: &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{}},
	}
}

func (c *customer) shop() {
	defer c.client.CloseIdleConnections()
	for {
		select {
		case <-c.crash.closing:
			return
		default:
			c.visit()
		}
	}
}

// Campaigns of the demo shop: a single payment, a subscription, a paid trial.
var crashCampaigns = []string{
	"018f0000-0000-7000-8000-000000000053", "018f0000-0000-7000-8000-000000000054", "018f0000-0000-7000-8000-000000000052",
}

// visit is one purchase, from its session to its end or the customer's patience.
func (c *customer) visit() {
	c.visits++
	name := fmt.Sprintf("c%d-%d", c.number, c.visits)
	status, answer := c.post(c.server(), "", fmt.Sprintf(`{"campaign_id": %q, "max_payment_attempts": 5, "lead": {"first_name": "Ada",
		"last_name": "Byron", "email": "%s@shop.example", "country": "DE"}}`,
		crashCampaigns[c.random.IntN(len(crashCampaigns))], name))
	if status == 0 {
		c.crash.pass(20 * time.Millisecond) // nobody is there
	}
	if status != http.StatusCreated {
		return
	}
	token := answer.SessionToken
	c.crash.promises.Created(token)
	for try := range 4 {
		// Two clicks at once, now and then.
		var second sync.WaitGroup
		body := c.payment(fmt.Sprintf("%s-%d", name, try))
		if c.random.IntN(4) == 0 {
			server := c.server()
			second.Go(func() { c.submit(server, token+"/pay/", body) })
		}
		status := c.submit(c.server(), token+"/pay/", body)
		second.Wait()
		switch {
		case status == payment.ResultAwaiting && c.random.IntN(5) > 0:
			c.submit(c.server(), token+"/verify/", "{}")
		case status == payment.ResultCompleted && c.random.IntN(2) == 0:
			return
		case c.random.IntN(12) == 0:
			if code, _ := c.post(c.server(), token+"/cancel/", "{}"); code == http.StatusOK {
				c.crash.promises.Cancelled(token)
			}
		}
	}
}

// submit pays or verifies, and remembers what was answered.
func (c *customer) submit(server, path, body string) payment.ResultStatus {
	c.crash.submitted.Add(1)
	status, answer := c.post(server, path, body)
	if status == http.StatusOK {
		c.crash.promises.Answered(answer)
	}
	return answer.Status
}

// payment pays from a random test account; the slow and silent ones are rarer,
// so that the others are not lost among them.
func (c *customer) payment(reference string) string {
	all := sandbox.TestIBANs()
	chosen := all[c.random.IntN(len(all))]
	for slow(chosen.Outcome) && c.random.IntN(2) == 0 {
		chosen = all[c.random.IntN(len(all))]
	}
	// A reference that was used for another visit is refused and costs nothing.
	if c.random.IntN(20) == 0 {
		reference = fmt.Sprintf("c%d-1-0", c.number)
	}
	return fmt.Sprintf(`{"iban": %q, "iban_holder_name": "Ada Byron", "tenant_reference_id": %q}`, chosen.IBAN, reference)
}

func slow(o sandbox.Outcome) bool {
	return o == sandbox.Slow || o == sandbox.TimeoutApproved || o == sandbox.TimeoutLost
}

// server is the address of one of the servers, dead or alive.
func (c *customer) server() string {
	return *c.crash.addresses[c.random.IntN(len(c.crash.addresses))].Load()
}

// post calls a server; 0 means that no answer came.
func (c *customer) post(server, path, body string) (int, storetest.Result) {
	request, err := http.NewRequest(http.MethodPost, server+"/api/v1/payment-sessions/"+path, strings.NewReader(body))
	if err != nil {
		return 0, storetest.Result{}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+c.crash.key)
	response, err := c.client.Do(request)
	if err != nil {
		return 0, storetest.Result{}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	var answer storetest.Result
	if err != nil || json.Unmarshal(text, &answer) != nil && response.StatusCode == http.StatusOK {
		return 0, storetest.Result{}
	}
	return response.StatusCode, answer
}
