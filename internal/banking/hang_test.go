package banking_test

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"sepad/internal/app/apptest"
	"sepad/internal/banking"
)

const hangingBank = "018f0000-0000-7000-8000-0000000000b9"

// tarPit is a server that takes everybody in and says nothing, until it is emptied.
type tarPit struct {
	net.Listener
	mu    sync.Mutex
	stuck []net.Conn
}

func newTarPit(t *testing.T) *tarPit {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	pit := &tarPit{Listener: listener}
	t.Cleanup(pit.empty)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			pit.mu.Lock()
			pit.stuck = append(pit.stuck, connection)
			pit.mu.Unlock()
		}
	}()
	return pit
}

func (p *tarPit) empty() {
	_ = p.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, connection := range p.stuck {
		_ = connection.Close()
	}
}

// account gives the shop an account whose server is the pit.
func (p *tarPit) account(t *testing.T, b *bundle) *banking.Account {
	t.Helper()
	key := filepath.Join(t.TempDir(), "key")
	shown := newKey(t, key).PublicKey()
	b.Apply(t, fmt.Sprintf(`tenants:
  - id: %s
    name: Bergladen
    creditor: {name: Bergladen GmbH, address: "Hangweg 1, 83471 Berchtesgaden, DE", identifier: DE98ZZZ09999999999}
    gateways:
      - id: %s
        name: Hanging bank
        adapter: bank
        test_mode: true
        settings:
          account_iban: DE75512108001245126199
          notice_days: 1
          sftp: {host: 127.0.0.1, port: %d, user: shop, private_key_file: %q, host_key: %q, out: /out, in: /in}
`, apptest.Shop, hangingBank, p.Addr().(*net.TCPAddr).Port, key, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(shown)))))
	account, err := b.App.Banking.Find(t.Context(), "Hanging bank")
	must(t, err)
	return account
}

// TestWhoTriesAServerThatHangsIsToldSo before the silence is over, after which nobody over HTTP is waited for.
func TestWhoTriesAServerThatHangsIsToldSo(t *testing.T) {
	t.Parallel()
	b := setup(t, apptest.SQLite(t, apptest.Options{}))
	hanging := newTarPit(t).account(t, b)
	impatient := banking.Banking{Checkout: b.App.Checkout, Logger: b.App.Banking.Logger, Silence: 300 * time.Millisecond}
	if err := impatient.Test(t.Context(), hanging); err == nil || err.Error() != "the bank's server cannot be used: it was not done after 100ms" {
		t.Errorf("got %v", err)
	}
}

// TestAServerThatHangsHoldsUpNoOtherBank: the file of another account is delivered while somebody still waits for it.
func TestAServerThatHangsHoldsUpNoOtherBank(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		pit := newTarPit(t)
		hanging := pit.account(t, b)
		b.pay(t, apptest.Approved, apptest.Body{"gateway_id": hangingBank})
		b.pay(t, apptest.Approved)
		for _, account := range []*banking.Account{hanging, b.account} {
			_, err := b.App.Banking.Collect(t.Context(), account, b.Now(t), b.Now(t))
			must(t, err)
		}
		var delivered int
		done := make(chan error)
		go func() {
			var err error
			delivered, err = b.App.Banking.Deliver(t.Context(), b.Now(t))
			done <- err
		}()
		apptest.Eventually(t, "the other bank has its file", func() bool { return len(b.out(t)) == 1 })
		select {
		case <-done:
			t.Error("nobody waits for the server that hangs")
		default:
			pit.empty()
			if err := <-done; err != nil || delivered > 1 {
				t.Errorf("%d were delivered: %v", delivered, err)
			}
		}
	})
}

// TestASilentServerIsGivenUp long before the time for a visit is over.
func TestASilentServerIsGivenUp(t *testing.T) {
	t.Parallel()
	b := setup(t, apptest.SQLite(t, apptest.Options{}))
	hanging := newTarPit(t).account(t, b)
	impatient := banking.Banking{Checkout: b.App.Checkout, Logger: b.App.Banking.Logger, Silence: 50 * time.Millisecond}
	_, err := impatient.Receive(t.Context(), hanging)
	if err == nil || errors.Is(err, t.Context().Err()) {
		t.Errorf("got %v", err)
	}
}
