package banking_test

import (
	"bytes"
	"mime/multipart"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/gateway/bank/playedbank"
	"sepad/internal/store"
)

// restore makes of the database one that was saved before any file was written: payments wait, and nothing is known of
// what the bank was sent.
func (b *bundle) restore(t *testing.T) {
	t.Helper()
	for _, table := range []string{"bank_file_parts", "bank_file_entries", "bank_files"} {
		b.Env.Exec(t, `DELETE FROM `+table)
	}
	saved := b.Now(t).Add(-48 * time.Hour).UnixMicro()
	b.Env.Exec(t, `UPDATE transactions SET gateway_reference = '', settle_due_at = $1`, saved)
	b.Env.Exec(t, `UPDATE deployment SET banks_restored_to = $1`, saved)
}

var endToEnd = regexp.MustCompile(`<EndToEndId>([^<]+)</EndToEndId>`)

// wantOnce counts the payments in files, each of which may be in one.
func wantOnce(t *testing.T, files [][]byte, want int) {
	t.Helper()
	seen := map[string]bool{}
	for _, file := range files {
		for _, found := range endToEnd.FindAllSubmatch(file, -1) {
			if id := string(found[1]); seen[id] {
				t.Errorf("%s is in two files", id)
			} else {
				seen[id] = true
			}
		}
	}
	if len(seen) != want {
		t.Errorf("%d payments are in files, want %d", len(seen), want)
	}
}

// adopt hands in a file over the admin API.
func (b *bundle) adopt(t *testing.T, content []byte) apptest.Answer {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	must(t, form.WriteField("gateway_id", houseBank))
	part, err := form.CreateFormFile("file", "portal.xml")
	must(t, err)
	_, err = part.Write(content)
	must(t, err)
	must(t, form.Close())
	return b.Do(t, apptest.Request{
		Path: "/admin/v1/bank-files/adopt/", Key: apptest.AdminToken, Body: body.String(), Header: map[string]string{"Content-Type": form.FormDataContentType()},
	})
}

func TestOperatorsResumeAnAccountAfterARestore(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		account := apptest.Body{"gateway_id": houseBank}
		b.operator(t, "bank-connections/resume/", account).WantDetail(t, 409, "The account does not wait after a restore.")
		fetched := b.pay(t, apptest.Approved)
		b.cutOff(t)
		sent := b.out(t)
		must(t, os.RemoveAll(filepath.Join(b.folder, "out"))) // the bank has fetched it
		b.restore(t)
		waiting := b.pay(t, apptest.Approved)
		b.cutOff(t)
		if len(b.out(t)) != 0 || len(b.files(t)) != 0 {
			t.Fatal("a file was written before anybody looked")
		}
		b.operator(t, "bank-files/", account).Want(t, 409, nil)

		t.Run("what is no file of ours is refused", func(t *testing.T) {
			for _, content := range []string{"", "<Document/>", "no XML", string(sent[0][:len(sent[0])/2])} {
				b.adopt(t, []byte(content)).Want(t, 400, nil)
			}
		})
		t.Run("a file from the bank's portal is taken in once", func(t *testing.T) {
			one := first(t, b.adopt(t, sent[0]).Want(t, 201, apptest.Fields{"unknown_payments": 0.0}), "results")
			if one["count"] != 1.0 || one["is_known"] != false || one["message_id"] == "" {
				t.Errorf("%v", one)
			}
			if again := first(t, b.adopt(t, sent[0]).Want(t, 201, nil), "results"); again["is_known"] != true {
				t.Errorf("%v", again)
			}
			if reference := b.statusOf(t, fetched).GatewayReference; reference == "" {
				t.Error("its payment still waits for a file")
			}
		})
		t.Run("then the account goes on, and nothing is collected twice", func(t *testing.T) {
			b.operator(t, "bank-connections/resume/", account).Want(t, 200, apptest.Fields{"gateway_id": houseBank})
			b.operator(t, "bank-connections/resume/", account).Want(t, 409, nil)
			b.cutOff(t)
			if b.statusOf(t, waiting).GatewayReference == "" {
				t.Error("what waited is in no file")
			}
			wantOnce(t, append(b.out(t), sent...), 2)
		})
	})
}

