package banking_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/banking"
	"sepad/internal/gateway/bank/playedbank"
)

// operator calls the admin API about banks.
func (b *bundle) operator(t *testing.T, path string, body any) apptest.Answer {
	t.Helper()
	return b.Do(t, apptest.Request{Path: "/admin/v1/" + path, Key: apptest.AdminToken, Body: body})
}

// first gives the first of a list.
func first(t *testing.T, list apptest.Answer, name string) map[string]any {
	t.Helper()
	all := list.Get(t, name).([]any)
	if len(all) == 0 {
		t.Fatalf("%s is empty: %s", name, list.Raw)
	}
	return all[0].(map[string]any)
}

func TestPeopleSteerFiles(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		account := apptest.Body{"gateway_id": houseBank}
		sent, held := b.pay(t, apptest.Approved), b.pay(t, apptest.Approved)
		b.operator(t, "bank-connections/test/", account).Want(t, 200, apptest.Fields{"ok": true})

		t.Run("a collection is held back until it is in a file", func(t *testing.T) {
			b.operator(t, "transactions/"+held+"/hold/", apptest.Body{}).Want(t, 200, apptest.Fields{"status": "pending"})
			b.operator(t, "transactions/"+held+"/hold/", apptest.Body{}).Want(t, 409, nil)
			b.operator(t, "bank-files/preview/?gateway_id="+houseBank, nil).Want(t, 200, apptest.Fields{"count": 1.0, "sum": "49.00"})
			if file := first(t, b.operator(t, "bank-files/", account).Want(t, 201, nil), "results"); file["count"] != 1.0 || file["state"] != "sent" {
				t.Errorf("%v", file)
			}
			b.operator(t, "bank-files/", account).Want(t, 200, apptest.Fields{"results": []any{}})
			b.operator(t, "transactions/"+sent+"/hold/", apptest.Body{}).WantDetail(t, 409,
				"The collection is in a bank file: only a refund after it was collected, or a reversal at the bank, can help.")
			b.operator(t, "transactions/"+held+"/release/", apptest.Body{}).Want(t, 200, nil)
			b.operator(t, "bank-files/", account).Want(t, 201, nil)
		})
		t.Run("a file is shown and downloaded as it was sent", func(t *testing.T) {
			newest := b.operator(t, "bank-files/?gateway_id="+houseBank, nil).Want(t, 200, nil)
			id := first(t, newest, "results")["id"].(string)
			detail := b.operator(t, "bank-files/"+id+"/", nil).Want(t, 200, apptest.Fields{"matching.agrees": true})
			if first(t, detail, "collections")["status"] != "pending" || first(t, detail, "blocks")["count"] != 1.0 {
				t.Errorf("%s", detail.Raw)
			}
			content := b.operator(t, "bank-files/"+id+"/content/", nil)
			found := false
			for _, out := range b.out(t) {
				found = found || bytes.Equal(out, content.Raw)
			}
			if content.Status != 200 || !found {
				t.Errorf("%d, %d bytes that were never sent", content.Status, len(content.Raw))
			}
		})
		t.Run("a line that matched nothing is given its place by hand, once", func(t *testing.T) {
			statement, err := os.ReadFile("../iso20022/testdata/dutch-batch.camt.053.001.02.xml")
			must(t, err)
			_, err = b.App.Banking.Read(t.Context(), b.account, "statement.xml", asFile(statement), false)
			must(t, err)
			open := b.operator(t, "bank-entries/?matched=false&gateway_id="+houseBank, nil).Want(t, 200, nil)
			line, assign := "", apptest.Body{"transaction_id": sent}
			for _, one := range open.Get(t, "results").([]any) {
				if one := one.(map[string]any); one["kind"] == "returned" {
					line = one["id"].(string)
				}
			}
			b.operator(t, "bank-entries/"+line+"/assign/", assign).Want(t, 200, apptest.Fields{"result": "assigned", "transaction_id": sent})
			b.wantStatus(t, sent, "charged_back")
			b.operator(t, "bank-entries/"+line+"/assign/", assign).Want(t, 409, nil)
		})
	})
}

// returnsOfNobody is a notification with bookings that came back and name nothing of ours.
func returnsOfNobody(count int) []byte {
	var bookings strings.Builder
	for i := range count {
		fmt.Fprintf(&bookings, `<Ntry><Amt Ccy="EUR">49.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2026-11-20</Dt></BookgDt>
			<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>IDDT</Cd><SubFmlyCd>UPDD</SubFmlyCd></Fmly></Domn></BkTxCd>
			<NtryDtls><TxDtls><Refs><EndToEndId>NOBODY-%d</EndToEndId></Refs><AmtDtls><InstdAmt><Amt Ccy="EUR">49.00</Amt></InstdAmt></AmtDtls>
			<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf></TxDtls></NtryDtls></Ntry>`, i)
	}
	return []byte(`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.054.001.02"><BkToCstmrDbtCdtNtfctn><GrpHdr><MsgId>N-1</MsgId>
		<CreDtTm>2026-11-20T20:49:00</CreDtTm></GrpHdr><Ntfctn><Id>N-1</Id><CreDtTm>2026-11-20T20:49:00</CreDtTm>
		<Acct><Id><IBAN>DE89370400440532013000</IBAN></Id><Ccy>EUR</Ccy></Acct>` + bookings.String() + `</Ntfctn></BkToCstmrDbtCdtNtfctn></Document>`)
}

