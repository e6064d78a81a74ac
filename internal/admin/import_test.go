package admin_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/charmap"

	"sepad/internal/app/apptest"
	"sepad/internal/store/storetest"
)

const imports = "/admin/v1/imports/"

// upload is a form with a file as its last part.
func upload(t *testing.T, path, kind, file string, more apptest.Body) apptest.Request {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	fields := apptest.Body{"tenant_id": apptest.Shop, "gateway_id": apptest.Gateway, "kind": kind}.With(more)
	for name, value := range fields {
		if err := form.WriteField(name, fmt.Sprint(value)); err != nil {
			t.Fatal(err)
		}
	}
	part, err := form.CreateFormFile("file", "report.csv")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write([]byte(file)); err != nil {
		t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	return apptest.Request{
		Path: path, Key: apptest.AdminToken, Body: body.String(), Header: map[string]string{"Content-Type": form.FormDataContentType()},
	}
}

func importing(t *testing.T, kind, file string, more apptest.Body) apptest.Request {
	t.Helper()
	return upload(t, imports, kind, file, more)
}

// counts expects what became of a file's lines: new, updated, unchanged, rejected.
func counts(of ...int) apptest.Fields {
	return apptest.Fields{
		"status": "completed", "counts.new": of[0], "counts.updated": of[1], "counts.unchanged": of[2], "counts.rejected": of[3],
	}
}

const header = "merchant_transaction_id,adapter_unique_id,status,type,amount,currency,date_processed,iban,customer_name_csv,customer_email_csv\n"

func TestImportOfTransactions(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		file := header +
			"P-1,U-1,approved,sdd_sale,12.50,EUR,2026-03-01T10:00:00Z,DE89370400440532013000,\"Müller, Anna\",a@x.example\n" +
			"P-2,U-2,declined,,7.00,EUR,2026-03-02,,,\n" +
			"P-3,U-3,approved,sdd_refund,-5.00,EUR,2026-03-03,,,\n"
		s.Do(t, importing(t, "transactions", file, nil)).Want(t, http.StatusCreated, counts(3, 0, 0, 0))
		before := moneyRows(t, s)
		s.Do(t, importing(t, "transactions", file, nil)).Want(t, http.StatusCreated, counts(0, 0, 3, 0))
		if after := moneyRows(t, s); after != before {
			t.Errorf("the same file again changed\n%s\nto\n%s", before, after)
		}
		id := transactionID(t, s, "P-1")
		wantTransaction(t, s, id, apptest.Fields{
			"status": "approved", "source": "csv_import", "type": "sdd_sale", "amount": "12.50", "adapter_unique_id": "U-1",
			"date_processed": "2026-03-01T10:00:00.000000Z", "iban": "******************3000", "customer_name_csv": "Müller, Anna",
			"customer_email_csv": "a@x.example", "tenant_reference_id": nil, "order": nil, "payment_gateway_id": apptest.Gateway,
		})
		wantTransaction(t, s, transactionID(t, s, "P-3"), apptest.Fields{"type": "sdd_refund", "amount": "5.00"})
		wantEvents(t, s)
	})
}

// moneyRows are the rows of everything that an import may change. Those of keys,
// events and deliveries go on changing in the background.
func moneyRows(t *testing.T, s *apptest.Server) string {
	t.Helper()
	lines := slices.DeleteFunc(strings.Split(s.Env.Dump(t), "\n"), func(line string) bool {
		table, _, _ := strings.Cut(line, " ")
		return !slices.Contains([]string{"chargebacks", "leads", "orders", "sandbox_payments", "sessions", "subscriptions", "transactions"}, table)
	})
	return strings.Join(lines, "\n")
}

func transactionID(t *testing.T, s *apptest.Server, reference string) string {
	t.Helper()
	return storetest.Scalar[string](t, s.Env, `SELECT CAST(id AS TEXT) FROM transactions WHERE merchant_transaction_id = $1`, reference)
}

