package storetest

import (
	"sync"

	"sepad/internal/payment"
	"sepad/internal/store"
)

// Promises are what a service has said to its callers and must stand by,
// whatever has crashed since.
type Promises struct {
	mu        sync.Mutex
	created   []string
	cancelled []string
	results   []Result
}

// Result is what a caller reads of the answer to pay or verify.
type Result struct {
	SessionToken string               `json:"session_token"`
	Status       payment.ResultStatus `json:"status"`
	Transaction  struct {
		MerchantTransactionID string `json:"merchant_transaction_id"`
	} `json:"transaction"`
}

// Created records that a session was answered 201.
func (p *Promises) Created(token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.created = append(p.created, token)
}

// Cancelled records that a session was answered to be cancelled.
func (p *Promises) Cancelled(token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cancelled = append(p.cancelled, token)
}

// Answered records a result that was answered 200.
func (p *Promises) Answered(r Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.results = append(p.results, r)
}

// Results counts the answers by status.
func (p *Promises) Results() map[payment.ResultStatus]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	count := map[payment.ResultStatus]int{}
	for _, r := range p.results {
		count[r.Status]++
	}
	return count
}

// Check finds what was said and is not so.
func (p *Promises) Check(books *Books) (f Findings) {
	p.mu.Lock()
	defer p.mu.Unlock()
	sessions, transactions := map[string]*BookedSession{}, map[string]*BookedTransaction{}
	for _, s := range books.Sessions {
		sessions[s.TokenKey] = s
	}
	for _, x := range books.Transactions {
		transactions[x.MerchantTransactionID] = x
	}
	for _, token := range p.created {
		if sessions[store.TokenKey(token)] == nil {
			f.add("a session that was answered 201 is lost")
		}
	}
	for _, token := range p.cancelled {
		if s := sessions[store.TokenKey(token)]; s == nil || s.Status != payment.SessionExpired {
			f.add("a session that was cancelled lives on")
		}
	}
	for _, said := range p.results {
		s, x := sessions[store.TokenKey(said.SessionToken)], transactions[said.Transaction.MerchantTransactionID]
		if s == nil || x == nil || x.Session != s.ID {
			f.add("an answer %q names a payment that does not exist", said.Status)
		} else if !said.stands(s, x) {
			f.add("transaction %s was answered %q, and is %s in a session that is %s", x.ID, said.Status, x.Status, s.Status)
		}
	}
	return f
}

// stands tells whether a result can still be believed. A completed payment that
// was pending may have been refused since, which is told by an event.
func (r Result) stands(s *BookedSession, x *BookedTransaction) bool {
	switch r.Status {
	case payment.ResultCompleted:
		return s.Status == payment.SessionCompleted && s.Last == x.ID
	case payment.ResultDeclined, payment.ResultFailed:
		return x.Status == payment.TransactionDeclined
	default:
		return r.Status == payment.ResultAwaiting
	}
}
