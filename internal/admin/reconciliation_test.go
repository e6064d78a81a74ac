package admin_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/app/apptest"
	"sepad/internal/recon"
	"sepad/internal/store/storetest"
)

const reconciliations = "/admin/v1/reconciliations/"

func TestReconciliation(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		day := s.Now(t).Format(time.DateOnly)
		reference := func(id string) string { return wantTransaction(t, s, id, nil).Text(t, "merchant_transaction_id") }
		_, same := sale(t, s, apptest.Approved)
		_, other := sale(t, s, apptest.Approved)
		_, absent := sale(t, s, apptest.Approved)
		_, open := sale(t, s, apptest.PendingApproved)
		_, lost := sale(t, s, apptest.Approved)
		line := func(name, status, amount string) string {
			return name + ",," + status + ",," + amount + ",EUR," + day + ",,,\n"
		}
		file := header + line(reference(same), "approved", "49.00") + line(reference(other), "approved", "48.00") +
			line("THEIRS-1", "approved", "10.00") + line(reference(open), "approved", "49.00") +
			line(reference(lost), "charged_back", "49.00") + line(reference(same), "approved", "49.00") + line("BAD", "approved", "x")

		report := s.Do(t, upload(t, reconciliations, "transactions", file, nil)).Want(t, http.StatusOK, apptest.Fields{
			"first_day": day, "last_day": day, "applied": 0,
		})
		totals := apptest.Answer{Status: http.StatusOK, Raw: []byte(`{"t":` + compactJSON(t, report.Get(t, "totals").([]any)[0]) + `}`)}
		totals.Want(t, http.StatusOK, apptest.Fields{
			"t.currency": "EUR", "t.file.count": 5, "t.file.amount": "205.00", "t.ours.count": 5, "t.ours.amount": "245.00",
			"t.matched.count": 1, "t.matched.amount": "49.00", "t.differing_in_file.count": 3, "t.differing_in_file.amount": "146.00",
			"t.differing_in_ours.count": 3, "t.differing_in_ours.amount": "147.00", "t.missing_here.count": 1, "t.missing_here.amount": "10.00",
			"t.missing_there.count": 1, "t.missing_there.amount": "49.00", "t.difference": "-40.00",
		})
		if there := compactJSON(t, report.Get(t, "missing_there")); !strings.Contains(there, reference(absent)) {
			t.Errorf("missing there is %s", there)
		}
		if got := len(report.Get(t, "unreadable").([]any)); got != 2 {
			t.Errorf("%d lines could not be compared", got)
		}
		report.Want(t, http.StatusOK, apptest.Fields{"unreadable_count": 2})
		csv := string(s.Do(t, upload(t, reconciliations, "transactions", file, apptest.Body{"format": "csv"})).Raw)
		for _, want := range []string{
			"differing,3," + reference(other) + ",,,,,,amount,49.00,48.00,,false\r\n", "missing_here,4,THEIRS-1," + day + ",sdd_sale,approved,10.00,EUR",
			"missing_there,," + reference(absent), "unreadable,8,,,,,,,,,,\"amount must be an amount",
		} {
			if !strings.Contains(csv, want) {
				t.Errorf("the CSV lacks %q:\n%s", want, csv)
			}
		}
		wantTransaction(t, s, open, apptest.Fields{"status": "pending"})

		s.Do(t, upload(t, reconciliations, "transactions", file, apptest.Body{"apply": true})).Want(t, http.StatusOK, apptest.Fields{"applied": 2})
		wantTransaction(t, s, open, apptest.Fields{"status": "approved", "order.status": "COMPLETED"})
		wantTransaction(t, s, lost, apptest.Fields{"status": "charged_back", "order.status": "CHARGEDBACK"})
		wantTransaction(t, s, other, apptest.Fields{"status": "approved", "amount": "49.00"})
		if got := storetest.Scalar[string](t, s.Env, `SELECT source FROM chargebacks`); got != "reconciliation" {
			t.Errorf("the chargeback comes from %s", got)
		}
		s.Do(t, upload(t, reconciliations, "transactions", file, apptest.Body{"apply": true})).Want(t, http.StatusOK, apptest.Fields{"applied": 0})
		if left := s.Env.Count(t, "compared_lines"); left != 0 {
			t.Errorf("%d lines are left behind", left)
		}
	})
}