func TestImportUnderstandsTheFormsOfFiles(t *testing.T) {
	t.Parallel()
	german := "Merchant Reference;State;Value;Currency;Booked;Payer\r\nG-1;Collected;1.234,50;EUR;31.03.2026;Jörg Weiß\r\n"
	latin, err := charmap.Windows1252.NewEncoder().String(german)
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{
		"UTF-8 with commas":                "merchant_transaction_id,status,amount,currency,date_processed,customer_name_csv\nG-1,approved,1234.50,EUR,2026-03-31,Jörg Weiß\n",
		"UTF-8 with a mark and semicolons": "\xEF\xBB\xBFmerchant_transaction_id;status;amount;currency;date_processed;customer_name_csv\nG-1;Approved;1234,50;eur;31.03.2026 00:00;Jörg Weiß",
		"a processor's own names":          german,
		"Windows-1252":                     latin,
		"tabs and quotes":                  "\"merchant_transaction_id\"\tstatus\tamount\tcurrency\tdate_processed\tcustomer_name_csv\n\"G-1\"\tapproved\t\"1,234.50\"\tEUR\t2026-03-31T02:00:00+02:00\t\"Jörg Weiß\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := apptest.SQLite(t, apptest.Options{})
			s.Do(t, importing(t, "transactions", file, nil)).Want(t, http.StatusCreated, counts(1, 0, 0, 0))
			wantTransaction(t, s, transactionID(t, s, "G-1"), apptest.Fields{
				"amount": "1234.50", "status": "approved", "currency": "EUR", "date_processed": "2026-03-31T00:00:00.000000Z",
				"customer_name_csv": "Jörg Weiß", "type": "sdd_sale",
			})
		})
	}
}

func TestImportRejectsLines(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, id := sale(t, s, apptest.Approved)
		known := wantTransaction(t, s, id, nil).Text(t, "merchant_transaction_id")
		file := header +
			"R-1,,approved,,1.00,EUR,2026-03-01,,,\n" +
			"R-2,,approved,,1.234,EUR,2026-03-01,,,\n" + // 3: one thousand, or one?
			"R-3,,gone,,1.00,EUR,2026-03-01,,,\n" +
			"R-4,,approved,,1.00,EURO,2026-03-01,,,\n" +
			"R-5,,approved,,1.00,EUR,03/01/2026,,,\n" +
			",,approved,,1.00,EUR,2026-03-01,,,\n" +
			"R-7,,approved,,-1.00,EUR,2026-03-01,,,\n" +
			"R-8,,approved,,1.00,EUR,2026-03-01,,\"a\"b,\n" +
			known + ",,approved,,48.99,EUR,2026-03-01,,,\n" + // 10: another amount
			known + ",,declined,,49.00,EUR,2026-03-01,,,\n" +
			known + ",,approved,,49.00,CHF,2026-03-01,,,\n" +
			known + ",,pending,,49.00,EUR,2026-03-01,,,\n" + // old news
			"R-1,,approved,,2.00,EUR,2026-03-01,,,\n"
		answer := s.Do(t, importing(t, "transactions", file, nil)).Want(t, http.StatusCreated, counts(1, 0, 1, 11))
		want := []string{
			"3 amount cannot be told apart", "4 status is none that is known", "5 currency must be", "6 date_processed must be",
			"7 merchant_transaction_id is required", "8 amount is below zero", "9 The quotes", "10 The amount is 49.00 here and 48.99",
			"11 The status is approved here and declined", "12 The currency is EUR here and CHF", "14 The amount is 1.00 here and 2.00",
		}
		listed := answer.Get(t, "rejected_lines").([]any)
		for i, line := range listed {
			entry := line.(map[string]any)
			if got := fmt.Sprint(entry["line"], " ", entry["reason"]); i >= len(want) || !strings.HasPrefix(got, want[i]) {
				t.Errorf("rejected: %s", got)
			}
		}
		importID := answer.Text(t, "id")
		s.Do(t, operator(imports+importID+"/", nil)).Want(t, http.StatusOK, counts(1, 0, 1, 11))
		csv := s.Do(t, operator(imports+importID+"/rejected/", nil))
		if lines := strings.Split(string(csv.Raw), "\r\n"); len(lines) != 13 || lines[0] != "line,reason" || !strings.HasPrefix(lines[1], "3,") {
			t.Errorf("the CSV of rejected lines is %s", csv.Raw)
		}
		wantTransaction(t, s, id, apptest.Fields{"status": "approved", "amount": "49.00"})
	})
}

