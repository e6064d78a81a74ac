package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"sepad/internal/gateway/sandbox"
	"sepad/internal/gateway/sandbox/ledgerdb"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
)

// shopper is a merchant with customers.
type shopper struct {
	shop   storetest.Shop
	key    string
	tokens []string
}

// customers is how many leads a merchant has: few, so that they collide.
const customers = 8

// terms are the pricing of a purchase: once, monthly, after a paid trial, after
// a free one.
var terms = []string{
	``, `, "billing_type": "RECURRING", "billing_frequency": "MONTHLY"`,
	`, "billing_type": "TRIAL_RECURRING", "billing_frequency": "WEEKLY", "trial_period": 7, "trial_interval_unit": "day", "trial_price": "1.00"`,
	`, "billing_type": "TRIAL_RECURRING", "billing_frequency": "WEEKLY", "trial_period": 7, "trial_interval_unit": "day"`,
}

// call sends a request to a process; then hears the answer unless the process
// died first.
func (s *simulation) call(p *process, name, method, path string, header http.Header, body string, then func(status int, body []byte)) {
	name += " " + path[min(len(path), 3):min(len(path), 7)]
	s.w.spawn(p, name, func(ctx context.Context) {
		request := httptest.NewRequestWithContext(ctx, method, "/api/v1/payment-sessions/"+path, strings.NewReader(body))
		request.Header = header
		request.Header.Set("Content-Type", "application/json")
		recorder := httptest.NewRecorder()
		p.app.Handler().ServeHTTP(recorder, request)
		s.w.note("%s: %d", name, recorder.Code)
		if p.dead {
			return
		}
		s.statuses[recorder.Code]++
		answer := recorder.Body.String()
		if recorder.Code >= http.StatusInternalServerError && ctx.Err() == nil && !strings.Contains(answer, "payment provider") &&
			!strings.Contains(answer, "not known yet") {
			s.fail("%s was answered %d: %s", name, recorder.Code, answer)
		}
		then(recorder.Code, recorder.Body.Bytes())
	})
}

func nothing(int, []byte) {}

// act is something that somebody does.
func (s *simulation) act() {
	p, m := pick(s.w, s.processes), pick(s.w, s.merchants)
	if len(m.tokens) == 0 {
		s.create(p, m)
		return
	}
	// The newest sessions are where things happen.
	token := m.tokens[max(0, len(m.tokens)-1-s.w.random.IntN(customers))]
	switch n := s.w.random.IntN(100); {
	case n < 20:
		s.create(p, m)
	case n < 55:
		s.pay(p, m, token)
		if s.w.chance(25) {
			s.pay(pick(s.w, s.processes), m, token)
		}
	case n < 68:
		s.verify(p, m, token)
		if s.w.chance(25) {
			s.verify(pick(s.w, s.processes), m, token)
		}
	case n < 74:
		s.decideAtBank()
	case n < 79:
		s.call(p, "cancel", http.MethodPost, token+"/cancel/", bearer(m.key), "", func(status int, _ []byte) {
			if status == http.StatusOK {
				s.promises.Cancelled(token)
			}
		})
	case n < 84:
		s.call(p, "retrieve", http.MethodGet, token+"/", http.Header{}, "", nothing)
	case n < 90:
		s.lookUp(p)
	default:
		s.runDue(p)
	}
}

func bearer(key string) http.Header { return http.Header{"Authorization": {"Bearer " + key}} }

func (s *simulation) create(p *process, m *shopper) {
	header := bearer(m.key)
	customer := s.w.random.IntN(customers)
	if s.w.chance(30) {
		header.Set("Idempotency-Key", fmt.Sprintf("order-%d", customer))
	}
	body := fmt.Sprintf(`{"campaign_id": %q, "max_payment_attempts": %d, "lead": {"first_name": "Ada", "last_name": "Byron",
		"email": "customer%d@shop.example", "country": "DE"}%s}`, m.shop.Campaign.ID, 1+s.w.random.IntN(4), customer, pick(s.w, terms))
	s.call(p, "create", http.MethodPost, "", header, body, func(status int, body []byte) {
		var created storetest.Result
		if status == http.StatusCreated && json.Unmarshal(body, &created) == nil {
			s.promises.Created(created.SessionToken)
			m.tokens = append(m.tokens, created.SessionToken)
		}
	})
}

func (s *simulation) pay(p *process, m *shopper, token string) {
	body := fmt.Sprintf(`{"iban": %q, "iban_holder_name": "Ada Byron"}`, pick(s.w, sandbox.TestIBANs()).IBAN)
	if s.w.chance(50) {
		s.references++
		// Now and then one that was used already, or is being used.
		reference := s.references - s.w.random.IntN(5)/4
		body = strings.TrimSuffix(body, "}") + fmt.Sprintf(`, "tenant_reference_id": "R%d"}`, reference)
	}
	s.call(p, "pay", http.MethodPost, token+"/pay/", http.Header{}, body, s.remember(m, token))
}

func (s *simulation) verify(p *process, m *shopper, token string) {
	body := ""
	if s.w.chance(10) {
		body = `{"verification_id": "VRF-OF-SOMEBODY-ELSE"}`
	}
	s.call(p, "verify", http.MethodPost, token+"/verify/", http.Header{}, body, s.remember(m, token))
}

// remember takes an answer as a promise; a session that has ended is mostly left
// alone from then on.
func (s *simulation) remember(m *shopper, token string) func(status int, body []byte) {
	return func(status int, body []byte) {
		var result storetest.Result
		switch {
		case status == http.StatusGone && s.w.chance(80):
			m.tokens = slices.DeleteFunc(m.tokens, func(other string) bool { return other == token })
		case status != http.StatusOK:
		case json.Unmarshal(body, &result) != nil:
			s.fail("an answer cannot be read: %s", body)
		default:
			s.promises.Answered(result)
		}
	}
}

// decideAtBank has a payer confirm or reject a mandate on the bank's page.
func (s *simulation) decideAtBank() {
	ctx := s.t.Context()
	s.w.spawn(nil, "a payer at the bank", func(context.Context) {
		entries, err := ledgerdb.New(s.env.Store.DB, s.env.Vault).Entries(ctx)
		if err != nil {
			s.fail("reading the ledger: %v", err)
			return
		}
		for _, entry := range entries {
			if entry.State == sandbox.StateAwaiting && entry.Outcome.DecidedByPayer() {
				if _, err := sandbox.PayerDecides(ctx, ledgerdb.New(s.env.Store.DB, s.env.Vault), entry, s.w.chance(60), s.w.serviceNow()); err != nil {
					s.fail("deciding at the bank: %v", err)
				}
				return
			}
		}
	})
}

func (s *simulation) lookUp(p *process) *actor {
	return s.work(p, "lookups", func(ctx context.Context) error {
		_, err := p.app.Checkout.RunLookups(ctx)
		return err
	})
}

func (s *simulation) runDue(p *process) {
	s.work(p, "due", func(ctx context.Context) error {
		_, err := p.app.Checkout.RunDue(ctx, s.w.serviceNow())
		return err
	})
}

// work is something that a process does in the background.
func (s *simulation) work(p *process, name string, do func(context.Context) error) *actor {
	return s.w.spawn(p, name, func(ctx context.Context) {
		if err := do(ctx); err != nil && !p.dead && ctx.Err() == nil {
			s.fail("%s failed: %v", name, err)
		}
		s.w.note("%s: done", name)
	})
}

// ended tells that a session can change no more.
func ended(status payment.SessionStatus) bool {
	return status != payment.SessionPending && status != payment.SessionAwaiting
}
