//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// receiver is a merchant's server for events, or those of many merchants. It counts every delivery by its
// event id: one that comes twice, or that nobody announced, is an error.
type receiver struct {
	address string
	// addresses are all that it listens at; address is the first.
	addresses []string
	server    *http.Server

	mu      sync.Mutex
	missing map[string]bool // nil while ids are not known beforehand
	seen    map[string]bool
	wanted  int
	errors  int
	trouble string
	first   time.Time
	last    time.Time
	done    chan struct{}
}

func openReceiver() (*receiver, error) {
	r := &receiver{}
	r.server = &http.Server{Handler: r}
	return r, r.listen(1)
}

// listen opens so many ports more.
func (r *receiver) listen(ports int) error {
	for range ports {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		r.addresses = append(r.addresses, listener.Addr().String())
		go func() { _ = r.server.Serve(listener) }() // it ends when it is closed
	}
	r.address = r.addresses[0]
	return nil
}

func (r *receiver) close() { _ = r.server.Close() }

// expect begins a round of so many deliveries, with these ids where they are
// known, and gives the signal of its end.
func (r *receiver) expect(ids []string, wanted int) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missing, r.seen, r.wanted = nil, make(map[string]bool, wanted), wanted
	if ids != nil {
		r.missing = make(map[string]bool, len(ids))
		for _, id := range ids {
			r.missing[id] = true
		}
	}
	r.errors, r.trouble, r.first, r.done = 0, "", time.Time{}, make(chan struct{})
	return r.done
}

func (r *receiver) ServeHTTP(_ http.ResponseWriter, request *http.Request) {
	_, _ = io.Copy(io.Discard, request.Body) // a broken call is seen by its sender
	r.count(request.Header.Get("X-Service-Event-Id"), time.Now())
}

func (r *receiver) count(id string, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.seen[id]:
		r.fault("event " + id + " came twice")
		return
	case r.missing != nil && !r.missing[id]:
		r.fault("event " + id + " is of another round")
		return
	}
	if r.seen[id] = true; len(r.seen) == 1 {
		r.first = now
	}
	if r.last = now; len(r.seen) == r.wanted {
		close(r.done)
	}
}

func (r *receiver) fault(trouble string) {
	if r.errors++; r.trouble == "" {
		r.trouble = trouble
	}
}

// result waits for the end of a round and gives deliveries per second.
func (r *receiver) result(ctx context.Context, done <-chan struct{}) (sample, error) {
	select {
	case <-done:
	case <-ctx.Done():
		return sample{}, ctx.Err()
	case <-time.After(webhookPatience):
		r.mu.Lock()
		defer r.mu.Unlock()
		return sample{}, fmt.Errorf("%d of %d deliveries came", len(r.seen), r.wanted)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	took := r.last.Sub(r.first).Seconds()
	return sample{figure: float64(r.wanted-1) / took, errors: r.errors, trouble: r.trouble}, nil
}