// TestWhatGoesBackIsNoSale: money that went the other way does not match, whatever the amount.
func TestWhatGoesBackIsNoSale(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, first := sale(t, s, apptest.Approved)
		reference := wantTransaction(t, s, first, nil).Text(t, "merchant_transaction_id")
		file := header + reference + ",,approved,sdd_refund,49.00,EUR," + s.Now(t).Format(time.DateOnly) + ",,,\n"
		report := s.Do(t, upload(t, reconciliations, "transactions", file, apptest.Body{"apply": true})).Want(t, http.StatusOK, apptest.Fields{"applied": 0})
		if got := compactJSON(t, report.Get(t, "differing").([]any)[0]); !strings.Contains(got, `"field":"type","file":"sdd_refund","ours":"sdd_sale"`) {
			t.Errorf("differing is %s", got)
		}
		if got := compactJSON(t, report.Get(t, "totals").([]any)[0]); !strings.Contains(got, `"difference":"-98.00"`) {
			t.Errorf("the totals are %s", got)
		}
	})
}

func TestReconciliationOfChargebacks(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, first := sale(t, s, apptest.Approved)
		reference := wantTransaction(t, s, first, nil).Text(t, "merchant_transaction_id")
		file := "merchant_transaction_id,amount,currency,report_date\n" + reference + ",49.00,EUR,2026-04-02\n"
		s.Do(t, upload(t, reconciliations, "chargebacks", file, nil)).Want(t, http.StatusOK, apptest.Fields{"applied": 0, "differing": []any{}})
		s.Do(t, upload(t, reconciliations, "chargebacks", file, apptest.Body{"apply": true})).Want(t, http.StatusOK, apptest.Fields{"applied": 1})
		wantTransaction(t, s, first, apptest.Fields{"status": "charged_back"})
		s.Do(t, upload(t, reconciliations, "chargebacks", file, nil)).Want(t, http.StatusOK, apptest.Fields{"missing_here": []any{}, "missing_there": []any{}})
	})
}

// TestReconciliationKeepsTheBanksReason has a matching report record chargebacks as their lines tell of them: what follows for a
// subscription the bank's reason says, and its fee is in the books.
func TestReconciliationKeepsTheBanksReason(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const columns = "merchant_transaction_id,amount,currency,report_date,reason_code,cb_bank_fee,report_info,arn,iban\n"
		for i, code := range []string{"AM04", "MD06", "AC03"} {
			paid := s.Pay(t, s.Create(t, every("MONTHLY")), apptest.Approved).Want(t, http.StatusOK, nil)
			file := columns + paid.Text(t, "transaction.merchant_transaction_id") + ",29.99,EUR,2026-04-02," + code + ",3.50,by letter,ARN-1," + apptest.Approved + "\n"
			s.Do(t, upload(t, reconciliations, "chargebacks", file, apptest.Body{"apply": true})).Want(t, http.StatusOK, apptest.Fields{"applied": 1})
			wantSubscription(t, s, paid.Text(t, "subscription.id"), apptest.Fields{"status": []string{"PAST_DUE", "CANCELLED", "ACTIVE"}[i]})
			list := s.Do(t, operator(chargebacks+"?transaction_id="+paid.Text(t, "transaction.id"), nil)).Want(t, http.StatusOK, nil)
			recorded := compactJSON(t, list.Get(t, "results").([]any)[0])
			for _, part := range []string{`"reason_code":"` + code + `"`, `"cb_bank_fee":"3.50"`, `"report_info":"by letter"`, `"arn":"ARN-1"`} {
				if !strings.Contains(recorded, part) {
					t.Errorf("%s is not in %s", part, recorded)
				}
			}
		}
	})
}

