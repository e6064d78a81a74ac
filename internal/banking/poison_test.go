package banking_test

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/gateway/bank/playedbank"
)

// TestAPoisonedAnswerHoldsUpNoOther puts a broken container, and one with a name that is no text, before the bank's
// answers: what stands behind them decides about money.
func TestAPoisonedAnswerHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		id := b.pay(t, apptest.DeclinedInsufficientFunds)
		b.cutOff(t)
		statement, err := os.ReadFile("../iso20022/testdata/dutch-batch.camt.053.001.02.xml")
		must(t, err)
		inbox := filepath.Join(b.folder, "in")
		must(t, os.MkdirAll(inbox, 0o700))
		must(t, os.WriteFile(filepath.Join(inbox, "0-broken.zip"), []byte("PK\x03\x04 and nothing more"), 0o600))
		must(t, os.WriteFile(filepath.Join(inbox, "1-odd.zip"), zipped(t, "Ausz\x81ge\x00.xml", statement), 0o600))
		_, err = b.App.Banking.Answer(b.account, playedbank.Plain, nil, b.Now(t))
		must(t, err)
		readings, err := b.App.Banking.Receive(t.Context(), b.account)
		must(t, err)
		if readings[0].Problem == "" || readings[1].Problem != "" || readings[1].Name != "Ausz_ge.xml" {
			t.Errorf("%+v", readings[:2])
		}
		b.wantStatus(t, id, "declined")
		if _, err := os.Stat(filepath.Join(b.folder, "failed", "0-broken.zip")); err != nil {
			t.Error(err)
		}
		if left, _ := filepath.Glob(filepath.Join(inbox, "*")); len(left) != 0 {
			t.Errorf("left in the inbox: %v", left)
		}
	})
}

func zipped(t *testing.T, name string, content []byte) []byte {
	t.Helper()
	var file bytes.Buffer
	archive := zip.NewWriter(&file)
	member, err := archive.Create(name)
	must(t, err)
	_, err = member.Write(content)
	must(t, err)
	must(t, archive.Close())
	return file.Bytes()
}

// TestARefundWithoutAnAccountHoldsUpNoOther refunds a payment whose payer was erased, or that was imported.
func TestARefundWithoutAnAccountHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		paid := b.settled(t, apptest.Approved, otherName)
		lost, other := b.refund(t, paid[0], 10_00), b.refund(t, paid[1], 10_00)
		s.Env.Exec(t, `UPDATE transactions SET iban_sealed = '' WHERE id = $1`, uuid.MustParse(paid[0]))
		preview, err := b.App.Banking.Preview(t.Context(), b.account, b.Now(t))
		must(t, err)
		if len(preview.Faults) != 1 || preview.Faults[0].MerchantTransactionID != b.statusOf(t, lost).MerchantTransactionID || preview.Refunds.Count != 1 {
			t.Errorf("%+v", preview)
		}
		b.cutOff(t)
		if got := b.statusOf(t, other); got.GatewayReference == "" {
			t.Errorf("the other refund is in no file: %+v", got)
		}
		if got := b.statusOf(t, lost); got.GatewayReference != "" {
			t.Errorf("a refund without an account is in a file: %+v", got)
		}
	})
}
