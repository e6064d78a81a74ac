package banking_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/banking"
	"sepad/internal/banking/place"
	"sepad/internal/gateway/bank/playedbank"
	"sepad/internal/payment"
)

// TestAnAnswerIsTakenAwayAsItWasFetched lets the bank put another answer under the same name while the first is read.
func TestAnAnswerIsTakenAwayAsItWasFetched(t *testing.T) {
	t.Parallel()
	server := newBankServer(t)
	for what, settings := range map[string]string{"in a folder": "", "on a server": server.settings(server.hostKey.PublicKey())} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			var b *bundle
			if settings == "" {
				b = setup(t, apptest.SQLite(t, apptest.Options{}))
			} else {
				b = setup(t, apptest.SQLite(t, apptest.Options{}), settings)
				b.folder = server.folder
			}
			inbox, p := filepath.Join(b.folder, "in"), b.place(t)
			_, err := p.Answers() // the folders are made
			must(t, err)
			for _, content := range []string{"Monday", "Tuesday's"} {
				must(t, os.WriteFile(filepath.Join(inbox, "statement.xml"), []byte(content), 0o600))
				file, fetched, err := p.Fetch("statement.xml")
				must(t, err)
				must(t, file.Close())
				if content == "Monday" {
					must(t, os.WriteFile(filepath.Join(inbox, "statement.xml"), []byte("Tuesday's"), 0o600))
				}
				must(t, p.Done("statement.xml", fetched, false))
				if left, _ := filepath.Glob(filepath.Join(inbox, "*")); (len(left) == 1) != (content == "Monday") {
					t.Errorf("after %s there are %v", content, left)
				}
			}
		})
	}
}

// place opens the account's place for as long as a test lasts.
func (b *bundle) place(t *testing.T) place.Place {
	t.Helper()
	if b.account.Terms.SFTP == nil {
		return place.Folder{Path: b.folder}
	}
	server, err := place.Dial(t.Context(), b.account.Terms.SFTP, time.Minute)
	must(t, err)
	t.Cleanup(func() { must(t, server.Close()) })
	return server
}

// onRecord does something when a line of the log is written.
type onRecord struct {
	slog.Handler
	do func(message string)
}

func (h onRecord) Handle(_ context.Context, r slog.Record) error {
	h.do(r.Message)
	return nil
}

func (h onRecord) Enabled(context.Context, slog.Level) bool { return true }

// TestAnAnswerThatIsStillWrittenIsReadAgain has somebody copy a statement into the inbox while it is looked at.
func TestAnAnswerThatIsStillWrittenIsReadAgain(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s, "settle_days: 30")
		id := b.pay(t, apptest.Approved)
		b.cutOff(t)
		whole := b.statementOf(t, []string{id})
		half := bytes.Index(whole, []byte("<NtryDtls>"))
		path := filepath.Join(b.folder, "in", "statement.xml")
		must(t, os.WriteFile(path, whole[:half], 0o600))
		told := 0
		slow := banking.Banking{Checkout: b.App.Checkout}
		slow.Logger = slog.New(onRecord{do: func(message string) {
			if told++; strings.Contains(message, "could not be read to its end") {
				must(t, os.WriteFile(path, whole, 0o600))
			}
		}})
		if readings, err := slow.Receive(t.Context(), b.account); err == nil || told == 0 {
			t.Fatalf("half a file was read: %+v", readings)
		}
		b.wantStatus(t, id, "pending")
		_, err := b.App.Banking.Receive(t.Context(), b.account)
		must(t, err)
		b.wantStatus(t, id, "approved")
	})
}

// TestWhatTriesHaveLeftIsTakenAway puts three temporary files there: one that died long ago, one that is as old and about to
// get its name, and one that somebody may be writing.
func TestWhatTriesHaveLeftIsTakenAway(t *testing.T) {
	t.Parallel()
	server := newBankServer(t)
	for what, settings := range map[string][]string{"in a folder": nil, "on a server": {server.settings(server.hostKey.PublicKey())}} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			b := setup(t, apptest.SQLite(t, apptest.Options{}), settings...)
			if settings != nil {
				b.folder = server.folder
			}
			b.pay(t, apptest.Approved)
			b.cutOff(t)
			claimed := b.files(t)[0]
			old, young := uuid.MustParse("01900000-0000-7000-8000-000000000001"), payment.NewID()
			names := map[string]string{"old": "." + old.String() + ".part", "young": "." + young.String() + ".part", "claimed": ".01900000-0000-7000-8000-000000000002.part"}
			for _, name := range names {
				must(t, os.WriteFile(filepath.Join(b.folder, "out", name), []byte("half a file"), 0o600))
			}
			b.Env.Exec(t, `UPDATE bank_files SET state = 'sending', temporary_name = $1, created_at = 9000000000000000`, names["claimed"])
			b.pay(t, apptest.Approved)
			now := b.account.Terms.NextCutOff(b.Now(t))
			_, err := b.App.Banking.Collect(t.Context(), b.account, now, now)
			must(t, err)
			_, err = b.App.Banking.Deliver(t.Context(), now)
			must(t, err)
			left, _ := filepath.Glob(filepath.Join(b.folder, "out", ".*"))
			if len(left) != 1 || filepath.Base(left[0]) != names["young"] {
				t.Errorf("left behind: %v", left)
			}
			published, err := os.ReadFile(filepath.Join(b.folder, "out", claimed.Name))
			if err != nil || string(published) != "half a file" {
				t.Errorf("what was about to get its name is %q: %v", published, err)
			}
		})
	}
}

// TestThePlayedBankPutsWholeFiles: a service that looks while the bank is played again never finds half an answer.
func TestThePlayedBankPutsWholeFiles(t *testing.T) {
	t.Parallel()
	b := setup(t, apptest.SQLite(t, apptest.Options{}))
	b.pay(t, apptest.Approved)
	b.cutOff(t)
	put, err := b.App.Banking.Answer(b.account, playedbank.Plain, nil, b.Now(t))
	must(t, err)
	earlier := filepath.Join(b.folder, "in", put[0])
	must(t, os.WriteFile(earlier, []byte("what is being read"), 0o600))
	reading, err := os.Open(earlier)
	must(t, err)
	defer reading.Close()
	_, err = b.App.Banking.Answer(b.account, playedbank.Plain, nil, b.Now(t))
	must(t, err)
	content, err := io.ReadAll(reading)
	if err != nil || string(content) != "what is being read" {
		t.Errorf("who had opened it before reads %d other bytes: %v", len(content), err)
	}
}
