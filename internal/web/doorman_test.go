package web

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"sepad/internal/clock"
	"sepad/internal/door"
	"sepad/internal/store"
)

// fullHouse has no room. Who is not turned away by the doorman is so by the handlers, and counted.
type fullHouse struct {
	front   Front
	routes  []Route
	entered int
}

func newFullHouse(t *testing.T, front Front) *fullHouse {
	t.Helper()
	h := &fullHouse{front: front}
	h.front.Logger, h.front.Clock = jsonLogger(t, &bytes.Buffer{}), clock.Real{}
	h.front.Crowd = &Crowd{Logger: h.front.Logger}
	refuse := func(w http.ResponseWriter, r *http.Request) error {
		h.entered++
		return TurnAway(w, r, store.ErrBusy)
	}
	h.routes = []Route{
		{Method: http.MethodPost, Pattern: "/sessions/{token}/pay/", Work: Payment, Handler: refuse},
		{Method: http.MethodGet, Pattern: "/sessions/{token}/", Handler: refuse},
		{Method: http.MethodGet, Pattern: "/sessions/", Work: List, Handler: refuse},
	}
	return h
}

// hear sends a request over a connection and gives the answer.
func (h *fullHouse) hear(t *testing.T, isFull bool, request string) (response *http.Response, body string) {
	t.Helper()
	server := httptest.NewUnstartedServer(h.front.Wrap(NewMux(h.routes)))
	server.Listener = &door.Listener{
		Listener: server.Listener, Doorman: h.front.Doorman(h.routes, func() bool { return isFull }), Idle: time.Minute, Slow: time.Minute,
	}
	server.Start()
	defer server.Close()
	connection, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if _, err := io.WriteString(connection, request); err != nil {
		t.Fatal(err)
	}
	response, err = http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(text)
}

const payCall = "POST /sessions/" + token + "/pay/ HTTP/1.1\r\nHost: pay.example\r\nContent-Length: 2\r\nX-Request-Id: given-1\r\n\r\n{}"

// TestTheDoormanSpeaksAsTheHandlersDo has a call turned away before net/http and behind it.
func TestTheDoormanSpeaksAsTheHandlersDo(t *testing.T) {
	t.Parallel()
	for name, front := range map[string]Front{
		"in a sandbox":      {},
		"in production":     {HTTPSOnly: true},
		"by way of a proxy": {Proxies: TrustedProxies{netip.MustParsePrefix("127.0.0.0/8")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFullHouse(t, front)
			counted := 0
			h.front.Crowd.Count = func() { counted++ }
			behind, behindBody := h.hear(t, false, payCall)
			if h.entered != 1 {
				t.Fatal("with room it does not come in")
			}
			h.front.Observe = func(method, route string, status int, took time.Duration) {
				if method != http.MethodPost || route != "/sessions/{token}/pay/" || status != http.StatusServiceUnavailable || took < 0 {
					t.Errorf("%s %s %d after %s is noted", method, route, status, took)
				}
			}
			before, beforeBody := h.hear(t, true, payCall)
			if h.entered != 1 || counted != 2 {
				t.Errorf("%d came in, %d were counted", h.entered, counted)
			}
			wantSameAnswer(t, before, behind, front.Proxies != nil)
			if beforeBody != behindBody {
				t.Errorf("it is told %q, and behind the door %q", beforeBody, behindBody)
			}
		})
	}
}

func wantSameAnswer(t *testing.T, before, behind *http.Response, isGiven bool) {
	t.Helper()
	for _, answer := range []*http.Response{before, behind} {
		id := answer.Header.Get("X-Request-Id")
		if date, err := http.ParseTime(answer.Header.Get("Date")); err != nil || time.Since(date).Abs() > time.Minute || id == "" || (id == "given-1") != isGiven {
			t.Errorf("it is %q of %v, %v", id, date, err)
		}
		answer.Header.Del("Date")
		answer.Header.Del("X-Request-Id")
	}
	if before.Status != behind.Status || before.ContentLength != behind.ContentLength || !reflect.DeepEqual(before.Header, behind.Header) {
		t.Errorf("it is told %s with %v, and behind the door %s with %v", before.Status, before.Header, behind.Status, behind.Header)
	}
}

// TestWhomTheDoormanLetsIn has calls that are for the handlers to refuse.
func TestWhomTheDoormanLetsIn(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]string{
		"from a page":        strings.Replace(payCall, "\r\n", "\r\nOrigin: https://shop.example\r\n", 1),
		"another method":     strings.Replace(payCall, "POST", "PUT", 1),
		"another path":       strings.Replace(payCall, "/pay/", "/pays/", 1),
		"with a query":       strings.Replace(payCall, "/pay/", "/pay/?a=b", 1),
		"without the slash":  strings.Replace(payCall, "/pay/", "/pay", 1),
		"of two parts":       strings.Replace(payCall, "/pay/", "/more/pay/", 1),
		"with an escape":     strings.Replace(payCall, token, "%61", 1),
		"without a token":    strings.Replace(payCall, token+"/", "", 1),
		"what is only read":  "GET /sessions/" + token + "/ HTTP/1.1\r\nHost: pay.example\r\n\r\n",
		"what lists by path": "GET /sessions/ HTTP/1.1\r\nHost: pay.example\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFullHouse(t, Front{})
			doorman := h.front.Doorman(h.routes, func() bool { return true })
			asked := false
			ask := func(answer []byte, r door.Request) []byte {
				asked = true
				return doorman(answer, r)
			}
			near, far := net.Pipe()
			defer near.Close()
			connection, err := (&door.Listener{Listener: &oneConnection{far}, Doorman: ask, Idle: time.Minute, Slow: time.Minute}).Accept()
			if err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = io.WriteString(near, request) }() // who reads it tells whether it came
			read := make([]byte, 4096)
			if n, err := connection.Read(read); err != nil || string(read[:n]) != request || !asked {
				t.Errorf("%q comes in, %v; the doorman was asked: %v", read[:n], err, asked)
			}
		})
	}
}

// oneConnection is a listener that has one.
type oneConnection struct{ net.Conn }

func (o *oneConnection) Accept() (net.Conn, error) { return o.Conn, nil }
func (o *oneConnection) Addr() net.Addr            { return o.LocalAddr() }
