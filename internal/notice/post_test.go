package notice_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"sepad/internal/notice"
	"sepad/internal/store"
)

// post is a real mail server that a test can have misbehave.
type post struct {
	server   *smtp.Server
	listener net.Listener
	addr     string

	mu    sync.Mutex
	mails []string // as they were taken
	texts int      // whose text arrived, taken or not
	tls   bool     // whether the last came over TLS
	// rcpt and data are the answers to the next recipients and texts, nil for yes.
	rcpt, data []error
	// drops is how many further connections break after the text.
	drops int
	// came hears of a text that arrived.
	came func()
}

// opens starts a server on this machine. With a certificate it offers STARTTLS.
func opens(t *testing.T, certificate *tls.Certificate) *post {
	t.Helper()
	p := &post{came: func() {}}
	p.server = smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) { return &talk{post: p, conn: c}, nil }))
	p.server.Domain, p.server.ErrorLog, p.server.EnableSMTPUTF8 = "post.example", quiet{}, true
	if certificate != nil {
		p.server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	p.listener, p.addr = listener, listener.Addr().String()
	go func() { _ = p.server.Serve(listener) }()
	t.Cleanup(func() { _ = p.server.Close() })
	return p
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

// at is the server as the service is told of it.
func (p *post) at(t *testing.T) *notice.Server {
	t.Helper()
	server, err := notice.ParseServer("smtp://" + p.addr)
	must(t, err)
	return server
}

func (p *post) taken() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.mails...)
}

// next takes the first answer of a list.
func next(answers *[]error) error {
	if len(*answers) == 0 {
		return nil
	}
	first := (*answers)[0]
	*answers = (*answers)[1:]
	return first
}

// talk is one connection.
type talk struct {
	*post
	conn *smtp.Conn
}

func (s *talk) Reset()                               {}
func (s *talk) Logout() error                        { return nil }
func (s *talk) Mail(string, *smtp.MailOptions) error { return nil }
func (s *talk) Rcpt(_ string, _ *smtp.RcptOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return next(&s.rcpt)
}

func (s *talk) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts++
	s.came()
	if s.drops > 0 {
		s.drops--
		return s.conn.Conn().Close()
	}
	if err := next(&s.data); err != nil {
		return err
	}
	_, s.tls = s.conn.TLSConnectionState()
	s.mails = append(s.mails, string(text))
	return nil
}

// certified makes a certificate for this machine, and who has signed it.
func certified(t *testing.T) (*tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	draft := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, draft, draft, &key.PublicKey, key)
	must(t, err)
	signed, err := x509.ParseCertificate(der)
	must(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(signed)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	certificate, authorities := certified(t)
	t.Run("nothing is sent to a server that offers no encryption where it is required", func(t *testing.T) {
		t.Parallel()
		p, d := opens(t, nil), newDesk(t)
		server, err := notice.ParseServer("smtp://" + p.addr + "?tls=required")
		must(t, err)
		d.pay(t)
		d.send(t, server, 1)
		if m := d.mail(t); m.Status != "pending" || p.texts != 0 {
			t.Errorf("it is %s, %d texts arrived", m.Status, p.texts)
		}
	})
	for name, encrypts := range map[string]func(*post) string{
		"with STARTTLS":        func(p *post) string { return "smtp://" + p.addr + "?tls=required" },
		"with TLS at once":     func(p *post) string { return "smtps://" + p.addr },
		"over the own machine": func(p *post) string { return "smtp://" + p.addr },
	} {
		t.Run("a server is known by its certificate, "+name, func(t *testing.T) {
			t.Parallel()
			p := opens(t, certificate)
			if strings.Contains(name, "at once") {
				listener, err := tls.Listen("tcp", "127.0.0.1:0", p.server.TLSConfig)
				must(t, err)
				go func() { _ = p.server.Serve(listener) }()
				p.addr = listener.Addr().String()
			}
			server, err := notice.ParseServer(encrypts(p))
			must(t, err)
			d := newDesk(t)
			d.pay(t)
			d.send(t, server, 1)
			if len(p.taken()) != 0 {
				t.Error("a stranger's certificate was taken")
			}
			server.Authorities = authorities
			d.again(t)
			d.send(t, server, 1)
			if len(p.taken()) != 1 || !p.tls {
				t.Errorf("%d mails, encrypted: %t", len(p.taken()), p.tls)
			}
		})
	}
}

// TestAServerThatDoesNotComeToAnEnd greets with line after line.
func TestAServerThatDoesNotComeToAnEnd(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	heard := make(chan bool, 1)
	go func() {
		conn, err := listener.Accept()
		line := []byte("220-" + strings.Repeat("x", 1000) + "\r\n")
		for range 32_000 {
			if err == nil {
				_, err = conn.Write(line)
			}
		}
		_ = conn.Close()
		heard <- err == nil
	}()
	server, err := notice.ParseServer("smtp://" + listener.Addr().String())
	must(t, err)
	d := newDesk(t)
	d.pay(t)
	d.send(t, server, 1)
	if <-heard {
		t.Error("all of it was heard")
	}
	if m := d.mail(t); m.Status != store.MailPending || m.FailureCount != 1 {
		t.Errorf("the mail is %+v", m)
	}
}

func TestServerAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"smtp://mail.example": true, "smtps://me:secret@mail.example:465": true, "smtp://mail.example?tls=optional": true,
		"smtp://localhost:2525": true, "smtp://[::1]:25": true,
		"mail.example": false, "http://mail.example": false, "smtp://": false, "smtp://mail.example:0": false,
		"smtp://mail.example?tls=never": false, "smtp://me:secret@mail.example?tls=none": false, "smtp://mail.example/box": false,
	} {
		_, err := notice.ParseServer(address)
		if (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error tells the password: %v", err)
		}
	}
}
