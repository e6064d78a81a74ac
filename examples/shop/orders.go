package main

import (
	"crypto/rand"
	"sync"
)

// order is what a customer has ordered. Its state follows from what the service tells,
// never from where the customer's browser has been sent.
type order struct {
	Number         string
	Product        string
	Token          string // of the payment session
	SubscriptionID string
	IsFulfilled    bool
}

// orders are kept in memory; a real shop has a database, and keeps there in one
// transaction what an event asks for together with the event's id and the feed's place.
type orders struct {
	mu       sync.Mutex
	byNumber map[string]*order
	handled  map[string]bool // events, by id
	place    string          // in the event feed
}

func newOrders() *orders {
	return &orders{byNumber: map[string]*order{}, handled: map[string]bool{}}
}

func (o *orders) add(product string) order {
	o.mu.Lock()
	defer o.mu.Unlock()
	added := &order{Number: rand.Text()[:12], Product: product}
	o.byNumber[added.Number] = added
	return *added
}

func (o *orders) get(number string) (order, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	found, ok := o.byNumber[number]
	if !ok {
		return order{}, false
	}
	return *found, true
}

// change does something to an order, if there is one.
func (o *orders) change(number string, do func(*order)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if found, ok := o.byNumber[number]; ok {
		do(found)
	}
}

// once runs a change that an event asks for, unless it was made before.
func (o *orders) once(eventID string, do func(find func(number string) *order)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.handled[eventID] {
		return
	}
	do(func(number string) *order { return o.byNumber[number] })
	o.handled[eventID] = true
}
