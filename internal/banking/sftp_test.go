package banking_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"

	"sepad/internal/app/apptest"
	"sepad/internal/store"
)

// bankServer is a bank's server for files, which lets one key in.
type bankServer struct {
	folder  string
	hostKey ssh.Signer
	keyFile string
	address *net.TCPAddr
	// taken and given are how many bytes a connection lives for.
	taken, given atomic.Int64
	// answers take the place of the folder's files, and speak that of the whole protocol.
	answers *sftp.Handlers
	speak   func(io.ReadWriter)
}

func newBankServer(t *testing.T) *bankServer {
	t.Helper()
	return newBankServerOf(t, newKey(t, ""))
}

func newBankServerOf(t *testing.T, hostKey ssh.Signer) *bankServer {
	t.Helper()
	folder := t.TempDir()
	s := &bankServer{folder: folder, hostKey: hostKey, keyFile: filepath.Join(folder, "key")}
	s.taken.Store(math.MaxInt64)
	s.given.Store(math.MaxInt64)
	for _, name := range []string{"out", "in"} {
		must(t, os.Mkdir(filepath.Join(folder, name), 0o700))
	}
	known := newKey(t, s.keyFile).PublicKey().Marshal()
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if string(key.Marshal()) != string(known) {
			return nil, errors.New("another key")
		}
		return nil, nil
	}}
	config.AddHostKey(s.hostKey)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	s.address = listener.Addr().(*net.TCPAddr)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go s.serve(mortal{connection, &s.taken, &s.given}, config)
		}
	}()
	return s
}

// newKey makes a key, and writes it into a file that is named.
func newKey(t *testing.T, file string) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	if file != "" {
		block, err := ssh.MarshalPrivateKey(private, "")
		must(t, err)
		must(t, os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
	}
	signer, err := ssh.NewSignerFromKey(private)
	must(t, err)
	return signer
}

// serve serves one connection until its client leaves.
func (s *bankServer) serve(connection net.Conn, config *ssh.ServerConfig) {
	defer connection.Close()
	_, channels, requests, err := ssh.NewServerConn(connection, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		channel, requests, err := offered.Accept()
		if err != nil {
			return
		}
		go func() {
			for request := range requests {
				_ = request.Reply(request.Type == "subsystem", nil)
			}
		}()
		if s.speak != nil {
			s.speak(channel)
			return
		}
		if s.answers != nil {
			_ = sftp.NewRequestServer(channel, *s.answers).Serve()
			continue
		}
		server, err := sftp.NewServer(channel)
		if err != nil {
			return
		}
		_ = server.Serve() // it ends with the client
		_ = server.Close()
	}
}

// settings are the account's, with the key that the server is expected to show.
func (s *bankServer) settings(shown ssh.PublicKey) string {
	return fmt.Sprintf("sftp: {host: 127.0.0.1, port: %d, user: shop, private_key_file: %q, host_key: %q, out: %q, in: %q}", s.address.Port,
		s.keyFile, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(shown))), filepath.Join(s.folder, "out"), filepath.Join(s.folder, "in"))
}

func TestFilesGoToAServer(t *testing.T) {
	t.Parallel()
	server := newBankServer(t)
	b := setup(t, apptest.SQLite(t, apptest.Options{}), server.settings(server.hostKey.PublicKey()))
	b.folder = server.folder
	b.pay(t, apptest.Approved)
	b.cutOff(t)
	if files := b.files(t); len(b.out(t)) != 1 || len(files) != 1 || files[0].State != store.BankFileSent {
		t.Fatalf("%d files arrived: %+v", len(b.out(t)), files)
	}
	if hidden, _ := filepath.Glob(filepath.Join(server.folder, "out", ".*")); len(hidden) != 0 {
		t.Errorf("left behind: %v", hidden)
	}
	content, err := os.ReadFile("../iso20022/testdata/dutch-batch.camt.053.001.02.xml")
	must(t, err)
	answer := filepath.Join(server.folder, "in", "statement.xml")
	must(t, os.WriteFile(answer, content, 0o600))
	readings, err := b.App.Banking.Receive(t.Context(), b.account)
	must(t, err)
	if len(readings) != 1 || readings[0].Counts.Unmatched != 3 {
		t.Errorf("read %+v", readings)
	}
	if _, err := os.Stat(answer); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the answer that was read is still there: %v", err)
	}
}