func TestImportSettlesPendingPayments(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, paid := sale(t, s, apptest.PendingApproved)
		_, failed := sale(t, s, apptest.PendingDeclined)
		line := func(id, status string) string {
			return wantTransaction(t, s, id, nil).Text(t, "merchant_transaction_id") + ",," + status + ",,49.00,EUR,2026-03-01,,,\n"
		}
		file := header + line(paid, "approved") + line(failed, "declined") + "NEW-1,,pending,,3.00,EUR,2026-03-01,,,\n"
		before := moneyRows(t, s)
		s.Do(t, importing(t, "transactions", file, apptest.Body{"dry_run": true})).Want(t, http.StatusCreated, counts(1, 2, 0, 0))
		if after := moneyRows(t, s); after != before {
			t.Errorf("a dry run changed\n%s\nto\n%s", before, after)
		}
		for _, id := range []string{paid, failed} {
			wantTransaction(t, s, id, apptest.Fields{"status": "pending", "order.status": "PENDING"})
		}
		s.Do(t, importing(t, "transactions", file, nil)).Want(t, http.StatusCreated, counts(1, 2, 0, 0))
		wantTransaction(t, s, paid, apptest.Fields{"status": "approved", "order.status": "COMPLETED"})
		wantTransaction(t, s, failed, apptest.Fields{"status": "declined", "order.status": "FAILED"})
		s.Do(t, importing(t, "transactions", header+"NEW-1,,approved,,3.00,EUR,2026-03-01,,,\n", nil)).Want(t, http.StatusCreated, counts(0, 1, 0, 0))
		s.Do(t, importing(t, "transactions", file, nil)).Want(t, http.StatusCreated, counts(0, 0, 3, 0))
		wantEvents(t, s, "transaction.status_changed approved was pending", "transaction.status_changed declined was pending",
			"transaction.status_changed approved was pending")
	})
}

// What a file says came back had been collected: a pending payment is approved
// first, and the chargeback or refund is told behind it. The same file again is
// old news.
func TestImportOfWhatCameBackFromPendingPayments(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, lost := sale(t, s, apptest.PendingApproved)
		_, given := sale(t, s, apptest.PendingApproved)
		line := func(id, status string) string {
			return wantTransaction(t, s, id, nil).Text(t, "merchant_transaction_id") + ",," + status + ",,49.00,EUR,2026-03-01,,,\n"
		}
		file := header + line(lost, "charged_back") + line(given, "refunded")
		s.Do(t, importing(t, "transactions", file, nil)).Want(t, http.StatusCreated, counts(0, 2, 0, 0))
		wantTransaction(t, s, lost, apptest.Fields{"status": "charged_back", "order.status": "CHARGEDBACK"})
		wantTransaction(t, s, given, apptest.Fields{"status": "refunded", "order.status": "REFUNDED", "refundable_amount": "0.00"})
		if n := s.Env.Count(t, "chargebacks"); n != 1 {
			t.Errorf("%d chargebacks are recorded", n)
		}
		wantEvents(t, s, "transaction.status_changed approved was pending", "chargeback.created charged_back",
			"transaction.status_changed charged_back was approved", "transaction.status_changed approved was pending",
			"transaction.status_changed refunded was approved")
		s.Do(t, importing(t, "transactions", file, nil)).Want(t, http.StatusCreated, counts(0, 0, 2, 0))
	})
}

// A file may have two ids for a payment (contract 2.11). One that we knew keeps the
// gateway's own and gets the other.
func TestImportBringsTheProcessorsIDOfAKnownPayment(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, id := sale(t, s, apptest.PendingApproved)
		known := wantTransaction(t, s, id, nil)
		file := "merchant_transaction_id,adapter_unique_id,transaction_id,status,amount,currency,date_processed\n" +
			known.Text(t, "merchant_transaction_id") + "," + known.Text(t, "adapter_unique_id") + ",PROC-77,approved,49.00,EUR,2026-03-01\n"
		s.Do(t, importing(t, "transactions", file, nil)).Want(t, http.StatusCreated, counts(0, 1, 0, 0))
		wantTransaction(t, s, id, apptest.Fields{
			"status": "approved", "adapter_unique_id": known.Text(t, "adapter_unique_id"), "transaction_id": "PROC-77",
		})
	})
}

func TestImportTellsOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		file := header + "E-1,,approved,sdd_refund,1.00,EUR,2026-03-01,,,\nE-2,,declined,sdd_refund,1.00,EUR,2026-03-01,,,\n"
		s.Do(t, importing(t, "transactions", file, apptest.Body{"events": true})).Want(t, http.StatusCreated, counts(2, 0, 0, 0))
		s.Do(t, importing(t, "transactions", file, apptest.Body{"events": true})).Want(t, http.StatusCreated, counts(0, 0, 2, 0))
		wantEvents(t, s, "transaction.created approved")
	})
}

