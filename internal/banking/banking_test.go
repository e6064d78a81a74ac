package banking_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/banking"
	"sepad/internal/gateway/bank/playedbank"
	"sepad/internal/gateway/sandbox"
	"sepad/internal/iso20022/iso20022test"
	"sepad/internal/payment"
	"sepad/internal/store"
	"sepad/internal/store/listing"
	"sepad/internal/store/storetest"
)

const houseBank = "019d0000-0000-7000-8000-0000000000b1"

// bundle is a shop with an account at a bank whose place is a folder.
type bundle struct {
	*apptest.Server
	folder  string
	account *banking.Account
}

// setup adds the account to the shop; settings are further lines of YAML.
func setup(t *testing.T, s *apptest.Server, settings ...string) *bundle {
	t.Helper()
	b := &bundle{Server: s, folder: filepath.Join(t.TempDir(), "bank")}
	t.Cleanup(func() { s.Stop(t) }) // before its folder is taken away
	if len(settings) == 0 || !strings.HasPrefix(settings[0], "sftp:") {
		settings = append(settings, "folder: "+b.folder)
	}
	if !strings.Contains(strings.Join(settings, " "), "notice_days:") {
		settings = append(settings, "notice_days: 1") // the next cut-off is early enough
	}
	s.Apply(t, fmt.Sprintf(`tenants:
  - id: %s
    name: Bergladen
    creditor: {name: Bergladen GmbH, address: "Hangweg 1, 83471 Berchtesgaden, DE", identifier: DE98ZZZ09999999999}
    gateways:
      - id: %s
        name: House bank
        adapter: bank
        test_mode: true
        descriptor: BERGLADEN
        settings:
          account_iban: DE89370400440532013000
          %s
`, apptest.Shop, houseBank, strings.Join(settings, "\n          ")))
	b.refresh(t)
	return b
}

func (b *bundle) refresh(t *testing.T) {
	t.Helper()
	account, err := b.App.Banking.Find(t.Context(), "House bank")
	must(t, err)
	b.account = account
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func asFile(content []byte) *io.SectionReader {
	return io.NewSectionReader(bytes.NewReader(content), 0, int64(len(content)))
}

// pay makes a purchase at the bank and gives its transaction's id.
func (b *bundle) pay(t *testing.T, iban string, more ...apptest.Body) string {
	t.Helper()
	body := apptest.Direct().With(apptest.Body{"gateway_id": houseBank})
	for _, m := range more {
		body = body.With(m)
	}
	answer := b.Pay(t, b.Create(t, body), iban).Want(t, 200, apptest.Fields{"status": "completed", "transaction.status": "pending"})
	return answer.Text(t, "transaction.id")
}

// cutOff moves the clock to behind the next cut-off, at which the waiting payments are written and delivered.
func (b *bundle) cutOff(t *testing.T) {
	t.Helper()
	now := b.Now(t)
	b.Advance(t, b.account.Terms.NextCutOff(now).Sub(now)+time.Second)
}

// answer has the bank played, and reads what it says.
func (b *bundle) answer(t *testing.T, shape playedbank.Shape) banking.Counts {
	t.Helper()
	before := b.heard(t)
	_, err := b.App.Banking.Answer(b.account, shape, nil, b.Now(t))
	must(t, err)
	readings, err := b.App.Banking.Receive(t.Context(), b.account)
	must(t, err)
	for _, reading := range readings {
		if reading.Problem != "" {
			t.Errorf("%s: %s", reading.Name, reading.Problem)
		}
	}
	// The service looks by itself every minute, and may have been faster.
	apptest.Eventually(t, "all is read", func() bool {
		return storetest.Scalar[int](t, b.Env, `SELECT COUNT(*) FROM bank_statements WHERE state = 'reading'`) == 0
	})
	after := b.heard(t)
	return banking.Counts{
		Settled: after.Settled - before.Settled, Rejected: after.Rejected - before.Rejected, Returned: after.Returned - before.Returned,
		Unmatched: after.Unmatched - before.Unmatched,
	}
}

// heard counts what became of the lines that were read, whoever has read them.
func (b *bundle) heard(t *testing.T) banking.Counts {
	t.Helper()
	of := func(result store.BankLineResult) int {
		return storetest.Scalar[int](t, b.Env, `SELECT COUNT(*) FROM bank_lines WHERE result = $1`, string(result))
	}
	return banking.Counts{Settled: of(store.LineSettled), Rejected: of(store.LineRejected), Returned: of(store.LineReturned), Unmatched: of(store.LineUnmatched)}
}

func (b *bundle) statusOf(t *testing.T, id string) payment.Transaction {
	t.Helper()
	transaction, err := b.App.Store.Tenant(uuid.MustParse(apptest.Shop)).Transaction(t.Context(), uuid.MustParse(id))
	must(t, err)
	return transaction
}

func (b *bundle) wantStatus(t *testing.T, id, status string) {
	t.Helper()
	if got := string(b.statusOf(t, id).Status); got != status {
		t.Errorf("transaction %s is %s, want %s", id, got, status)
	}
}

// out lists the delivered files, each held against its schema.
func (b *bundle) out(t *testing.T) (contents [][]byte) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(b.folder, "out", "*.xml"))
	must(t, err)
	for _, name := range names {
		content, err := os.ReadFile(name)
		must(t, err)
		iso20022test.Validate(t, string(b.account.Terms.Format), content)
		contents = append(contents, content)
	}
	return contents
}