// TestAFileThatCannotBeRead has a file of another kind, or one that says the same again and again: it is counted and not
// held in memory, of which a few megabytes of such lines would take a few gigabytes.
func TestAFileThatCannotBeRead(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const listed, broken, same = 100_000, 99_990, 50
		line := "THEIRS-1,,approved,,10.00,EUR," + s.Now(t).Format(time.DateOnly) + ",,,\n"
		importer := recon.Importer{Store: s.App.Store, Checkout: s.App.Checkout}
		report, err := importer.Reconcile(t.Context(), recon.ImportRequest{
			TenantID: uuid.MustParse(apptest.Shop), GatewayID: uuid.MustParse(apptest.Gateway), Kind: recon.ImportTransactions,
			File: strings.NewReader(header + strings.Repeat("x\n", broken) + strings.Repeat(line, same)),
		}, false)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := report.UnreadableCount, broken+same-1; got != want || len(report.Unreadable) != listed || report.Open() != want+1 {
			t.Errorf("%d lines of %d are listed, %d to be looked at", len(report.Unreadable), got, report.Open())
		}
		if total := report.Totals[0]; total.File.Count != 1 || total.File.Text != "10.00" {
			t.Errorf("the file comes to %+v", total.File)
		}
	})
}

// TestReconciliationBeyondItsLists has more to settle and to look at than a report lists: all of it is settled, and what is left is
// counted.
func TestReconciliationBeyondItsLists(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const listed, known = 2, 7
		importer := recon.Importer{Store: s.App.Store, Checkout: s.App.Checkout, Listed: listed}
		request := func(kind recon.ImportKind, head, line string, count int) recon.ImportRequest {
			file := head
			for i := range count {
				file += fmt.Sprintf("THEIRS-%d,%s\n", i, line)
			}
			return recon.ImportRequest{
				TenantID: uuid.MustParse(apptest.Shop), GatewayID: uuid.MustParse(apptest.Gateway), Kind: kind, File: strings.NewReader(file),
			}
		}
		reconcile := func(kind recon.ImportKind, head, line string, applied, open int) {
			t.Helper()
			report, err := importer.Reconcile(t.Context(), request(kind, head, line, known+1), true)
			if err != nil || report.Applied != applied || report.Open() != open || max(len(report.Differing), len(report.MissingHere)) != listed {
				t.Errorf("%s: %d are settled, %d to be looked at, %v", kind, report.Applied, report.Open(), err)
			}
		}
		day := s.Now(t).Format(time.DateOnly)
		const payments, returns = "merchant_transaction_id,status,amount,currency,date_processed\n", "merchant_transaction_id,amount,currency,report_date\n"
		if _, err := importer.Import(t.Context(), request(recon.ImportTransactions, payments, "pending,10.00,EUR,"+day, known)); err != nil {
			t.Fatal(err)
		}
		reconcile(recon.ImportTransactions, payments, "approved,10.00,EUR,"+day, known, 1) // one that is not known
		reconcile(recon.ImportChargebacks, returns, "10.00,EUR,"+day, known+1, 0)
		if got := storetest.Scalar[int64](t, s.Env, `SELECT count(*) FROM transactions WHERE status = 'charged_back'`); got != known {
			t.Errorf("%d payments are charged back", got)
		}
	})
}

func TestReconciliationIsRefused(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	s.Do(t, upload(t, reconciliations, "transactions", header, apptest.Body{"apply": "perhaps", "format": "pdf"})).
		WantBad(t, map[string]string{"apply": "", "format": ""})
	s.Do(t, upload(t, reconciliations, "transactions", header, nil)).Want(t, http.StatusOK, apptest.Fields{"totals": []any{}, "first_day": ""})
}