// TestWhatABankSaidOfALostFile: the bank has fetched a file after the backup and refused what is in it. Its answer may not
// be used up before the file is known again.
func TestWhatABankSaidOfALostFile(t *testing.T) {
	t.Parallel()
	for how, hear := range map[string]func(*testing.T, *bundle){
		"the service finds it": func(t *testing.T, b *bundle) { must(t, b.App.Banking.ReceiveAll(t.Context())) },
		"somebody reads it too early, and again": func(t *testing.T, b *bundle) {
			for _, name := range b.answers(t) {
				file, err := os.Open(name)
				must(t, err)
				_, err = b.App.Banking.ReadFile(t.Context(), b.account, filepath.Base(name), file, false)
				must(t, err)
			}
		},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, func(t *testing.T, s *apptest.Server) {
				b := setup(t, s)
				refused := b.pay(t, apptest.DeclinedInsufficientFunds)
				b.cutOff(t)
				sent := b.out(t)
				_, err := b.App.Banking.Answer(b.account, playedbank.Plain, nil, b.Now(t))
				must(t, err)
				must(t, os.RemoveAll(filepath.Join(b.folder, "out"))) // the bank has fetched it
				b.restore(t)
				hear(t, b)
				b.adopt(t, sent[0]).Want(t, 201, nil)
				hear(t, b)
				b.operator(t, "bank-connections/resume/", apptest.Body{"gateway_id": houseBank}).Want(t, 200, nil)
				b.Advance(t, 20*24*time.Hour)
				b.wantStatus(t, refused, "declined")
				if open := b.open(t); len(open) != 0 {
					t.Errorf("open lines: %+v", open)
				}
			})
		})
	}
}

// TestAnAnswerByTheNameOfAFile: a bank names its answers after our files, and the account goes on all the same.
func TestAnAnswerByTheNameOfAFile(t *testing.T) {
	t.Parallel()
	b := setup(t, apptest.SQLite(t, apptest.Options{}))
	b.pay(t, apptest.DeclinedInsufficientFunds)
	b.cutOff(t)
	b.answer(t, playedbank.Plain)
	answers, err := filepath.Glob(filepath.Join(b.folder, "done", "*-SD-*"))
	must(t, err)
	if len(answers) == 0 {
		t.Fatal("no answer has such a name: nothing was proven")
	}
	b.restore(t)
	b.operator(t, "bank-connections/resume/", apptest.Body{"gateway_id": houseBank}).Want(t, 200, nil)
}

// answers are the bank's answers that nobody has taken away.
func (b *bundle) answers(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(b.folder, "in", "*"))
	must(t, err)
	return names
}

func TestFilesOnAServerAreAdopted(t *testing.T) {
	t.Parallel()
	server := newBankServer(t)
	b := setup(t, apptest.SQLite(t, apptest.Options{}), server.settings(server.hostKey.PublicKey()))
	b.folder = server.folder
	sent := b.pay(t, apptest.Approved)
	b.cutOff(t)
	message := b.files(t)[0].MessageID
	b.restore(t)
	other := b.pay(t, apptest.Approved)
	b.cutOff(t)
	files := b.files(t)
	if len(b.out(t)) != 1 || len(files) != 1 || files[0].MessageID != message || files[0].State != store.BankFileSent || files[0].Count != 1 {
		t.Fatalf("%d files are on the server, known is %+v", len(b.out(t)), files)
	}
	if b.statusOf(t, sent).GatewayReference == "" || b.statusOf(t, other).GatewayReference != "" {
		t.Error("only what is on the server has been sent")
	}
	var content bytes.Buffer
	must(t, b.App.Banking.Content(t.Context(), files[0], &content))
	if !bytes.Equal(content.Bytes(), b.out(t)[0]) {
		t.Error("other bytes are kept than those on the server")
	}
	b.operator(t, "bank-connections/resume/", apptest.Body{"gateway_id": houseBank}).Want(t, 200, nil)
	b.cutOff(t)
	wantOnce(t, b.out(t), 2)
}

