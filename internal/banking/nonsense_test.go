package banking_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/banking"
	"sepad/internal/store"
)

// packets reads what a client asks, and has its answers sent. The greeting is answered as it should be.
func packets(channel io.ReadWriter, answer func(id []byte) []byte) {
	const greeting, isGreeted, headSize, idSize = 1, 2, 5, 4
	for {
		head := make([]byte, headSize)
		if _, err := io.ReadFull(channel, head); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head)-1)
		if _, err := io.ReadFull(channel, body); err != nil {
			return
		}
		reply := []byte{isGreeted, 0, 0, 0, 3}
		if head[headSize-1] != greeting {
			reply = answer(body[:idSize])
		}
		if _, err := channel.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(reply))), reply...)); err != nil {
			return
		}
	}
}

// sayYes confirms whatever is asked, also where a confirmation is no answer.
func sayYes(channel io.ReadWriter) {
	const status = 101
	packets(channel, func(id []byte) []byte {
		const codeAndTexts = 12
		return append(append([]byte{status}, id...), make([]byte, codeAndTexts)...)
	})
}

// otherBank gives the shop a second account, at a folder, and the transaction of a payment there.
func (b *bundle) otherBank(t *testing.T) (folder, transactionID string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "other")
	b.Apply(t, fmt.Sprintf(`tenants:
  - id: %s
    name: Bergladen
    creditor: {name: Bergladen GmbH, address: "Hangweg 1, 83471 Berchtesgaden, DE", identifier: DE98ZZZ09999999999}
    gateways:
      - {id: %s, name: Other bank, adapter: bank, test_mode: true, settings: {account_iban: DE75512108001245126199, notice_days: 1, folder: %q}}
`, apptest.Shop, hangingBank, folder))
	return folder, b.pay(t, apptest.Approved, apptest.Body{"gateway_id": hangingBank})
}

// collectAll writes what waits at both accounts.
func (b *bundle) collectAll(t *testing.T) time.Time {
	t.Helper()
	now := b.account.Terms.NextCutOff(b.Now(t))
	for _, name := range []string{"House bank", "Other bank"} {
		account, err := b.App.Banking.Find(t.Context(), name)
		must(t, err)
		_, err = b.App.Banking.Collect(t.Context(), account, now, now)
		must(t, err)
	}
	return now
}

// TestAServerThatOnlySaysYes ends no process, and keeps nobody else's files waiting: the library that speaks with it takes a
// confirmation for a file that is open.
func TestAServerThatOnlySaysYes(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		server := newBankServer(t)
		server.speak = sayYes
		b := setup(t, s, server.settings(server.hostKey.PublicKey()))
		b.pay(t, apptest.Approved)
		folder, _ := b.otherBank(t)
		if delivered, err := b.App.Banking.Deliver(t.Context(), b.collectAll(t)); delivered != 1 || err != nil {
			t.Errorf("%d were delivered: %v", delivered, err)
		}
		if there, _ := filepath.Glob(filepath.Join(folder, "out", "*.xml")); len(there) != 1 {
			t.Errorf("the other bank has %v", there)
		}
		for _, file := range b.files(t) {
			if (file.GatewayID.String() == houseBank) != (file.State == store.BankFileWritten && strings.Contains(file.Problem, "panic")) {
				t.Errorf("%s, with the problem %q", file.State, file.Problem)
			}
		}
	})
}

// TestAServerThatHangsIsWaitedForOnce also where it lets people in first.
func TestAServerThatHangsIsWaitedForOnce(t *testing.T) {
	t.Parallel()
	server := newBankServer(t)
	var visits atomic.Int64
	isOver := make(chan struct{})
	t.Cleanup(func() { close(isOver) })
	server.speak = func(channel io.ReadWriter) {
		visits.Add(1)
		packets(channel, func([]byte) []byte { <-isOver; return nil })
	}
	b := setup(t, apptest.SQLite(t, apptest.Options{}), server.settings(server.hostKey.PublicKey()), "max_entries: 1")
	for range 3 {
		b.pay(t, apptest.Approved)
	}
	now := b.account.Terms.NextCutOff(b.Now(t))
	_, err := b.App.Banking.Collect(t.Context(), b.account, now, now)
	must(t, err)
	impatient := banking.Banking{Checkout: b.App.Checkout, Logger: b.App.Banking.Logger, Silence: 50 * time.Millisecond}
	_, err = impatient.Deliver(t.Context(), now)
	must(t, err)
	if visits.Load() != 1 {
		t.Errorf("it was waited for %d times", visits.Load())
	}
	for _, file := range b.files(t) {
		if file.State != store.BankFileWritten || file.Problem == "" {
			t.Errorf("%s, with the problem %q", file.State, file.Problem)
		}
	}
}

// TestAnswersAreReadWhileAServerHangs: the bank that takes no file is still waited for when another one is heard.
func TestAnswersAreReadWhileAServerHangs(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		id := b.pay(t, apptest.Approved)
		b.cutOff(t)
		pit := newTarPit(t)
		hanging := pit.account(t, b)
		b.pay(t, apptest.Approved, apptest.Body{"gateway_id": hangingBank})
		_, err := b.App.Banking.Collect(t.Context(), hanging, b.Now(t), b.Now(t))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(b.folder, "in", "statement.xml"), b.statementOf(t, []string{id}), 0o600))
		done := make(chan error)
		go func() { done <- b.App.Banking.Attend(t.Context(), b.Now(t)) }()
		apptest.Eventually(t, "the other bank is heard", func() bool { return b.statusOf(t, id).Status == "approved" })
		select {
		case <-done:
			t.Error("nobody waits for the server that hangs")
		default:
			pit.empty()
			<-done
		}
	})
}

// TestAServerWhoseFolderIsGone has published nothing: what is missing in a folder that is not there proves nothing.
func TestAServerWhoseFolderIsGone(t *testing.T) {
	t.Parallel()
	server := newBankServer(t)
	b := setup(t, apptest.SQLite(t, apptest.Options{}), server.settings(server.hostKey.PublicKey()))
	b.pay(t, apptest.Approved)
	now := b.account.Terms.NextCutOff(b.Now(t))
	files, err := b.App.Banking.Collect(t.Context(), b.account, now, now)
	must(t, err)
	out := filepath.Join(server.folder, "out")
	name := filepath.Join(out, files[0].Name)
	must(t, os.MkdirAll(name, 0o700)) // something is in its way
	for _, prepare := range []func() error{
		func() error { return nil },
		func() error { return os.Rename(out, out+".unmounted") },
		func() error { return errors.Join(os.Rename(out+".unmounted", out), os.Remove(name)) },
	} {
		if file := b.files(t)[0]; file.State == store.BankFileSent {
			t.Error("it is taken for sent")
		}
		must(t, prepare())
		_, err = b.App.Banking.Deliver(t.Context(), now)
		must(t, err)
	}
	if file := b.files(t)[0]; file.State != store.BankFileSent || file.Problem != "" {
		t.Errorf("it is %s: %q", file.State, file.Problem)
	}
}