// TestABankWithOneFolder: what we have put there for the bank is no answer of the bank's, and is not taken away. One that the bank
// calls as our file is.
func TestABankWithOneFolder(t *testing.T) {
	t.Parallel()
	server := newBankServer(t)
	settings := strings.Replace(server.settings(server.hostKey.PublicKey()), filepath.Join(server.folder, "in"), filepath.Join(server.folder, ".", "out"), 1)
	b := setup(t, apptest.SQLite(t, apptest.Options{}), settings)
	b.folder = server.folder
	id := b.pay(t, apptest.Approved)
	b.cutOff(t)
	for range 2 {
		readings, err := b.App.Banking.Receive(t.Context(), b.account)
		must(t, err)
		if len(readings) != 0 || len(b.out(t)) != 1 {
			t.Fatalf("%d files are left, read were %+v", len(b.out(t)), readings)
		}
	}
	answer := filepath.Join(server.folder, "out", b.files(t)[0].Name) // the bank has fetched it, and answers
	must(t, os.WriteFile(answer, []byte(booking("CRDT", "ESDD", "49.00", b.statusOf(t, id).MerchantTransactionID, "")), 0o600))
	must(t, os.Chtimes(answer, time.Unix(1, 0), time.Unix(1, 0)))
	readings, err := b.App.Banking.Receive(t.Context(), b.account)
	must(t, err)
	if len(readings) != 1 || readings[0].Counts.Settled != 1 {
		t.Errorf("read %+v", readings)
	}
}

// TestAServerShowsItsKey tries the kinds of keys that banks' servers have.
func TestAServerShowsItsKey(t *testing.T) {
	t.Parallel()
	byRSA, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	byCurve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	for _, private := range []any{byRSA, byCurve} {
		key, err := ssh.NewSignerFromKey(private)
		must(t, err)
		t.Run(key.PublicKey().Type(), func(t *testing.T) {
			t.Parallel()
			server := newBankServerOf(t, key)
			b := setup(t, apptest.SQLite(t, apptest.Options{}), server.settings(key.PublicKey()))
			must(t, b.App.Banking.Test(t.Context(), b.account))
		})
	}
}

func TestAServerWithAnotherKeyGetsNothing(t *testing.T) {
	t.Parallel()
	server := newBankServer(t)
	b := setup(t, apptest.SQLite(t, apptest.Options{}), server.settings(newKey(t, "").PublicKey()))
	b.folder = server.folder
	b.pay(t, apptest.Approved)
	b.cutOff(t)
	if files := b.files(t); len(b.out(t)) != 0 || len(files) != 1 || files[0].State != store.BankFileWritten || files[0].Problem == "" {
		t.Errorf("%d files arrived: %+v", len(b.out(t)), files)
	}
}

// mortal is a connection that dies after so many bytes from its client, or to it.
type mortal struct {
	net.Conn
	taken, given *atomic.Int64
}

func (c mortal) Read(p []byte) (int, error) { return c.live(c.taken, p, c.Conn.Read) }

func (c mortal) Write(p []byte) (int, error) { return c.live(c.given, p, c.Conn.Write) }

// live lets bytes through as long as there are any left to live for.
func (c mortal) live(left *atomic.Int64, p []byte, do func([]byte) (int, error)) (int, error) {
	n, err := do(p)
	if left.Add(int64(-n)) < 0 {
		_ = c.Close()
		return 0, net.ErrClosed
	}
	return n, err
}

