// Package door turns callers away before anything is done for them.
//
// At four times the load that can be carried three of four requests are refused, and for each of them net/http would read
// a head into a map, start a goroutine that watches for the caller's leaving, stop it, and write another map: four times
// what the refusal itself takes. A Listener stands before net/http. Its connections look at what has come when a request
// begins; one that is whole, plain and not wanted is answered there, and net/http never hears of it.
//
// Two readers of one connection must never disagree about where a request ends, or somebody is given another's answer. So
// this one knows very little (framing.go): a head of plain lines and a body whose length it says. Whatever else comes,
// the connection is net/http's alone from then on. A test holds it against net/http, with whatever a fuzzer thinks of.
package door

import (
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"sepad/internal/clock"
)

// Request is what is known of a request at the door. It is valid only until it is answered.
type Request struct {
	Method, Path []byte
	// ID is what the caller wants it to be called by, "" for nothing.
	ID   []byte
	Peer netip.Addr
	// FromPage tells that a browser has sent it from somebody's page, which wants more headers.
	FromPage bool
}

// Doorman answers a request that is to be turned away, by what it appends to the answer. Nothing lets the request in.
type Doorman func(answer []byte, r Request) []byte

// Listener has its connections pass a doorman.
type Listener struct {
	net.Listener
	Doorman Doorman
	// Idle is how long a caller who was turned away may keep the connection without a word, Slow how long the rest of
	// a request may take that has begun.
	Idle, Slow time.Duration
}

// Accept waits for a connection.
func (l *Listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: accepted, listener: l, began: clock.Real{}.Now()}
	if address, ok := accepted.RemoteAddr().(*net.TCPAddr); ok {
		c.peer = address.AddrPort().Addr().Unmap().WithZone("")
	}
	return c, nil
}

// What comes after an answer that was the last one is read for so long, and so much of it: more than proxies let through.
const (
	farewellPatience = 500 * time.Millisecond
	longestFarewell  = 256 << 10
)

// connection is read by one goroutine at a time, as net/http does.
type connection struct {
	net.Conn
	listener *Listener
	peer     netip.Addr
	framing  framing
	answer   []byte
	began    time.Time
	// hasShown tells that net/http was shown something of the connection.
	hasShown bool
	// prolonged tells that net/http's deadline for the request that it waits for was put off.
	prolonged bool
	// late is for how long others were turned away before net/http was shown anything, until it says how long it waits.
	late time.Duration
	// isWithin tells that more may come of a request that has begun, isClosing that nobody is shown it any more.
	isWithin, isClosing atomic.Bool
}

// CloseWrite is asked for by net/http where it has answered before all has come: whoever still sends would lose the answer
// if the connection were closed at once.
func (c *connection) CloseWrite() error {
	c.isWithin.Store(false) // net/http waits by itself
	return c.closeWrite()
}

func (c *connection) closeWrite() error {
	if halves, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return halves.CloseWrite()
	}
	return nil
}

// Close is called by net/http at once when it has refused a head, with the body still to come. That would be a reset: a
// proxy that is still sending takes it for a process that fails, and leaves that alone, for everybody.
func (c *connection) Close() error {
	if !c.isWithin.Load() {
		return c.Conn.Close()
	}
	if !c.isClosing.Swap(true) {
		go c.takeLeave()
	}
	return nil
}

// takeLeave reads on until the caller has seen the answer. Nobody is left to be told of errors.
func (c *connection) takeLeave() {
	end := time.AfterFunc(farewellPatience, func() { _ = c.Conn.Close() }) // whatever deadlines net/http sets meanwhile
	if c.closeWrite() == nil {
		_, _ = io.CopyN(io.Discard, c.Conn, longestFarewell)
	}
	end.Stop()
	_ = c.Conn.Close()
}

// Read reads what comes next, except for requests that are turned away.
func (c *connection) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if c.isClosing.Load() {
			return 0, net.ErrClosed
		}
		if n == 0 || err != nil {
			return n, err
		}
		request, isWhole := c.framing.follow(p[:n])
		c.isWithin.Store(c.framing.isWithin())
		if !isWhole {
			return n, c.show()
		}
		request.Peer = c.peer
		if c.answer = c.listener.Doorman(c.answer[:0], request); len(c.answer) == 0 {
			return n, c.show()
		}
		if err := c.turnAway(); err != nil {
			return 0, err
		}
	}
}

// turnAway writes the answer. The deadlines that net/http has set are those of another request.
func (c *connection) turnAway() error {
	c.prolonged = true
	now := clock.Real{}.Now()
	if err := c.SetWriteDeadline(now.Add(c.listener.Slow)); err != nil {
		return err
	}
	if err := c.Conn.SetReadDeadline(now.Add(c.listener.Idle)); err != nil {
		return err
	}
	_, err := c.Write(c.answer)
	return err
}

// show gives the request that net/http is shown as much time as it would have had, and no more.
func (c *connection) show() error {
	isFirst := !c.hasShown
	if isFirst {
		c.hasShown = true
	}
	if !c.prolonged {
		return nil
	}
	c.prolonged = false
	now := clock.Real{}.Now()
	if isFirst {
		c.late = now.Sub(c.began)
	}
	return c.Conn.SetReadDeadline(now.Add(c.listener.Slow))
}

// SetReadDeadline is how net/http says until when it waits, the zero time for ever. It counts the time of a connection's
// first request from when the connection began, and its next word after the head is about the body: without those who
// were turned away meanwhile its time would be over before it came.
func (c *connection) SetReadDeadline(until time.Time) error {
	if c.late > 0 {
		if !until.IsZero() {
			until = until.Add(c.late)
		}
		c.late = 0
	}
	return c.Conn.SetReadDeadline(until)
}
