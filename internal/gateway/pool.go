package gateway

import (
	"fmt"
	"slices"
	"sync"

	"github.com/google/uuid"
)

// Pool keeps one client per account for as long as the account stays as it is,
// so that circuit breakers and connections outlive a request.
type Pool struct {
	kinds   map[string]Kind
	options Options

	mu      sync.Mutex
	clients map[uuid.UUID]*Client
}

// NewPool makes a pool of the adapters in kinds.
func NewPool(kinds map[string]Kind, options Options) *Pool {
	return &Pool{kinds: kinds, options: options, clients: map[uuid.UUID]*Client{}}
}

// Client gives the client of an account, a new one when its adapter or its
// settings have changed.
func (p *Pool) Client(adapter string, account Account) (*Client, error) {
	kind, known := p.kinds[adapter]
	if !known {
		return nil, fmt.Errorf("gateway account %s: no adapter is called %q", account.ID, adapter)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if client := p.clients[account.ID]; client != nil && client.kind.Name == kind.Name && client.account.isSame(account) {
		return client, nil
	}
	client, err := NewClient(kind, account, p.options)
	if err != nil {
		return nil, err
	}
	p.clients[account.ID] = client
	return client, nil
}

// Batches names the adapters whose payments wait for a file.
func (p *Pool) Batches() (names []string) {
	for name, kind := range p.kinds {
		if kind.Batch {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Currencies are those that an adapter collects; false tells that there is none of the name.
func (p *Pool) Currencies(adapter string) (collected []string, isKnown bool) {
	kind, isKnown := p.kinds[adapter]
	return kind.Currencies, isKnown
}