func TestImportOfChargebacks(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, first := sale(t, s, apptest.Approved)
		_, second := sale(t, s, apptest.Approved)
		_, third := sale(t, s, apptest.Approved)
		reference := func(id string) string { return wantTransaction(t, s, id, nil).Text(t, "merchant_transaction_id") }
		processor := func(id string) string { return wantTransaction(t, s, id, nil).Text(t, "adapter_unique_id") }
		s.Do(t, operator(chargebacks, apptest.Body{"transaction_id": third})).Want(t, http.StatusCreated, nil)
		file := "merchant_transaction_id;transaction_id;amount;currency;report_date;reason_code;cb_bank_fee\n" +
			reference(first) + ";;-49,00;EUR;02.04.2026;AM04;3,50\n" +
			";" + processor(second) + ";49,00;EUR;03.04.2026;MD06;\n" +
			reference(third) + ";;49,00;EUR;04.04.2026;AC04;\n" +
			"LATER-1;;9,00;EUR;05.04.2026;AC04;\n" +
			reference(first) + ";;48,00;EUR;02.04.2026;AM04;\n" +
			"LATER-2;;0;EUR;05.04.2026;AC04;\n"
		s.Do(t, importing(t, "chargebacks", file, apptest.Body{"dry_run": true})).Want(t, http.StatusCreated, counts(3, 0, 1, 2))
		if got := s.Env.Count(t, "chargebacks"); got != 1 {
			t.Fatalf("a dry run recorded %d chargebacks", got-1)
		}
		s.Do(t, importing(t, "chargebacks", file, nil)).Want(t, http.StatusCreated, counts(3, 0, 1, 2))
		s.Do(t, importing(t, "chargebacks", file, nil)).Want(t, http.StatusCreated, counts(0, 0, 4, 2))
		for _, id := range []string{first, second, third} {
			wantTransaction(t, s, id, apptest.Fields{"status": "charged_back", "order.status": "CHARGEDBACK"})
		}
		if got := storetest.Scalar[string](t, s.Env, `SELECT reason_code || ' ' || source || ' ' || bank_fee_minor FROM chargebacks
			WHERE merchant_transaction_id = $1`, reference(first)); got != "AM04 csv_import 350" {
			t.Errorf("the chargeback is %s", got)
		}
		late := header + "LATER-1,,approved,,9.00,EUR,2026-03-01,,,\n"
		s.Do(t, importing(t, "transactions", late, nil)).Want(t, http.StatusCreated, counts(1, 0, 0, 0))
		wantTransaction(t, s, transactionID(t, s, "LATER-1"), apptest.Fields{"status": "charged_back"})
	})
}

func TestOwnExportImportsUnchanged(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		sale(t, s, apptest.Approved)
		_, refunded := sale(t, s, apptest.Approved)
		s.Do(t, refunds(refunded, nil)).Want(t, http.StatusCreated, nil)
		_, lost := sale(t, s, apptest.Approved)
		s.Do(t, operator(chargebacks, apptest.Body{"transaction_id": lost})).Want(t, http.StatusCreated, nil)
		paid(t, s, apptest.InCampaign(apptest.FreeTrialCampaign), apptest.Approved)
		day := s.Now(t).Format(time.DateOnly)
		export := func(what string) string {
			answer := s.Do(t, apptest.Request{Path: "/api/v1/reconciliation/" + what + "/?format=csv&start_date=" + day, Key: s.Key, Undocumented: true})
			if answer.Status != http.StatusOK {
				t.Fatalf("the export is answered %d: %s", answer.Status, answer.Raw)
			}
			return string(answer.Raw)
		}
		s.Do(t, importing(t, "transactions", export("transactions"), nil)).Want(t, http.StatusCreated, counts(0, 0, 5, 0))
		s.Do(t, importing(t, "chargebacks", export("chargebacks"), nil)).Want(t, http.StatusCreated, counts(0, 0, 1, 0))
	})
}

