package backup_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"sepad/internal/app/apptest"
	"sepad/internal/store/storetest"
)

var transferred = regexp.MustCompile(`<InstdAmt Ccy="EUR">([0-9.]+)</InstdAmt>`)

// givenBack adds up, in cents, what the bank was told to give back.
func (d *bankDrill) givenBack(t *testing.T) (sum int) {
	t.Helper()
	for _, name := range d.sent(t) {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(content), "CstmrCdtTrfInitn") {
			continue
		}
		for _, found := range transferred.FindAllStringSubmatch(string(content), -1) {
			cents, err := strconv.Atoi(strings.ReplaceAll(found[1], ".", ""))
			if err != nil {
				t.Fatal(err)
			}
			sum += cents
		}
	}
	return sum
}

// refund asks for a part of the only payment, or for all of it.
func (d *bankDrill) refund(t *testing.T, env *storetest.Env, amount string) apptest.Answer {
	t.Helper()
	id := storetest.Scalar[string](t, env, `SELECT CAST(id AS TEXT) FROM transactions WHERE type = 'sdd_sale'`)
	body := apptest.Body{}
	if amount != "" {
		body["amount"] = amount
	}
	return d.Do(t, apptest.Request{Path: "/admin/v1/transactions/" + id + "/refunds/", Key: apptest.AdminToken, Body: body})
}

// lostRefund is a payment of 49.00 of which a part was given back after the backup, restored.
func lostRefund(t *testing.T, env *storetest.Env) (after *bankDrill, restored *storetest.Env) {
	t.Helper()
	d := openBankDrill(t, env)
	d.pay(t, apptest.Body{})
	d.Advance(t, 20*24*time.Hour)
	restore := d.save(t, env)
	d.refund(t, env, "10.00").Want(t, http.StatusCreated, nil)
	d.Advance(t, 3*24*time.Hour)
	if sum := d.givenBack(t); sum != 10_00 {
		t.Fatalf("%d cents were given back", sum)
	}
	return restore()
}

// TestARefundThatTheBankHasIsNotLeftAfterARestore: a part of a payment was given back after the backup, and the bank has it.
// Whoever gives back all that is left then gives back what is.
func TestARefundThatTheBankHasIsNotLeftAfterARestore(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		after, restored := lostRefund(t, env)
		after.refund(t, restored, "").WantDetail(t, http.StatusConflict, "The database was restored, and nobody has made sure yet what the bank was sent since the backup. Refund once its account goes on.")
		if _, err := after.App.Banking.Resume(t.Context(), after.account(t)); err != nil {
			t.Fatal(err)
		}
		after.refund(t, restored, "49.00").Want(t, http.StatusBadRequest, nil)
		after.refund(t, restored, "").Want(t, http.StatusCreated, apptest.Fields{"amount": "39.00"})
		after.Advance(t, 20*24*time.Hour)
		if sum := after.givenBack(t); sum != 49_00 {
			t.Errorf("%d cents of 4900 were given back", sum)
		}
		if booked := storetest.Scalar[int](t, restored, `SELECT refunded_minor FROM transactions WHERE type = 'sdd_sale'`); booked != 49_00 {
			t.Errorf("%d cents are booked as given back", booked)
		}
		if unknown := restored.Count(t, "bank_adopted"); unknown != 0 {
			t.Errorf("%d payments of the lost files have no transaction", unknown)
		}
	})
}

// TestALostRefundThatIsAskedForAgainIsTheSame: also where its file is got from the bank's portal.
func TestALostRefundThatIsAskedForAgainIsTheSame(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		after, restored := lostRefund(t, env)
		names := after.sent(t)
		portal := filepath.Join(t.TempDir(), "portal.xml")
		if err := os.Rename(names[len(names)-1], portal); err != nil {
			t.Fatal(err)
		}
		after.adopt(t, after.account(t), portal)
		if _, err := after.App.Banking.Resume(t.Context(), after.account(t)); err != nil {
			t.Fatal(err)
		}
		after.refund(t, restored, "10.00").Want(t, http.StatusCreated, apptest.Fields{"amount": "10.00"})
		after.Advance(t, 20*24*time.Hour)
		if sum := after.givenBack(t); sum != 0 {
			t.Errorf("%d cents were given back once more", sum)
		}
		if booked := storetest.Scalar[int](t, restored, `SELECT refunded_minor FROM transactions WHERE type = 'sdd_sale'`); booked != 10_00 {
			t.Errorf("%d cents are booked as given back", booked)
		}
	})
}

// TestALostRefundThatTheBankRefusedIsLeft: what the bank says of it is read while the account waits, when nobody has asked for it here.
func TestALostRefundThatTheBankRefusedIsLeft(t *testing.T) {
	t.Parallel()
	storetest.EachFresh(t, func(t *testing.T, env *storetest.Env) {
		after, restored := lostRefund(t, env)
		names := after.sent(t)
		account := after.account(t)
		if _, err := after.App.Banking.AdoptSent(t.Context(), account); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(names[len(names)-1])
		if err != nil {
			t.Fatal(err)
		}
		answer := `<Document><CstmrPmtStsRpt><GrpHdr><MsgId>A</MsgId></GrpHdr><OrgnlGrpInfAndSts><OrgnlMsgId>` + messageID.FindStringSubmatch(string(content))[1] +
			`</OrgnlMsgId><GrpSts>RJCT</GrpSts><StsRsnInf><Rsn><Cd>AC04</Cd></Rsn></StsRsnInf></OrgnlGrpInfAndSts></CstmrPmtStsRpt></Document>`
		if _, err := after.App.Banking.Read(t.Context(), account, "answer.xml", io.NewSectionReader(strings.NewReader(answer), 0, int64(len(answer))), false); err != nil {
			t.Fatal(err)
		}
		if _, err := after.App.Banking.Resume(t.Context(), account); err != nil {
			t.Fatal(err)
		}
		after.refund(t, restored, "").Want(t, http.StatusCreated, apptest.Fields{"amount": "49.00"})
		after.Advance(t, 20*24*time.Hour)
		if sum := after.givenBack(t); sum != 59_00 {
			t.Errorf("%d cents were sent, want 1000 that were refused and 4900", sum)
		}
		if booked := storetest.Scalar[int](t, restored, `SELECT refunded_minor FROM transactions WHERE type = 'sdd_sale'`); booked != 49_00 {
			t.Errorf("%d cents are booked as given back", booked)
		}
	})
}

var messageID = regexp.MustCompile(`<MsgId>([^<]+)</MsgId>`)
