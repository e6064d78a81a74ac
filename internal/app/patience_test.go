package app

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"sepad/internal/clock"
	"sepad/internal/config"
	"sepad/internal/door"
	"sepad/internal/web"
)

// pipes is a listener whose connections are in memory, so that their time can be
// that of the test: it passes whenever everybody waits.
type pipes struct {
	incoming chan net.Conn
	closed   chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case connection := <-p.incoming:
		return connection, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// callSlowly gives a test a connection to a server such as every process has. One
// path there reads a body and answers it, one has a file, and one is full.
func callSlowly(t *testing.T, test func(t *testing.T, connection net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		echo := func(w http.ResponseWriter, r *http.Request) error {
			if _, err := web.DecodeObject(w, r); err != nil {
				return err
			}
			web.WriteJSON(w, r, http.StatusOK, make([]int, 1<<20))
			return nil
		}
		file := func(w http.ResponseWriter, _ *http.Request) error {
			_, err := (&web.Download{ResponseWriter: w, ContentType: "text/csv"}).Write(make([]byte, fileSize))
			return err
		}
		front := web.Front{Logger: slog.New(slog.DiscardHandler), Clock: clock.Real{}}
		a := &App{
			config: config.Config{GatewayTimeout: 20 * time.Second},
			doorman: func(answer []byte, r door.Request) []byte {
				if string(r.Path) == "/full/" {
					answer = append(answer, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"...)
				}
				return answer
			},
			handler: front.Wrap(web.NewMux([]web.Route{
				{Method: http.MethodPost, Pattern: "/echo/", Handler: echo}, {Method: http.MethodGet, Pattern: "/file/", Handler: file},
			})),
		}
		server, listener := a.newServer(a.handler), &pipes{make(chan net.Conn), make(chan struct{})}
		done := make(chan error, 1)
		go func() { done <- server.Serve(atTheDoor(listener, a.doorman)) }()
		ours, theirs := net.Pipe()
		listener.incoming <- theirs
		test(t, ours)
		ours.Close()
		server.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("the server ended with %v", err)
		}
	})
}

// fileSize is that of a download of many pieces.
const fileSize = 1 << 20

const echoHead = "POST /echo/ HTTP/1.1\r\nHost: pay.example\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"

func TestPatienceWithSlowConnections(t *testing.T) {
	t.Parallel()
	t.Run("a request whose header does not end is given up after 10 s", func(t *testing.T) {
		callSlowly(t, func(t *testing.T, connection net.Conn) {
			began := time.Now()
			send(t, connection, echoHead)
			if answer, err := io.ReadAll(connection); err != nil || len(answer) > 0 {
				t.Errorf("the answer is %q, %v", answer, err)
			}
			wantAfter(t, began, 10*time.Second)
		})
	})
	t.Run("a trickle of header lines buys no more time", func(t *testing.T) {
		callSlowly(t, func(t *testing.T, connection net.Conn) {
			began := time.Now()
			send(t, connection, "POST /echo/ HTTP/1.1\r\n")
			for err := error(nil); err == nil; {
				<-time.After(3 * time.Second)
				_, err = io.WriteString(connection, "X-More: yes\r\n")
			}
			wantAfter(t, began, 12*time.Second)
		})
	})
	t.Run("a body that does not come is a 400 after 30 s, and the connection is closed", func(t *testing.T) {
		callSlowly(t, func(t *testing.T, connection net.Conn) {
			began := time.Now()
			send(t, connection, echoHead+"\r\n{")
			reader := bufio.NewReader(connection)
			if status, err := readAnswer(reader); err != nil || status != http.StatusBadRequest {
				t.Fatalf("the answer is %d, %v", status, err)
			}
			wantAfter(t, began, 30*time.Second)
			if _, err := reader.ReadByte(); !errors.Is(err, io.EOF) {
				t.Errorf("the connection goes on with %v", err)
			}
		})
	})
	t.Run("an answer that nobody takes is given up 30 s after the gateway's time", func(t *testing.T) {
		for wait, whole := range map[time.Duration]bool{49 * time.Second: true, 51 * time.Second: false} {
			callSlowly(t, func(t *testing.T, connection net.Conn) {
				send(t, connection, echoHead+"\r\n{}")
				<-time.After(wait)
				if _, err := readAnswer(bufio.NewReader(connection)); (err == nil) != whole {
					t.Errorf("taken after %s it ends with %v", wait, err)
				}
			})
		}
	})
	t.Run("a connection without a request is closed after two minutes", func(t *testing.T) {
		callSlowly(t, func(t *testing.T, connection net.Conn) {
			send(t, connection, echoHead+"\r\n{}")
			reader := bufio.NewReader(connection)
			if _, err := readAnswer(reader); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if _, err := reader.ReadByte(); !errors.Is(err, io.EOF) {
				t.Errorf("the connection goes on with %v", err)
			}
			wantAfter(t, began, 2*time.Minute)
		})
	})
}