// TestAServerThatDiesHalfWay lets the bank's server die ever later: in the greeting, in the middle of the file, before it gets
// its name, and after it got it but before anybody heard of it. Whatever the moment is, one whole file arrives in the end.
func TestAServerThatDiesHalfWay(t *testing.T) {
	t.Parallel()
	for what, test := range map[string]struct {
		limit func(*bankServer) *atomic.Int64
		step  int64
		in    store.BankFileState
	}{
		"while it takes the file": {func(s *bankServer) *atomic.Int64 { return &s.taken }, 1500, store.BankFileWritten},
		"before it has answered":  {func(s *bankServer) *atomic.Int64 { return &s.given }, 40, store.BankFileSending},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			server := newBankServer(t)
			b := setup(t, apptest.SQLite(t, apptest.Options{}), server.settings(server.hostKey.PublicKey()))
			b.folder = server.folder
			for range 40 {
				b.pay(t, apptest.Approved)
			}
			now := b.account.Terms.NextCutOff(b.Now(t))
			files, err := b.App.Banking.Collect(t.Context(), b.account, now, now)
			must(t, err)
			var want bytes.Buffer
			must(t, b.App.Banking.Content(t.Context(), files[0], &want))
			deaths := b.deliverToMortal(t, test.limit(server), test.step, now)
			if deaths[test.in] == 0 {
				t.Errorf("the server died with the file in these states: %v", deaths)
			}
			if arrived := b.out(t); len(arrived) != 1 || !bytes.Equal(arrived[0], want.Bytes()) {
				t.Errorf("%d files arrived", len(arrived))
			}
		})
	}
}

// deliverToMortal delivers the one file until it has arrived, to a server that lives longer each time, and counts the states
// in which its deaths have left it.
func (b *bundle) deliverToMortal(t *testing.T, life *atomic.Int64, step int64, now time.Time) map[store.BankFileState]int {
	t.Helper()
	deaths := map[store.BankFileState]int{}
	for bytes := step; ; bytes += step {
		life.Store(bytes)
		_, err := b.App.Banking.Deliver(t.Context(), now)
		must(t, err)
		file := b.files(t)[0]
		if file.State == store.BankFileSent {
			return deaths
		}
		if deaths[file.State]++; file.Problem == "" {
			t.Errorf("a server that dies after %d bytes is no problem: %+v", bytes, file)
		}
		if file.State != store.BankFileWritten {
			continue
		}
		if len(b.out(t)) > 0 {
			t.Errorf("after %d bytes a file lies there that was never claimed", bytes)
		}
		left, _ := filepath.Glob(filepath.Join(b.folder, "out", ".*"))
		for _, name := range left { // as they would be tomorrow
			must(t, os.Remove(name))
		}
	}
}

// TestAServerThatDiesWhileItAnswers lets it die in the middle of a download: half an answer decides nothing, and stays there
// for the next time.
func TestAServerThatDiesWhileItAnswers(t *testing.T) {
	t.Parallel()
	server := newBankServer(t)
	b := setup(t, apptest.SQLite(t, apptest.Options{}), server.settings(server.hostKey.PublicKey()), "settle_days: 30")
	b.folder = server.folder
	id := b.pay(t, apptest.Approved)
	b.cutOff(t)
	var padding []string
	for i := range 100 {
		padding = append(padding, fmt.Sprintf("OTHER-%d", i))
	}
	answer := filepath.Join(server.folder, "in", "statement.xml")
	must(t, os.WriteFile(answer, b.statementOf(t, []string{id}, padding...), 0o600))
	deaths := 0
	for life := int64(1000); ; life += 1500 {
		server.given.Store(life)
		readings, err := b.App.Banking.Receive(t.Context(), b.account)
		if _, gone := os.Stat(answer); errors.Is(gone, os.ErrNotExist) {
			break // read, and taken away
		}
		if deaths++; err == nil {
			t.Fatalf("a server that dies after %d bytes is no error: %+v", life, readings)
		}
		if status := b.statusOf(t, id).Status; len(readings) == 0 && status != "pending" {
			t.Errorf("half an answer made the payment %s", status)
		}
	}
	if deaths < 10 {
		t.Errorf("the server died only %d times", deaths)
	}
	b.wantStatus(t, id, "approved")
	if statements, lines := b.Env.Count(t, "bank_statements"), b.Env.Count(t, "bank_lines"); statements != 1 || lines != 101 {
		t.Errorf("%d lines of %d statements", lines, statements)
	}
}
