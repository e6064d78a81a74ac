package examplehttp

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"sepad/internal/gateway/gatewaytest"
)

const (
	providerKey    = "example-key-of-the-account"
	providerSecret = "example-notification-secret"
)

// Accounts by which the provider decides.
const (
	accountApproved    = "DE89370400440532013000"
	accountPoor        = "DE62370400440532013001"
	accountBlocked     = "DE13370400440532013010"
	accountConfirmed   = "DE56370400440532013012"
	accountRejected    = "DE29370400440532013013"
	accountUndecided   = "DE02370400440532013014"
	accountLate        = "DE08370400440532013003"
	accountLateRefused = "DE78370400440532013004"
	accountNoAnswer    = "DE72370400440532013015"
	accountLost        = "DE45370400440532013016"
	accountHanging     = "DE18370400440532013017"
	accountGarbled     = "DE40370400440532013009"
)

// provider plays the other side, with a memory of its own.
type provider struct {
	*httptest.Server
	mu       sync.Mutex
	payments map[string]*held
}

// held is a payment or a refund at the provider.
type held struct {
	answer    answerBody
	iban      string
	amount    int64
	collected int
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{payments: map[string]*held{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/payments", p.pay)
	mux.HandleFunc("GET /v1/payments/{reference}", p.show)
	mux.HandleFunc("POST /v1/payments/{reference}/confirmation", p.confirm)
	mux.HandleFunc("POST /v1/payments/{reference}/cancellation", p.cancel)
	mux.HandleFunc("POST /v1/payments/{reference}/refunds", p.refund)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+providerKey {
			http.Error(w, `{"error": "the key is not known"}`, http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

// pay takes a payment in, once for each idempotency key.
func (p *provider) pay(w http.ResponseWriter, r *http.Request) {
	var body paymentBody
	if json.NewDecoder(r.Body).Decode(&body) != nil || r.Header.Get("Idempotency-Key") != body.Reference {
		http.Error(w, "{}", http.StatusBadRequest)
		return
	}
	if body.IBAN == accountLost {
		panic(http.ErrAbortHandler)
	}
	p.mu.Lock()
	h := p.payments[body.Reference]
	if h == nil {
		h = &held{iban: body.IBAN, amount: body.Amount, answer: openingAnswer(body)}
		p.payments[body.Reference] = h
		if h.answer.Status == "collected" {
			h.collected++
		}
	}
	answer := h.answer
	p.mu.Unlock()
	switch body.IBAN {
	case accountNoAnswer:
		panic(http.ErrAbortHandler)
	case accountHanging:
		<-r.Context().Done()
	case accountGarbled:
		io.WriteString(w, `{"status": "perhaps", "id": `)
	default:
		write(w, answer)
	}
}

// openingAnswer is what a new payment gets.
func openingAnswer(body paymentBody) answerBody {
	answer := answerBody{ID: "EX-" + body.Reference, Status: "collected"}
	switch body.IBAN {
	case accountPoor:
		answer.Status, answer.Reason = "refused", "AM04"
	case accountBlocked:
		answer.Status, answer.Reason, answer.Closed = "refused", "FRAD", true
		answer.Text = fmt.Sprintf("%s (%s) may not pay with key %s", body.Holder, body.IBAN, providerKey)
	case accountConfirmed, accountRejected, accountUndecided:
		answer.Status = "action_required"
		answer.Action.ID = "ACT-" + body.Reference
		answer.Action.URL = "https://provider.example/confirm/" + body.Reference
	case accountLate, accountLateRefused:
		answer.Status, answer.SettlesAt = "processing", gatewaytest.At.Add(48*time.Hour)
	}
	return answer
}

func write(w http.ResponseWriter, answer answerBody) {
	if answer.Status == "refused" {
		w.WriteHeader(http.StatusUnprocessableEntity)
	}
	json.NewEncoder(w).Encode(answer)
}

// change answers with a payment after a change, 404 when it is not known.
func (p *provider) change(w http.ResponseWriter, r *http.Request, change func(*held) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.payments[r.PathValue("reference")]
	if h == nil || !change(h) {
		http.Error(w, `{"error": "unknown_reference"}`, http.StatusNotFound)
		return
	}
	write(w, h.answer)
}

func (p *provider) show(w http.ResponseWriter, r *http.Request) {
	p.change(w, r, func(*held) bool { return true })
}

func (p *provider) confirm(w http.ResponseWriter, r *http.Request) {
	var body confirmationBody
	json.NewDecoder(r.Body).Decode(&body)
	p.change(w, r, func(h *held) bool {
		switch {
		case body.Action != h.answer.Action.ID:
			return false
		case h.answer.Status == "action_required" && h.iban == accountConfirmed:
			h.answer.Status = "collected"
			h.collected++
		case h.answer.Status == "action_required" && h.iban == accountRejected:
			h.answer.Status, h.answer.Reason = "refused", "MD01"
		}
		return true
	})
}

func (p *provider) cancel(w http.ResponseWriter, r *http.Request) {
	p.change(w, r, func(h *held) bool {
		if h.answer.Status == "action_required" {
			h.answer.Status, h.answer.Reason = "refused", "MD01"
		}
		return true
	})
}

func (p *provider) refund(w http.ResponseWriter, r *http.Request) {
	var body refundBody
	json.NewDecoder(r.Body).Decode(&body)
	p.mu.Lock()
	defer p.mu.Unlock()
	paid := p.payments[r.PathValue("reference")]
	if paid == nil || paid.collected == 0 || body.Amount > paid.amount {
		write(w, answerBody{Status: "refused", Reason: "NARR", Text: "There is nothing to give back."})
		return
	}
	if p.payments[body.Reference] == nil {
		p.payments[body.Reference] = &held{answer: answerBody{ID: "EX-" + body.Reference, Status: "refunded"}}
	}
	write(w, p.payments[body.Reference].answer)
}

// settle lets all pending payments reach their end.
func (p *provider) settle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.payments {
		switch {
		case h.answer.Status != "processing":
		case h.iban == accountLate:
			h.answer.Status = "collected"
			h.collected++
		default:
			h.answer.Status, h.answer.Reason = "refused", "AM04"
		}
	}
}

func (p *provider) debits(reference string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h := p.payments[reference]; h != nil {
		return h.collected
	}
	return 0
}
