package banking_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
}

func newBankServer(t *testing.T) *bankServer {
	t.Helper()
	folder := t.TempDir()
	s := &bankServer{folder: folder, hostKey: newKey(t, ""), keyFile: filepath.Join(folder, "key")}
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
			go serveFiles(connection, config)
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

// serveFiles serves one connection until its client leaves.
func serveFiles(connection net.Conn, config *ssh.ServerConfig) {
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
