package api

import (
	"context"
	"errors"
	"sync"
	"time"

	"sepad/internal/store"
)

// strangers keep keys that this process does not know from becoming a load. Whether a
// key is good only the database can say, and a good one passes however many bad ones
// came from its address (contract 8.1): so they are looked up, but those of one address
// one after the other. The zero value is ready.
type strangers struct {
	mu      sync.Mutex
	waiting map[string]*turns
}

// turns are those of one address, given by passing the one token on.
type turns struct {
	token chan struct{}
	users int
}

// strangerPatience is how long a look-up waits for those before it.
const strangerPatience = 5 * time.Second

// enter waits for the address's turn. Who cannot be looked up in time is told that the
// service is busy, and not that the key is wrong.
func (s *strangers) enter(ctx context.Context, address string) (leave func(), err error) {
	line := s.join(address)
	ctx, cancel := context.WithTimeout(ctx, strangerPatience)
	defer cancel()
	select {
	case <-line.token:
		return func() {
			line.token <- struct{}{}
			s.part(address, line)
		}, nil
	case <-ctx.Done():
		s.part(address, line)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, store.ErrBusy
		}
		return nil, ctx.Err()
	}
}

func (s *strangers) join(address string) *turns {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == nil {
		s.waiting = map[string]*turns{}
	}
	line := s.waiting[address]
	if line == nil {
		line = &turns{token: make(chan struct{}, 1)}
		line.token <- struct{}{}
		s.waiting[address] = line
	}
	line.users++
	return line
}

// part forgets an address of which nobody waits any more.
func (s *strangers) part(address string, line *turns) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if line.users--; line.users == 0 {
		delete(s.waiting, address)
	}
}
