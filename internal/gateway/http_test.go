package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sepad/internal/clock"
	"sepad/internal/gateway"
	"sepad/internal/gateway/gatewaytest"
	"sepad/internal/payment"
)

const payload = `{"iban": "DE89370400440532013000"}`

func newHTTP(t *testing.T, base string, options gateway.HTTPOptions) *gateway.HTTP {
	t.Helper()
	h, err := gateway.NewHTTP(base, options)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func post(ctx context.Context, h *gateway.HTTP) (gateway.Answer, error) {
	return h.Do(ctx, gateway.Request{
		Method: "POST", Path: "/payments", Header: http.Header{"Idempotency-Key": {"TXN-1"}}, Body: []byte(payload),
	})
}

func get(ctx context.Context, h *gateway.HTTP) (gateway.Answer, error) {
	return h.Do(ctx, gateway.Request{Method: "GET", Path: "/payments/1"})
}

func wantNotSent(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, gateway.ErrNotSent) {
		t.Errorf("gave %v, want that nothing was sent", err)
	}
	wantNothingTold(t, err)
}

func wantUnknown(t *testing.T, err error) {
	t.Helper()
	if err == nil || errors.Is(err, gateway.ErrNotSent) {
		t.Errorf("gave %v, want that it is not known", err)
	}
	wantNothingTold(t, err)
}

func wantNothingTold(t *testing.T, err error) {
	t.Helper()
	for _, secret := range []string{"3704", "/payments", "TXN-1"} {
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("the error tells %q: %v", secret, err)
		}
	}
}

// peer is a server of bytes: what it does with each connection is scripted.
type peer struct {
	net.Listener
	connections atomic.Int32
}

func newPeer(t *testing.T, serve func(connection net.Conn, number int)) *peer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{Listener: listener}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			number := int(p.connections.Add(1))
			go func() {
				defer connection.Close()
				serve(connection, number)
			}()
		}
	}()
	return p
}

func (p *peer) url() string { return "http://" + p.Addr().String() }

// readRequest takes a whole request from the line.
func readRequest(connection net.Conn) {
	request, err := http.ReadRequest(bufio.NewReader(connection))
	if err == nil {
		io.Copy(io.Discard, request.Body)
	}
}

// reset ends a connection with a reset instead of an orderly end.
func reset(connection net.Conn) { connection.(*net.TCPConn).SetLinger(0) }

func TestHTTPNotSent(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	t.Run("a connection is refused", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t, nil)
		p.Close()
		_, err := post(ctx, newHTTP(t, p.url(), gateway.HTTPOptions{}))
		wantNotSent(t, err)
	})
	t.Run("the name is not known", func(t *testing.T) {
		t.Parallel()
		_, err := post(ctx, newHTTP(t, "https://gateway.invalid", gateway.HTTPOptions{}))
		wantNotSent(t, err)
	})
	t.Run("the certificate is nobody's that we trust", func(t *testing.T) {
		t.Parallel()
		var calls atomic.Int32
		server := quietTLS(t, func(http.ResponseWriter, *http.Request) { calls.Add(1) })
		_, err := post(ctx, newHTTP(t, server.URL, gateway.HTTPOptions{}))
		wantNotSent(t, err)
		if calls.Load() != 0 {
			t.Error("the gateway got a request")
		}
	})
	t.Run("the peer speaks only an old TLS", func(t *testing.T) {
		t.Parallel()
		server := quietTLS(t, func(http.ResponseWriter, *http.Request) { t.Error("the gateway got a request") })
		server.TLS.MinVersion, server.TLS.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
		_, err := post(ctx, newHTTP(t, server.URL, gateway.HTTPOptions{RootCAs: rootsOf(server)}))
		wantNotSent(t, err)
	})
	t.Run("the peer hangs up in the handshake", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t, func(connection net.Conn, _ int) { connection.Read(make([]byte, 1)); reset(connection) })
		_, err := post(ctx, newHTTP(t, "https://"+p.Addr().String(), gateway.HTTPOptions{}))
		wantNotSent(t, err)
	})
	t.Run("the handshake takes too long", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t, func(connection net.Conn, _ int) { io.Copy(io.Discard, connection) })
		_, err := post(ctx, newHTTP(t, "https://"+p.Addr().String(), gateway.HTTPOptions{ConnectTimeout: 20 * time.Millisecond}))
		wantNotSent(t, err)
	})
	t.Run("the context ended before", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t, func(connection net.Conn, _ int) { readRequest(connection); t.Error("the gateway got a request") })
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_, err := post(ended, newHTTP(t, p.url(), gateway.HTTPOptions{}))
		wantNotSent(t, err)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("gave %v", err)
		}
	})
	t.Run("the request cannot be made", func(t *testing.T) {
		t.Parallel()
		h := newHTTP(t, newPeer(t, nil).url(), gateway.HTTPOptions{})
		_, err := h.Do(ctx, gateway.Request{Method: "NO GOOD", Path: "/payments"})
		wantNotSent(t, err)
		_, err = h.Do(ctx, gateway.Request{Method: "POST", Header: http.Header{"X": {"a\nb"}}})
		wantNotSent(t, err)
	})
}