func TestALineIsGivenToOneOfTwoPaymentsAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const lines = 6
		b := setup(t, s)
		payments := make([]string, 2*lines)
		for i := range payments {
			payments[i] = b.pay(t, apptest.Approved)
		}
		b.cutOff(t)
		_, err := b.App.Banking.Read(t.Context(), b.account, "notification.xml", asFile(returnsOfNobody(lines)), false)
		must(t, err)
		open := b.operator(t, "bank-entries/?matched=false&gateway_id="+houseBank, nil).Want(t, 200, nil).Get(t, "results").([]any)
		if len(open) != lines {
			t.Fatalf("%d lines are open", len(open))
		}
		for i, line := range open {
			var assigning []apptest.Request
			pair := payments[2*i : 2*i+2]
			for _, id := range pair {
				path := "/admin/v1/bank-entries/" + line.(map[string]any)["id"].(string) + "/assign/"
				assigning = append(assigning, apptest.Request{Path: path, Key: apptest.AdminToken, Body: apptest.Body{"transaction_id": id}})
			}
			answers := b.AtOnce(t, assigning...)
			if len(answers[200]) != 1 || len(answers[409]) != 1 {
				t.Fatalf("the answers are %v", answers)
			}
			for _, id := range pair {
				want := "pending"
				if answers[200][0].Text(t, "transaction_id") == id {
					want = "charged_back"
				}
				b.wantStatus(t, id, want)
			}
		}
	})
}

func TestTheSumsOfFileAndStatementAreEqual(t *testing.T) {
	t.Parallel()
	b := setup(t, apptest.SQLite(t, apptest.Options{}), "settle_days: 30")
	for _, iban := range []string{apptest.Approved, apptest.Approved} {
		b.pay(t, iban)
	}
	b.cutOff(t)
	b.Advance(t, 7*24*3600*1e9)
	b.answer(t, playedbank.Plain)
	m, err := b.App.Banking.Match(t.Context(), b.files(t)[0])
	must(t, err)
	if !m.Agrees() || m.CreditedMinor == nil || *m.CreditedMinor != 98_00 || m.CollectedMinor != 98_00 {
		t.Errorf("%+v", m)
	}
}

func TestALineBelongsToItsAccount(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		sent := b.pay(t, apptest.Approved)
		b.cutOff(t)
		t.Run("what is shown behind a position that is none is said to be wrong", func(t *testing.T) {
			id := first(t, b.operator(t, "bank-files/", nil).Want(t, 200, nil), "results")["id"].(string)
			for _, after := range []string{"99999999999999999999", "4294967296", "-1", "x", "%00"} {
				b.operator(t, "bank-files/"+id+"/?after="+after, nil).WantBad(t, map[string]string{"after": "after must be the position of an entry."})
			}
			b.operator(t, "bank-files/"+id+"/?after=1", nil).Want(t, 200, apptest.Fields{"collections": []any{}})
		})
		t.Run("a line is not given to a payment of another account", func(t *testing.T) {
			other := secondBank(t, b)
			statement, err := os.ReadFile("../iso20022/testdata/dutch-batch.camt.053.001.02.xml")
			must(t, err)
			_, err = b.App.Banking.Read(t.Context(), other, "statement.xml", asFile(statement), false)
			must(t, err)
			lines := b.operator(t, "bank-entries/?matched=false&gateway_id="+other.ID.String(), nil).Want(t, 200, nil)
			line := first(t, lines, "results")
			b.operator(t, "bank-entries/"+line["id"].(string)+"/assign/", apptest.Body{"transaction_id": sent}).
				WantDetail(t, 409, "The transaction is in no bank file of this gateway.")
			b.wantStatus(t, sent, "pending")
			b.operator(t, "bank-statements/"+line["statement_id"].(string)+"/?after=99999999999999999999", nil).
				WantBad(t, map[string]string{"after": "after must be the position of an entry."})

			b.Env.Exec(t, `UPDATE bank_lines SET text_sealed = 'spoilt' WHERE id = $1`, line["id"])
			again := b.operator(t, "bank-entries/?matched=false&gateway_id="+other.ID.String(), nil).Want(t, 200, nil)
			if shown := first(t, again, "results"); shown["id"] != line["id"] || shown["text"] != "" {
				t.Errorf("a line whose text was spoilt is shown as %v", shown)
			}
		})
	})
}

// secondBank gives the shop another account, at another bank.
func secondBank(t *testing.T, b *bundle) *banking.Account {
	t.Helper()
	b.Apply(t, fmt.Sprintf(`tenants:
  - id: %s
    name: Bergladen
    creditor: {name: Bergladen GmbH, address: "Hangweg 1, 83471 Berchtesgaden, DE", identifier: DE98ZZZ09999999999}
    gateways:
      - id: 019d0000-0000-7000-8000-0000000000b2
        name: Second bank
        adapter: bank
        test_mode: true
        settings: {account_iban: DE89370400440532013000, folder: %q}
`, apptest.Shop, filepath.Join(t.TempDir(), "second")))
	account, err := b.App.Banking.Find(t.Context(), "Second bank")
	must(t, err)
	return account
}

// TestAnAccountThatIsHalfSetUp: one that is switched off and cannot be read made the work with
// banks fail every few seconds, and nobody could name another account by an id that it was called by.
func TestAnAccountThatIsHalfSetUp(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		b := setup(t, s)
		b.Apply(t, fmt.Sprintf(`tenants:
  - id: %s
    name: Bergladen
    creditor: {name: Bergladen GmbH, address: "Hangweg 1, 83471 Berchtesgaden, DE", identifier: DE98ZZZ09999999999}
    gateways:
      - {id: 019d0000-0000-7000-8000-0000000000b3, name: %s, adapter: bank, active: false, settings: {account_iban: none}}
`, apptest.Shop, houseBank))
		must(t, b.App.Banking.ReceiveAll(t.Context()))
		account, err := b.App.Banking.Find(t.Context(), houseBank)
		must(t, err)
		if account.Name != "House bank" {
			t.Errorf("found %s", account.Name)
		}
	})
}
