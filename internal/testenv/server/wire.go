//go:build unix

package server

import (
	"io"
	"net"
	"net/url"
	"sync"
)

// Wire is a way to a server that can be cut. Nobody is told: what is sent is neither
// refused nor answered, as when a cable is pulled.
type Wire struct {
	// Address is where it is reached.
	Address string

	target   string
	listener net.Listener
	ended    chan struct{}

	mu    sync.Mutex
	open  chan struct{} // closed while bytes pass
	links map[*link]bool
}

// link is one connection over the wire.
type link struct {
	ends [2]net.Conn
	dead chan struct{}
}

// StartWire leads to a server.
func StartWire(target string) (*Wire, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &Wire{
		Address: listener.Addr().String(), target: target, listener: listener,
		ended: make(chan struct{}), open: make(chan struct{}), links: map[*link]bool{},
	}
	close(w.open)
	go w.accept()
	return w, nil
}

// WireTo is a wire to the server of an address, and the address by which it is used.
func WireTo(address string) (*Wire, string, error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return nil, "", err
	}
	w, err := StartWire(parsed.Host)
	if err != nil {
		return nil, "", err
	}
	parsed.Host = w.Address
	return w, parsed.String(), nil
}

// Close takes the wire away.
func (w *Wire) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.ended)
	w.listener.Close()
	for l := range w.links {
		l.hangUp()
	}
}

func (w *Wire) accept() {
	for {
		here, err := w.listener.Accept()
		if err != nil {
			return
		}
		go w.connect(here)
	}
}

// connect goes on to the server once bytes pass.
func (w *Wire) connect(here net.Conn) {
	l := &link{ends: [2]net.Conn{here, nil}, dead: make(chan struct{})}
	if !w.pass(l) {
		here.Close()
		return
	}
	there, err := net.Dial("tcp", w.target)
	if err != nil {
		here.Close()
		return
	}
	l.ends[1] = there
	w.mu.Lock()
	w.links[l] = true
	w.mu.Unlock()
	go w.carry(l, there, here)
	w.carry(l, here, there)
	w.mu.Lock()
	delete(w.links, l)
	w.mu.Unlock()
}

// carry passes bytes on in one direction.
func (w *Wire) carry(l *link, to io.Writer, from io.Reader) {
	defer l.hangUp()
	bytes := make([]byte, 32<<10)
	for {
		n, err := from.Read(bytes)
		if n > 0 {
			if !w.pass(l) {
				return
			}
			if _, err := to.Write(bytes[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (l *link) hangUp() {
	for _, end := range l.ends {
		if end != nil {
			end.Close()
		}
	}
}

// pass waits until bytes pass, and tells whether they ever do.
func (w *Wire) pass(l *link) bool {
	w.mu.Lock()
	open := w.open
	w.mu.Unlock()
	select {
	case <-l.dead: // for good, and nobody is told
		<-w.ended
		return false
	case <-open:
		select {
		case <-l.dead:
			<-w.ended
			return false
		default:
			return true
		}
	case <-w.ended:
		return false
	}
}

// Cut has nothing pass any more, on connections old and new.
func (w *Wire) Cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = make(chan struct{})
}

// Heal has everything pass again, also what was held up.
func (w *Wire) Heal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.open)
}

// Forget has nothing pass on the connections that there are, ever again; new ones work. So
// it is when a firewall or a pooler that has moved forgets what it was carrying.
func (w *Wire) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for l := range w.links {
		close(l.dead)
		delete(w.links, l)
	}
}

// IsCut tells whether nothing passes.
func (w *Wire) IsCut() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.open:
		return false
	default:
		return true
	}
}