// TestANameThatLooksLikeAnother: letters that nobody sees would make another payment of one, and its money would count twice.
func TestANameThatLooksLikeAnother(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const rest = ",,approved,,10.00,EUR,2026-03-01T00:00:00Z,,,\n"
		lines := header + "M-1" + rest + "M-1\u200b" + rest + "\u2060M-1" + rest + "M-1\u00a0" + rest
		s.Do(t, importing(t, "transactions", lines, nil)).Want(t, http.StatusCreated, counts(1, 0, 1, 2))
		back := returnsHeader + "M-1\u200d,,,10.00,EUR,2026-04-01,MD06\n,C\ufeff-1,,10.00,EUR,2026-04-01,MD06\n"
		s.Do(t, importing(t, "chargebacks", back, nil)).Want(t, http.StatusCreated, counts(0, 0, 0, 2))
	})
}

func TestImportIsRefused(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	bad := map[string]apptest.Request{
		"tenant_id":  importing(t, "transactions", header, apptest.Body{"tenant_id": "x"}),
		"gateway_id": importing(t, "transactions", header, apptest.Body{"gateway_id": apptest.RivalGateway}),
		"kind":       importing(t, "payments", header, nil),
		"events":     importing(t, "transactions", header, apptest.Body{"events": "yes"}),
		"file":       importing(t, "transactions", "a,b\n1,2\n", nil),
	}
	for field, request := range bad {
		t.Run("for a bad "+field, func(t *testing.T) {
			s.Do(t, request).WantBad(t, map[string]string{field: ""})
		})
	}
	t.Run("for an empty file", func(t *testing.T) {
		s.Do(t, importing(t, "transactions", "", nil)).WantBad(t, map[string]string{"file": "The file is empty."})
	})
	t.Run("for lines that end as nobody's do any more, of which all would be the first", func(t *testing.T) {
		lines := strings.TrimSpace(header) + ",email\rTXN-1,approved,1.00,EUR,2026-01-01\r"
		s.Do(t, importing(t, "transactions", lines, nil)).WantBad(t, map[string]string{"file": ""})
	})
	t.Run("for more fields than are held in memory", func(t *testing.T) {
		many := apptest.Body{}
		for i := range 20 {
			many["field_"+strconv.Itoa(i)] = "x"
		}
		s.Do(t, importing(t, "transactions", header, many)).Want(t, http.StatusBadRequest, nil)
	})
	t.Run("for something that is no form", func(t *testing.T) {
		s.Do(t, operator(imports, apptest.Body{})).Want(t, http.StatusUnsupportedMediaType, nil)
	})
	t.Run("for a form that breaks off, and the lines before that are kept", func(t *testing.T) {
		whole := importing(t, "transactions", header+strings.Repeat("B-1,,approved,,1.00,EUR,2026-03-01,,,\n", 3), nil)
		broken := whole
		broken.Body = whole.Body.(string)[:len(whole.Body.(string))-60]
		s.Do(t, broken).Want(t, http.StatusBadRequest, nil)
		s.Do(t, whole).Want(t, http.StatusCreated, apptest.Fields{"status": "completed", "counts.rejected": 0})
	})
	t.Run("and one that nobody has is not found", func(t *testing.T) {
		s.Do(t, operator(imports+"nonsense/", nil)).WantDetail(t, http.StatusNotFound, "Import not found")
		s.Do(t, operator(imports+apptest.Shop+"/rejected/", nil)).WantDetail(t, http.StatusNotFound, "Import not found")
	})
}

// TestImportOfManyLines crosses the borders of batches, with repeated lines.
func TestImportOfManyLines(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		var file strings.Builder
		file.WriteString(header)
		size, _ := s.App.Store.BulkBatch()
		lines := size * 5 / 2
		for i := range lines {
			fmt.Fprintf(&file, "M-%d,U-%d,approved,,%d.00,EUR,2026-03-01T00:00:00Z,,,\n", i%(lines-100), i, i%(lines-100)%50+1)
		}
		answers := s.AtOnce(t, importing(t, "transactions", file.String(), nil).Times(2)...)
		created := answers[http.StatusCreated]
		if len(created) != 2 {
			t.Fatalf("answered %v", answers)
		}
		news := 0
		for _, answer := range created {
			answer.Want(t, http.StatusCreated, apptest.Fields{"counts.rejected": 0})
			news += int(answer.Get(t, "counts.new").(float64))
		}
		if got := s.Env.Count(t, "transactions"); got != lines-100 || news != got {
			t.Errorf("%d transactions, %d of them new", got, news)
		}
		if left := s.Env.Count(t, "staged_transactions"); left != 0 {
			t.Errorf("%d lines are still staged", left)
		}
	})
}