func (b *bundle) files(t *testing.T) []store.BankFile {
	t.Helper()
	part, err := listing.SearchBankFiles(t.Context(), b.App.Store, listing.BankFileSearch{GatewayID: b.account.ID}, listing.Paging{Limit: 1000})
	must(t, err)
	return part.Rows
}

// open gives the lines that belong to nothing, or cannot be.
func (b *bundle) open(t *testing.T) []store.BankLine {
	t.Helper()
	open, err := b.App.Store.Tenant(uuid.MustParse(apptest.Shop)).OpenBankLines(t.Context(), b.account.ID, uuid.Nil, 10)
	must(t, err)
	return open
}

// wanted is where a payment from each test account ends.
func wanted(outcome sandbox.Outcome) string {
	switch outcome {
	case sandbox.DeclinedInsufficientFunds, sandbox.DeclinedInvalidIBAN, sandbox.DeclinedMandateRejected, sandbox.DeclinedAccountClosed,
		sandbox.DeclinedDoNotHonor, sandbox.DeclinedUnknown, sandbox.DeclinedFinal:
		return "declined"
	case sandbox.PendingDeclined, sandbox.Chargeback, sandbox.ReturnedInsufficientFunds, sandbox.ReturnedMandateRejected,
		sandbox.ReturnedAccountClosed:
		return "charged_back"
	default:
		return "approved"
	}
}

func TestCollectionsGoToTheBankAndComeBack(t *testing.T) {
	t.Parallel()
	for _, shape := range playedbank.Shapes {
		t.Run("at a "+string(shape)+" bank", func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, func(t *testing.T, s *apptest.Server) {
				b := setup(t, s)
				ids := map[string]string{}
				for _, test := range sandbox.TestIBANs() {
					ids[b.pay(t, test.IBAN)] = wanted(test.Outcome)
				}
				b.cutOff(t)
				if contents := b.out(t); len(contents) != 1 || strings.Count(string(contents[0]), "<EndToEndId>") != len(ids) {
					t.Fatalf("%d files for %d collections", len(contents), len(ids))
				}
				for id := range ids {
					b.wantStatus(t, id, "pending")
					if reference := b.statusOf(t, id).GatewayReference; !strings.HasPrefix(reference, b.files(t)[0].MessageID) {
						t.Errorf("the collection is called %q", reference)
					}
				}
				b.Advance(t, 36*time.Hour)
				counts := b.answer(t, shape)
				b.Advance(t, 14*24*time.Hour)
				again := b.answer(t, shape)
				if counts.Rejected == 0 || again.Returned == 0 {
					t.Errorf("first %+v, then %+v", counts, again)
				}
				if open := b.open(t); len(open) != 0 {
					t.Errorf("open lines: %+v", open)
				}
				for id, status := range ids {
					b.wantStatus(t, id, status)
				}
				if files := b.files(t); len(files) != 1 || files[0].State != store.BankFileSettled {
					t.Errorf("the file is %+v", files)
				}
				if third := b.answer(t, shape); third.Settled+third.Rejected+third.Returned+third.Unmatched != 0 {
					t.Errorf("hearing it again does %+v", third)
				}
			})
		})
	}
}

func TestSilenceSettles(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		id := b.pay(t, apptest.Approved)
		b.cutOff(t)
		b.wantStatus(t, id, "pending")
		b.Advance(t, 2*24*time.Hour)
		b.wantStatus(t, id, "pending")
		b.Advance(t, 10*24*time.Hour)
		b.wantStatus(t, id, "approved")
		// The bank speaks after all, and the payer takes the money back a year later: nothing is lost.
		b.answer(t, playedbank.Plain)
		b.wantStatus(t, id, "approved")
	})
}

func TestAFileIsWrittenOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s, "max_entries: 4", "format: pain.008.001.02")
		for range 10 {
			b.pay(t, apptest.Approved)
		}
		now := b.account.Terms.NextCutOff(b.Now(t))
		const processes = 4
		failed := make(chan error, processes)
		for range processes {
			go func() {
				_, err := b.App.Banking.Collect(context.Background(), b.account, now, now)
				if err == nil {
					_, err = b.App.Banking.Deliver(context.Background(), now)
				}
				failed <- err
			}()
		}
		for range processes {
			must(t, <-failed)
		}
		_, err := b.App.Banking.Deliver(t.Context(), now)
		must(t, err)
		count, sum := 0, payment.Minor(0)
		for _, file := range b.files(t) {
			count, sum = count+file.Count, sum+file.SumMinor
			if file.Count > 4 || file.State != store.BankFileSent {
				t.Errorf("a file has %d collections and is %s: %s", file.Count, file.State, file.Problem)
			}
		}
		contents := b.out(t)
		if count != 10 || sum != 490_00 || len(contents) != len(b.files(t)) {
			t.Errorf("%d collections of %s in %d files, %d delivered", count, sum, len(b.files(t)), len(contents))
		}
		if hidden, _ := filepath.Glob(filepath.Join(b.folder, "out", ".*")); len(hidden) != 0 {
			t.Errorf("left behind: %v", hidden)
		}
	})
}

func TestDeliveryAfterACrash(t *testing.T) {
	t.Parallel()
	b := setup(t, apptest.SQLite(t, apptest.Options{}))
	now := b.account.Terms.NextCutOff(b.Now(t))
	b.pay(t, apptest.Approved)
	files, err := b.App.Banking.Collect(t.Context(), b.account, now, now)
	must(t, err)

	t.Run("a folder that cannot be written keeps the file and says why", func(t *testing.T) {
		for blocked := false; !blocked; { // the server beside us may be making the folder
			must(t, os.RemoveAll(b.folder))
			blocked = os.WriteFile(b.folder, nil, 0o600) == nil
		}
		delivered, err := b.App.Banking.Deliver(t.Context(), now)
		must(t, err)
		if file := b.files(t)[0]; delivered != 0 || file.State != store.BankFileWritten || file.Problem == "" {
			t.Errorf("%d delivered, %+v", delivered, file)
		}
		must(t, os.Remove(b.folder))
	})
	t.Run("it is delivered once the folder is there, with the very same bytes", func(t *testing.T) {
		_, err := b.App.Banking.Deliver(t.Context(), now)
		must(t, err)
		var content bytes.Buffer
		must(t, b.App.Banking.Content(t.Context(), files[0], &content))
		if out := b.out(t); len(out) != 1 || string(out[0]) != content.String() || b.files(t)[0].Problem != "" {
			t.Errorf("%d files, %+v", len(out), b.files(t)[0])
		}
	})
	t.Run("a crash after it got its name does not bring it back", func(t *testing.T) {
		names, err := filepath.Glob(filepath.Join(b.folder, "out", "*.xml"))
		must(t, err)
		must(t, os.Remove(names[0])) // the bank has fetched it
		b.Env.Exec(t, `UPDATE bank_files SET state = 'sending', temporary_name = '.gone.part'`)
		_, err = b.App.Banking.Deliver(t.Context(), now)
		must(t, err)
		if b.files(t)[0].State != store.BankFileSent || len(b.out(t)) != 0 {
			t.Errorf("it is %s and %d files are there", b.files(t)[0].State, len(b.out(t)))
		}
	})
}

func TestPreview(t *testing.T) {
	t.Parallel()
	b := setup(t, apptest.SQLite(t, apptest.Options{}))
	b.pay(t, apptest.Approved)
	b.pay(t, apptest.Approved, apptest.Body{"billing_type": "RECURRING", "billing_frequency": "MONTHLY"})
	preview, err := b.App.Banking.Preview(t.Context(), b.account, b.Now(t))
	must(t, err)
	if preview.Count != 2 || preview.SumMinor != 98_00 || len(preview.Blocks) != 2 || preview.Blocks[0].Sequence == preview.Blocks[1].Sequence {
		t.Errorf("%+v", preview)
	}
	if len(b.files(t)) != 0 {
		t.Error("a preview wrote a file")
	}
}

func TestAnswersThatMatchNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, apptest.SQLite(t, apptest.Options{}))
	content, err := os.ReadFile("../iso20022/testdata/dutch-batch.camt.053.001.02.xml")
	must(t, err)
	readings, err := b.App.Banking.Read(t.Context(), b.account, "statement.xml", asFile(content), false)
	must(t, err)
	if len(readings) != 1 || readings[0].Counts.Unmatched != 3 || readings[0].Counts.Ignored != 2 {
		t.Errorf("%+v", readings)
	}
	open := b.open(t)
	if len(open) != 3 || open[0].Reference != "E2E-8" || open[0].AmountMinor != 564_05 || open[0].Reason != "AC06" {
		t.Errorf("%+v", open)
	}
	readings, err = b.App.Banking.Read(t.Context(), b.account, "renamed.xml", asFile(content), false)
	must(t, err)
	if readings[0].Counts.Known != 5 || readings[0].Counts.Unmatched != 0 {
		t.Errorf("the same file again gives %+v", readings)
	}
	readings, err = b.App.Banking.Read(t.Context(), b.account, "half.xml", asFile(content[:len(content)/2]), false)
	must(t, err)
	if readings[0].Problem == "" {
		t.Error("half a file was read without a word")
	}
}