// TestHTTPSendBefore holds a charge's last moment against a slow handshake,
// through the client: nothing leaves after it.
func TestHTTPSendBefore(t *testing.T) {
	t.Parallel()
	p := newPeer(t, func(connection net.Conn, _ int) { io.Copy(io.Discard, connection) })
	h := newHTTP(t, "https://"+p.Addr().String(), gateway.HTTPOptions{})
	b := setupWith(t, func(ctx context.Context, _ gateway.Charge) (payment.Outcome, error) {
		_, err := post(ctx, h)
		return payment.Outcome{Verdict: payment.VerdictApproved}, err
	})
	charge := gatewaytest.NewCharge(t, iban)
	charge.SendBefore = clock.Within(clock.Own{}, 50*time.Millisecond)
	if o, err := b.Submit(context.Background(), charge); err != nil || o.Verdict != payment.VerdictUnsent || p.connections.Load() != 1 {
		t.Errorf("gave %+v, %v after %d connections", o, err, p.connections.Load())
	}
}

func TestHTTPUnknown(t *testing.T) {
	t.Parallel()
	for name, serve := range map[string]func(connection net.Conn){
		"the peer closes as soon as it is connected": func(connection net.Conn) {},
		"the peer resets within the request":         func(connection net.Conn) { connection.Read(make([]byte, 1)); reset(connection) },
		"the peer resets after the request":          func(connection net.Conn) { readRequest(connection); reset(connection) },
		"the peer hangs up without an answer":        readRequest,
		"the answer is no HTTP": func(connection net.Conn) {
			readRequest(connection)
			io.WriteString(connection, "SSH-2.0-OpenSSH\r\n\r\n")
		},
		"the answer breaks off in its header": func(connection net.Conn) {
			readRequest(connection)
			io.WriteString(connection, "HTTP/1.1 200 OK\r\nContent-Le")
		},
		"the answer breaks off in its body": func(connection net.Conn) {
			readRequest(connection)
			io.WriteString(connection, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"status\":")
		},
		"the answer is too long": func(connection net.Conn) {
			readRequest(connection)
			io.WriteString(connection, "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n"+strings.Repeat("x", 1001))
		},
		"the answer's header is too long": func(connection net.Conn) {
			readRequest(connection)
			io.WriteString(connection, "HTTP/1.1 200 OK\r\nX-Long: "+strings.Repeat("x", 100_000)+"\r\n\r\n")
		},
		"the answer sends us elsewhere": func(connection net.Conn) {
			readRequest(connection)
			io.WriteString(connection, "HTTP/1.1 307 Temporary Redirect\r\nLocation: https://elsewhere.example/\r\nContent-Length: 0\r\n\r\n")
		},
		"the answer does not come in time": func(connection net.Conn) { io.Copy(io.Discard, connection) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t, func(connection net.Conn, _ int) { serve(connection) })
			ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
			defer cancel()
			_, err := post(ctx, newHTTP(t, p.url(), gateway.HTTPOptions{MaxAnswer: 1000}))
			wantUnknown(t, err)
			if made := p.connections.Load(); made != 1 {
				t.Errorf("the payment was sent %d times", made)
			}
		})
	}
	t.Run("the context ends after the request was sent", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(context.Background())
		p := newPeer(t, func(connection net.Conn, _ int) { readRequest(connection); cancel(); io.Copy(io.Discard, connection) })
		_, err := post(ctx, newHTTP(t, p.url(), gateway.HTTPOptions{}))
		wantUnknown(t, err)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("gave %v", err)
		}
	})
}