// TestPatienceWithWhoIsTurnedAway has callers who hear before net/http that there is no room: their time is the same.
func TestPatienceWithWhoIsTurnedAway(t *testing.T) {
	t.Parallel()
	t.Run("who comes again and again is answered for as long as he likes", func(t *testing.T) {
		callSlowly(t, func(t *testing.T, connection net.Conn) {
			reader := bufio.NewReader(connection)
			for range 10 {
				wantTurnedAway(t, connection, reader)
				<-time.After(time.Minute)
			}
			send(t, connection, echoHead+"\r\n{}")
			if status, err := readAnswer(reader); err != nil || status != http.StatusOK {
				t.Errorf("the answer is %d, %v", status, err)
			}
		})
	})
	t.Run("who is let in at last has 30 s for the body", func(t *testing.T) {
		for wait, want := range map[time.Duration]int{29 * time.Second: http.StatusOK, 31 * time.Second: http.StatusBadRequest} {
			callSlowly(t, func(t *testing.T, connection net.Conn) {
				reader := bufio.NewReader(connection)
				wantTurnedAway(t, connection, reader)
				<-time.After(time.Minute)
				send(t, connection, echoHead+"\r\n{")
				rest := time.AfterFunc(wait, func() {
					_, _ = io.WriteString(connection, "}") // the answer tells whether it came in time
				})
				defer rest.Stop()
				if status, err := readAnswer(reader); err != nil || status != want {
					t.Errorf("a body that takes %s is answered with %d, %v", wait, status, err)
				}
			})
		}
	})
	t.Run("who says nothing more is let go after two minutes", func(t *testing.T) {
		callSlowly(t, func(t *testing.T, connection net.Conn) {
			reader := bufio.NewReader(connection)
			wantTurnedAway(t, connection, reader)
			began := time.Now()
			if _, err := reader.ReadByte(); !errors.Is(err, io.EOF) {
				t.Errorf("the connection goes on with %v", err)
			}
			wantAfter(t, began, 2*time.Minute)
		})
	})
	t.Run("a header that does not end buys no more time with it", func(t *testing.T) {
		callSlowly(t, func(t *testing.T, connection net.Conn) {
			reader := bufio.NewReader(connection)
			wantTurnedAway(t, connection, reader)
			began := time.Now()
			send(t, connection, echoHead)
			if _, err := reader.ReadByte(); !errors.Is(err, io.EOF) {
				t.Errorf("the connection goes on with %v", err)
			}
			wantAfter(t, began, 10*time.Second)
		})
	})
	t.Run("an answer that nobody takes is given up after 10 s", func(t *testing.T) {
		callSlowly(t, func(t *testing.T, connection net.Conn) {
			send(t, connection, fullCall)
			<-time.After(11 * time.Second)
			if _, err := readAnswer(bufio.NewReader(connection)); err == nil {
				t.Error("it is still there")
			}
		})
	})
}

const fullCall = "GET /full/ HTTP/1.1\r\nHost: pay.example\r\n\r\n"

func wantTurnedAway(t *testing.T, connection net.Conn, reader *bufio.Reader) {
	t.Helper()
	send(t, connection, fullCall)
	if status, err := readAnswer(reader); err != nil || status != http.StatusServiceUnavailable {
		t.Fatalf("the answer is %d, %v", status, err)
	}
}

func TestADownloadLastsAsLongAsItsReaderGoesOn(t *testing.T) {
	t.Parallel()
	// A reader has a minute for each piece, and the whole takes many.
	for pause, whole := range map[time.Duration]bool{50 * time.Second: true, 70 * time.Second: false} {
		callSlowly(t, func(t *testing.T, connection net.Conn) {
			send(t, connection, "GET /file/ HTTP/1.1\r\nHost: pay.example\r\n\r\n")
			read, err := readSlowly(t, connection, pause)
			if whole && (read != fileSize || err != nil) || !whole && (read == fileSize || !errors.Is(err, io.ErrUnexpectedEOF)) {
				t.Errorf("with a pause of %s after each piece %d bytes were read, %v", pause, read, err)
			}
		})
	}
}

func send(t *testing.T, connection net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(connection, text); err != nil {
		t.Fatal(err)
	}
}

// readSlowly reads a body with a pause after each piece.
func readSlowly(t *testing.T, connection net.Conn, pause time.Duration) (read int, err error) {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	for piece := make([]byte, 64<<10); ; <-time.After(pause) {
		n, err := io.ReadFull(response.Body, piece)
		read += n
		if errors.Is(err, io.EOF) {
			return read, nil
		}
		if err != nil {
			return read, err
		}
	}
}

// readAnswer reads an answer to its end.
func readAnswer(reader *bufio.Reader) (status int, err error) {
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

func wantAfter(t *testing.T, began time.Time, wait time.Duration) {
	t.Helper()
	if took := time.Since(began); took != wait {
		t.Errorf("it took %s, want %s", took, wait)
	}
}
