package sandbox

import (
	"context"
	"sync"
	"time"
)

// MemoryLedger is a ledger for tests of one process.
type MemoryLedger struct {
	mu      sync.Mutex
	entries map[Key]Entry
	pages   map[string]Key
}

// NewMemoryLedger is an empty ledger.
func NewMemoryLedger() *MemoryLedger {
	return &MemoryLedger{entries: map[Key]Entry{}, pages: map[string]Key{}}
}

// Insert implements Ledger.
func (l *MemoryLedger) Insert(_ context.Context, e Entry) (Entry, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if stored, taken := l.entries[e.Key]; taken {
		return stored, false, nil
	}
	l.entries[e.Key] = e
	if e.VerificationReference != "" {
		l.pages[e.VerificationReference] = e.Key
	}
	return e, true, nil
}

// Find implements Ledger.
func (l *MemoryLedger) Find(_ context.Context, key Key) (Entry, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, found := l.entries[key]
	return e, found, nil
}

// FindByVerification implements Ledger.
func (l *MemoryLedger) FindByVerification(_ context.Context, reference string) (Entry, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, found := l.entries[l.pages[reference]]
	return e, found, nil
}

// Decide implements Ledger.
func (l *MemoryLedger) Decide(_ context.Context, key Key, from, to State, at time.Time) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, found := l.entries[key]
	if !found || e.State != from {
		return false, nil
	}
	e.State, e.DecidedAt = to, at
	l.entries[key] = e
	return true, nil
}
