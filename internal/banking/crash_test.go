package banking_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/checkout/checkouttest"
	"sepad/internal/gateway/bank/playedbank"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/store"
)

func TestAFileThatACrashLeftIsFinished(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		now := b.account.Terms.NextCutOff(b.Now(t))
		b.pay(t, apptest.Approved)
		b.pay(t, apptest.Approved, apptest.Body{"billing_type": "RECURRING", "billing_frequency": "MONTHLY"})
		_, err := b.App.Banking.Collect(t.Context(), b.account, now, now)
		must(t, err)
		planned := b.files(t)[0].DueDate

		t.Run("one that is open is gone on with", func(t *testing.T) {
			b.Env.Exec(t, `DELETE FROM bank_file_parts`)
			b.Env.Exec(t, `UPDATE bank_files SET state = 'open', draft = '', size_bytes = 0`)
			b.pay(t, apptest.Approved)
			_, err := b.App.Banking.Collect(t.Context(), b.account, now, now)
			must(t, err)
			if files := b.files(t); len(files) != 1 || files[0].Count != 3 || files[0].SumMinor != 3*49_00 || files[0].State != store.BankFileWritten {
				t.Errorf("%+v", files)
			}
		})
		t.Run("one that is closed days later gets another due date", func(t *testing.T) {
			// Half of its bytes were kept when the process died.
			b.Env.Exec(t, `UPDATE bank_file_parts SET draft = 'of a process that died'`)
			b.Env.Exec(t, `UPDATE bank_files SET state = 'closed', draft = '', size_bytes = 0`)
			_, err := b.App.Banking.RunDue(t.Context(), now.Add(7*24*time.Hour))
			must(t, err)
			files := b.files(t)
			if len(files) != 1 || files[0].Count != 3 || files[0].State != store.BankFileSent || files[0].DueDate <= planned {
				t.Fatalf("%+v", files)
			}
			out := b.out(t)
			if len(out) != 1 || len(out[0]) != files[0].SizeBytes || bytes.Contains(out[0], []byte(planned)) {
				t.Errorf("%d files of %d bytes", len(out), files[0].SizeBytes)
			}
			if drafts := b.Env.Count(t, "(SELECT DISTINCT draft FROM bank_file_parts) AS drafts"); drafts != 1 {
				t.Errorf("%d drafts are kept", drafts)
			}
		})
	})
}

func TestManyProcessesReadTheSameAnswers(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s, "settle_days: 30") // silence must not be faster than the answers
		ids := map[string]string{}
		for _, test := range sandbox.TestIBANs() {
			ids[b.pay(t, test.IBAN)] = wanted(test.Outcome)
		}
		b.cutOff(t)
		b.Advance(t, 14*24*time.Hour)
		_, err := b.App.Banking.Answer(b.account, playedbank.Plain, nil, b.Now(t))
		must(t, err)
		answers, err := filepath.Glob(filepath.Join(b.folder, "in", "*"))
		must(t, err)
		contents := map[string][]byte{}
		for _, name := range answers {
			contents[name], err = os.ReadFile(name)
			must(t, err)
		}
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				if _, err := b.App.Banking.Receive(t.Context(), b.account); err != nil {
					t.Errorf("receiving: %v", err)
				}
			})
			readers.Go(func() {
				for name, content := range contents {
					if _, err := b.App.Banking.Read(t.Context(), b.account, name, asFile(content), false); err != nil {
						t.Errorf("reading: %v", err)
					}
				}
			})
		}
		readers.Wait()
		for id, status := range ids {
			b.wantStatus(t, id, status)
		}
		if open := b.open(t); len(open) != 0 {
			t.Errorf("open lines: %+v", open)
		}
		if kept := b.Env.Count(t, "bank_statements"); kept != len(contents) {
			t.Errorf("%d statements are kept of %d", kept, len(contents))
		}
		if left, _ := filepath.Glob(filepath.Join(b.folder, "in", "*")); len(left) != 0 {
			t.Errorf("left in the inbox: %v", left)
		}
	})
}

// TestACrashAtAnyStepOfReadingLosesNothing reads the bank's credits before the refusals that explain them. The reader of
// each file dies at its first step, then at its second, until it comes to the end.
func TestACrashAtAnyStepOfReadingLosesNothing(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s, "settle_days: 30", "batch_booking: true")
		ids := map[string]string{b.pay(t, apptest.Approved): "approved", b.pay(t, apptest.DeclinedFinal): "declined"}
		b.cutOff(t)
		b.Advance(t, 14*24*time.Hour)
		order, err := playedbank.Take(b.out(t)[0], playedbank.Limits{})
		must(t, err)
		answers, err := playedbank.Answers(order, playedbank.Plain, b.Now(t))
		must(t, err)
		deaths := 0
		for _, answer := range slices.Backward(answers) {
			checkouttest.Interrupt(t, func(ctx context.Context) error {
				_, err := b.App.Banking.Read(ctx, b.account, answer.Name, asFile(answer.Content), false)
				return err
			}, func(error) bool { deaths++; return false })
		}
		if deaths < 10*len(answers) {
			t.Errorf("%d readers died at %d files", deaths, len(answers))
		}
		for id, status := range ids {
			b.wantStatus(t, id, status)
		}
		if open := b.open(t); len(open) != 0 {
			t.Errorf("open lines: %+v", open)
		}
		if files := b.files(t); len(files) != 1 || files[0].State != store.BankFileSettled {
			t.Errorf("%+v", files)
		}
	})
}

func TestLimitsOfABank(t *testing.T) {
	t.Parallel()
	b := setup(t, apptest.SQLite(t, apptest.Options{}), "max_bytes: 6000", "max_entries: 3")
	for range 5 {
		b.pay(t, apptest.Approved)
	}
	b.cutOff(t)
	files := b.files(t)
	count := 0
	for _, file := range files {
		count += file.Count
		if file.SizeBytes > 6000 || file.Count > 3 {
			t.Errorf("a file has %d bytes and %d collections", file.SizeBytes, file.Count)
		}
	}
	if count != 5 || len(files) < 2 {
		t.Errorf("%d collections in %d files", count, len(files))
	}
}
