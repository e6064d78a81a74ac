package webhook

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

// TestWordsOfAReceiver has receivers say what no database takes, or without end, where
// it becomes part of an error.
func TestWordsOfAReceiver(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := setup(t, env)
		odd := httptest.NewUnstartedServer(http.NotFoundHandler())
		odd.Config.ErrorLog = log.New(io.Discard, "", 0)
		odd.TLS = &tls.Config{Certificates: []tls.Certificate{certificateFor(t, "a\x00b")}}
		odd.StartTLS()
		t.Cleanup(odd.Close)
		b.endpoint = b.newEndpoint(t, strings.Replace(odd.URL, "127.0.0.1", "localhost", 1))
		id := b.events(t, b.endpoint, 1)[0]
		b.work(t)
		if text := b.wantStatus(t, id, store.DeliveryPending, 1).Attempts[0].Error; !strings.Contains(text, "certificate is valid for a\uFFFDb") {
			t.Errorf("the log says %q", text)
		}

		b.endpoint = b.newEndpoint(t, b.receiver.URL)
		b.receiver.answers(func(w http.ResponseWriter, _ *http.Request) {
			connection, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			defer connection.Close()
			fmt.Fprint(connection, "HTTP/1.1 200 OK\r\n"+strings.Repeat("no header ", keptAnswer)+"\r\n\r\n")
		})
		id = b.events(t, b.endpoint, 1)[0]
		b.work(t)
		if text := b.wantStatus(t, id, store.DeliveryPending, 1).Attempts[0].Error; len(text) != keptAnswer {
			t.Errorf("%d bytes are kept", len(text))
		}
	})
}

// TestAReceiverThatSpeaksSomethingElse: its connection has no end of its own, and neither had the attempt.
func TestAReceiverThatSpeaksSomethingElse(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, env *storetest.Env) {
		b := setup(t, env)
		b.receiver.answers(func(w http.ResponseWriter, _ *http.Request) {
			connection, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			defer connection.Close()
			fmt.Fprint(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n")
			_ = connection.SetReadDeadline(time.Now().Add(5 * time.Second))
			_, _ = connection.Read(make([]byte, 1)) // until it is left
		})
		id := b.events(t, b.endpoint, 1)[0]
		b.work(t)
		if text := b.wantStatus(t, id, store.DeliveryPending, 1).Attempts[0].Error; !strings.Contains(text, "101") {
			t.Errorf("the log says %q", text)
		}
	})
}

// TestAnErrorDoesNotSayWhereWeAre: merchants read what became of an attempt.
func TestAnErrorDoesNotSayWhereWeAre(t *testing.T) {
	t.Parallel()
	ours, theirs := &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 40001}, &net.TCPAddr{IP: net.IPv4(203, 0, 113, 9), Port: 443}
	lookup := &net.DNSError{Err: "no such host", Name: "hooks.example", Server: "10.1.2.53:53", IsNotFound: true}
	for want, err := range map[string]error{
		"lookup hooks.example: no such host":                 &net.OpError{Op: "dial", Net: "tcp", Err: lookup},
		"read tcp 203.0.113.9:443: connection reset by peer": fmt.Errorf("http: %w", &net.OpError{Op: "read", Net: "tcp", Source: ours, Addr: theirs, Err: syscall.ECONNRESET}),
		"dial tcp 203.0.113.9:443: connection refused":       &net.OpError{Op: "dial", Net: "tcp", Addr: theirs, Err: syscall.ECONNREFUSED},
		"malformed HTTP response":                            errors.New("malformed HTTP response"),
	} {
		if got := (&Sender{}).explain(t.Context(), err).Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// certificateFor is signed by nobody, and for a name.
func certificateFor(t *testing.T, name string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{name}}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: key}
}
