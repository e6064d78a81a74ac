package door_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sepad/internal/door"
)

// house is a server whose doorman turns away who wants to /full/. Everybody is told their own name.
type house struct {
	address string
	// turnedAway are those who were, entered those who came in.
	turnedAway, entered atomic.Int64
}

func newHouse(t *testing.T) *house {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &house{address: listener.Addr().String()}
	server := &http.Server{Handler: http.HandlerFunc(h.welcome), ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() {
		ended <- server.Serve(&door.Listener{Listener: listener, Doorman: h.refuse, Idle: time.Minute, Slow: time.Minute})
	}()
	t.Cleanup(func() {
		server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("the server ended with %v", err)
		}
	})
	return h
}

func (h *house) refuse(answer []byte, r door.Request) []byte {
	if string(r.Path) != "/full/" {
		return answer
	}
	h.turnedAway.Add(1)
	return fmt.Appendf(answer, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: %d\r\n\r\n%s", len(r.ID), r.ID)
}

func (h *house) welcome(w http.ResponseWriter, r *http.Request) {
	h.entered.Add(1)
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return // a caller who has left
	}
	_, _ = io.WriteString(w, r.Header.Get("X-Request-Id")) // he hears it or has left
}

// visit sends pieces and wants an answer for each name, in their order.
func visit(t *testing.T, connection net.Conn, reader *bufio.Reader, pieces []string, names ...string) {
	t.Helper()
	for _, piece := range pieces {
		if _, err := io.WriteString(connection, piece); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatalf("%s is not answered: %v", name, err)
		}
		heard, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || string(heard) != name {
			t.Fatalf("%s is told %q, %v", name, heard, err)
		}
	}
}

func call(path, name string, body int) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: a\r\nX-Request-Id: %s\r\nContent-Length: %d\r\n\r\n%s", path, name, body, strings.Repeat("x", body))
}

func chunked(path, name string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: a\r\nX-Request-Id: %s\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", path, name)
}

func dial(t *testing.T, h *house) (net.Conn, *bufio.Reader) {
	t.Helper()
	connection, err := net.Dial("tcp", h.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	if err := connection.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return connection, bufio.NewReader(connection)
}

func TestWhoIsTurnedAwayNeverEnters(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	const many = 100
	for i := range many {
		// One who follows somebody who has entered may enter as well: net/http still listens for whether that one has left,
		// and so hears the beginning of who comes next.
		connection, reader := dial(t, h)
		name := fmt.Sprint("name", i)
		visit(t, connection, reader, []string{call("/full/", name, i)}, name)
		visit(t, connection, reader, []string{call("/full/", name, 10*i)}, name)
		visit(t, connection, reader, []string{call("/room/", name, 50*i)}, name)
	}
	if h.turnedAway.Load() != 2*many || h.entered.Load() != many {
		t.Errorf("%d were turned away and %d entered, want %d and %d", h.turnedAway.Load(), h.entered.Load(), 2*many, many)
	}
}

// TestNobodyHearsAnothersAnswer has callers come in every way that HTTP knows, those who are turned away among the others.
func TestNobodyHearsAnothersAnswer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	t.Run("callers", func(t *testing.T) {
		for caller := range 16 {
			t.Run(fmt.Sprint(caller), func(t *testing.T) {
				t.Parallel()
				h.comeInEveryWay(t, caller)
			})
		}
	})
	if h.turnedAway.Load() == 0 || h.entered.Load() == 0 {
		t.Errorf("%d were turned away and %d entered", h.turnedAway.Load(), h.entered.Load())
	}
}

// TestWhoSendsTooMuchHearsSo sends a head that net/http does not read to its end.
func TestWhoSendsTooMuchHearsSo(t *testing.T) {
	t.Parallel()
	const tooMuch = 4 << 20 // beyond what net/http reads by default
	connection, reader := dial(t, newHouse(t))
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.WriteString(connection, "GET /room/?"+strings.Repeat("x", tooMuch)) // not all of it is taken
	}()
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if said, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("it is told %d %q, %v", response.StatusCode, said, err)
	}
	connection.Close()
	<-sent
}

// TestWhoIsRefusedMayFinish sends what net/http refuses by its head alone, with a body that is still coming. A proxy that is
// told so by a reset takes the process for one that fails.
func TestWhoIsRefusedMayFinish(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	half := strings.Repeat("a", 30_000)
	for name, head := range map[string]string{
		"a host that is none":       "POST / HTTP/1.1\r\nHost: a{b\r\nContent-Length: 60000\r\n\r\n",
		"a header that is not text": "POST / HTTP/1.1\r\nHost: x\r\nX-A: \x01\r\nContent-Length: 60000\r\n\r\n",
		"a first line that is none": "POST\r\n",
	} {
		connection, reader := dial(t, h)
		if _, err := io.WriteString(connection, head+half); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		response, err := http.ReadResponse(reader, nil)
		if err != nil || response.StatusCode != http.StatusBadRequest {
			t.Fatalf("%s: %v, %v", name, response, err)
		}
		if _, err := io.WriteString(connection, half); err != nil {
			t.Errorf("%s: the body breaks off: %v", name, err)
		}
		if _, err := io.Copy(io.Discard, reader); err != nil {
			t.Errorf("%s: after the answer: %v", name, err)
		}
		response.Body.Close()
	}
}

// TestWhoStaysAfterARefusalIsLeft keeps a connection whose last answer was given.
func TestWhoStaysAfterARefusalIsLeft(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	connection, _ := dial(t, h)
	if _, err := io.WriteString(connection, "POST / HTTP/1.1\r\nHost: a{b\r\nContent-Length: 60000\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 3000 {
		if _, err := io.WriteString(connection, "a"); err != nil {
			return
		}
		<-tick.C
	}
	t.Error("a byte is taken now and then for a minute")
}

func (h *house) comeInEveryWay(t *testing.T, caller int) {
	t.Helper()
	chance := rand.New(rand.NewPCG(7, uint64(caller)))
	connection, reader := dial(t, h)
	for i := range 200 {
		if i%20 == 0 { // whoever has sent two at once is net/http's from then on: begin anew
			connection, reader = dial(t, h)
		}
		name := fmt.Sprintf("%d-%d", caller, i)
		text := call([]string{"/full/", "/room/"}[chance.IntN(2)], name, chance.IntN(3000))
		switch chance.IntN(6) {
		case 0:
			cut := 1 + chance.IntN(len(text)-1)
			visit(t, connection, reader, []string{text[:cut], text[cut:]}, name)
		case 1:
			visit(t, connection, reader, []string{text + call("/full/", "second", 10)}, name, "second")
		case 2:
			visit(t, connection, reader, []string{call("/room/", "first", 5), text}, "first", name)
		default:
			visit(t, connection, reader, []string{text}, name)
		}
	}
	visit(t, connection, reader, []string{chunked("/full/", "chunks")}, "chunks")
	visit(t, connection, reader, []string{call("/full/", "after", 3)}, "after")
}