// answersOnce answers one request and dies when the next one comes. It counts
// what arrives.
func answersOnce(t *testing.T) (p *peer, arrived *atomic.Int32) {
	t.Helper()
	arrived = &atomic.Int32{}
	return newPeer(t, func(connection net.Conn, _ int) {
		lines := bufio.NewReader(connection)
		for answer := true; ; answer = false {
			request, err := http.ReadRequest(lines)
			if err != nil {
				return
			}
			io.Copy(io.Discard, request.Body)
			arrived.Add(1)
			if !answer {
				reset(connection)
				return
			}
			io.WriteString(connection, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
		}
	}), arrived
}

func TestHTTPConnections(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	t.Run("a payment never goes over a connection that was used before, and never twice", func(t *testing.T) {
		t.Parallel()
		p, arrived := answersOnce(t)
		h := newHTTP(t, p.url(), gateway.HTTPOptions{})
		if _, err := get(ctx, h); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := post(ctx, h); err != nil {
				t.Errorf("a payment after a question gave %v", err)
			}
		}
		if arrived.Load() != 4 || p.connections.Load() != 4 {
			t.Errorf("one question and three payments arrived as %d over %d connections", arrived.Load(), p.connections.Load())
		}
	})
	t.Run("a question asked over a connection that has died is asked again", func(t *testing.T) {
		t.Parallel()
		p, arrived := answersOnce(t)
		h := newHTTP(t, p.url(), gateway.HTTPOptions{})
		for range 3 {
			if _, err := get(ctx, h); err != nil {
				t.Errorf("gave %v", err)
			}
		}
		if arrived.Load() != 5 {
			t.Errorf("three questions arrived as %d", arrived.Load())
		}
	})
	t.Run("a question that was sent once is unknown, although its repetition found nobody", func(t *testing.T) {
		t.Parallel()
		p, _ := answersOnce(t)
		h := newHTTP(t, p.url(), gateway.HTTPOptions{})
		if _, err := get(ctx, h); err != nil {
			t.Fatal(err)
		}
		p.Close()
		_, err := get(ctx, h)
		wantUnknown(t, err)
	})
}

func TestHTTPProtocol(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	t.Run("questions share a connection", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t, func(connection net.Conn, _ int) {
			lines := bufio.NewReader(connection)
			for {
				if _, err := http.ReadRequest(lines); err != nil {
					return
				}
				io.WriteString(connection, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
			}
		})
		h := newHTTP(t, p.url(), gateway.HTTPOptions{})
		for range 3 {
			get(ctx, h)
		}
		if made := p.connections.Load(); made != 1 {
			t.Errorf("%d connections for three questions", made)
		}
	})
	t.Run("a gateway that speaks HTTP/2 is spoken to in HTTP/1.1", func(t *testing.T) {
		t.Parallel()
		server := quietTLS(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) })
		for _, call := range []func(context.Context, *gateway.HTTP) (gateway.Answer, error){post, get} {
			answer, err := call(ctx, newHTTP(t, server.URL, gateway.HTTPOptions{RootCAs: rootsOf(server)}))
			if err != nil || string(answer.Body) != "HTTP/1.1" {
				t.Errorf("spoke %s, %v", answer.Body, err)
			}
		}
	})
}

func TestHTTPAnswers(t *testing.T) {
	t.Parallel()
	t.Run("what is sent arrives, below the base address, and every status is an answer", func(t *testing.T) {
		t.Parallel()
		server := quietTLS(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if r.URL.Path != "/v1/payments" || r.Header.Get("Idempotency-Key") != "TXN-1" || string(body) != payload {
				t.Errorf("got %s %v %s", r.URL.Path, r.Header, body)
			}
			w.Header().Set("X-Id", "7")
			w.WriteHeader(http.StatusTeapot)
			io.WriteString(w, "{}")
		})
		log := &bytes.Buffer{}
		h := newHTTP(t, server.URL+"/v1/", gateway.HTTPOptions{
			RootCAs: rootsOf(server), Logger: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		})
		answer, err := post(context.Background(), h)
		if err != nil || answer.StatusCode != http.StatusTeapot || answer.Header.Get("X-Id") != "7" || string(answer.Body) != "{}" {
			t.Errorf("gave %+v, %v", answer, err)
		}
		if !strings.Contains(log.String(), `"status":418`) {
			t.Errorf("logged %s", log)
		}
		wantNothingTold(t, errors.New(log.String()))
	})
	t.Run("a gateway that speaks something else is not listened to", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			connection, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			defer connection.Close()
			io.WriteString(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n")
			_ = connection.SetReadDeadline(time.Now().Add(5 * time.Second))
			_, _ = connection.Read(make([]byte, 1)) // until it is left
		}))
		t.Cleanup(server.Close)
		if answer, err := post(context.Background(), newHTTP(t, server.URL, gateway.HTTPOptions{RootCAs: rootsOf(server)})); err == nil {
			t.Errorf("gave %+v", answer)
		}
	})
	t.Run("addresses without TLS or with more than an address are refused", func(t *testing.T) {
		t.Parallel()
		for _, base := range []string{
			"", "gateway.example", "http://gateway.example", "ftp://127.0.0.1", "https://user:word@gateway.example", "https://gateway.example/?a=b", "https://",
		} {
			if _, err := gateway.NewHTTP(base, gateway.HTTPOptions{}); err == nil {
				t.Errorf("took %q", base)
			}
		}
	})
}

// quietTLS serves without complaining about clients that hang up.
func quietTLS(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func rootsOf(server *httptest.Server) *x509.CertPool {
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return roots
}