// TestSilenceNeedsAnInbox: a bank that cannot be heard is not silent.
func TestSilenceNeedsAnInbox(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		id := b.pay(t, apptest.Approved)
		b.cutOff(t)
		inbox := filepath.Join(b.folder, "in")
		must(t, os.RemoveAll(inbox))
		must(t, os.WriteFile(inbox, nil, 0o600)) // it is there, and nothing can be read from it
		b.Advance(t, 20*24*time.Hour)
		b.wantStatus(t, id, "pending")
		if file := b.files(t)[0]; file.State != store.BankFileSent {
			t.Errorf("the file is %s", file.State)
		}
		must(t, os.Remove(inbox))
		b.Advance(t, time.Hour)
		_, err := b.App.Banking.RunDue(t.Context(), b.Now(t))
		must(t, err)
		b.wantStatus(t, id, "approved")
	})
}

// TestABankSpeaksBeforeItsSilenceCounts: what lies unread in the inbox when the silence ends is heard first.
func TestABankSpeaksBeforeItsSilenceCounts(t *testing.T) {
	t.Parallel()
	b := setup(t, apptest.SQLite(t, apptest.Options{}))
	id := b.pay(t, apptest.DeclinedInsufficientFunds)
	b.cutOff(t)
	_, err := b.App.Banking.Answer(b.account, "plain", nil, b.Now(t))
	must(t, err)
	b.Advance(t, 20*24*time.Hour)
	b.wantStatus(t, id, "declined")
}

// TestABatchWithAPaymentThatWasLost: what the bank books for a block is as much as the payment that is known in it, which the bank has
// refused. It is the money of the other one, which left after the backup and is not known here.
func TestABatchWithAPaymentThatWasLost(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		refused, lost := b.pay(t, apptest.Approved), b.pay(t, apptest.Approved)
		b.cutOff(t)
		entry, err := b.App.Store.Tenant(b.account.Setup.Tenant.ID).BankEntry(t.Context(), b.statusOf(t, refused).ID)
		must(t, err)
		b.restore(t)
		name := b.statusOf(t, lost).MerchantTransactionID
		b.Env.Exec(t, `UPDATE transactions SET merchant_transaction_id = 'TXN-20260101-ANOTHER1' WHERE id = $1`, lost)
		_, err = b.App.Banking.AdoptSent(t.Context(), b.account)
		must(t, err)
		b.read(t, credited("", "<Btch><PmtInfId>"+entry.BlockID+"</PmtInfId><NbOfTxs>1</NbOfTxs></Btch>", b.Now(t)))
		if open := b.open(t); len(open) != 1 || !strings.Contains(open[0].Note, "are not known here") {
			t.Errorf("open lines: %+v", open)
		}
		b.read(t, `<Document><CstmrPmtStsRpt><GrpHdr><MsgId>A</MsgId></GrpHdr><OrgnlGrpInfAndSts><OrgnlMsgId>B</OrgnlMsgId></OrgnlGrpInfAndSts><OrgnlPmtInfAndSts>
			<TxInfAndSts><OrgnlEndToEndId>`+entry.EndToEndID+`</OrgnlEndToEndId><TxSts>RJCT</TxSts><StsRsnInf><Rsn><Cd>AM04</Cd></Rsn></StsRsnInf></TxInfAndSts>
			</OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>`)
		b.wantStatus(t, refused, "declined")
		b.Env.Exec(t, `UPDATE transactions SET merchant_transaction_id = $1 WHERE id = $2`, name, lost)
		b.operator(t, "bank-connections/resume/", apptest.Body{"gateway_id": houseBank}).Want(t, 200, nil)
		b.wantStatus(t, refused, "declined")
		b.wantStatus(t, lost, "approved")
		if open := b.open(t); len(open) != 0 {
			t.Errorf("what the booking is for is known by now: %+v", open)
		}
	})
}
