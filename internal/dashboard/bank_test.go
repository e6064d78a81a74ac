package dashboard_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/store"
	"sepad/internal/store/storetest"
)

const houseBank = "018f0000-0000-7000-8000-0000000000b1"

// openBank gives the shop an account at a bank, with a payment in a file.
func openBank(t *testing.T, s *apptest.Server) (reference string) {
	t.Helper()
	t.Cleanup(func() { s.Stop(t) }) // before its folder is taken away
	s.Apply(t, fmt.Sprintf(`tenants:
  - id: %s
    name: Bergladen
    creditor: {name: Bergladen GmbH, address: "Hangweg 1, 83471 Berchtesgaden, DE", identifier: DE98ZZZ09999999999}
    gateways:
      - {id: %s, name: House bank, adapter: bank, test_mode: true, descriptor: BERGLADEN, settings: {account_iban: DE89370400440532013000, folder: %s}}
      - {id: 018f0000-0000-7000-8000-0000000000b3, name: Half set up, adapter: bank, active: false, settings: {account_iban: none}}
`, apptest.Shop, houseBank, filepath.Join(t.TempDir(), "bank")))
	token := s.Create(t, apptest.Direct().With(apptest.Body{"gateway_id": houseBank}))
	id := s.Pay(t, token, apptest.Approved).Want(t, http.StatusOK, nil).Text(t, "transaction.id")
	s.Do(t, apptest.Request{Path: "/admin/v1/bank-files/", Key: apptest.AdminToken, Body: apptest.Body{"gateway_id": houseBank}}).Want(t, http.StatusCreated, nil)
	return storetest.Scalar[string](t, s.Env, `SELECT merchant_transaction_id FROM transactions WHERE id = $1`, id)
}

// handIn is a browser that sends a form with a file.
func handIn(t *testing.T, s *apptest.Server, path, cookie, file string, content []byte, fields map[string]string) apptest.Request {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range fields {
		if err := form.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	part, err := form.CreateFormFile("file", file)
	if err == nil {
		_, err = part.Write(content)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	r := browse(s, http.MethodPost, path, cookie)
	r.Body, r.Header["Content-Type"] = body.String(), form.FormDataContentType()
	return r
}

func TestFilesForBanksAndTheirAnswers(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		reference := openBank(t, s)
		cookie := signedIn(t, s, store.Finance, apptest.Shop)
		show := func(address string) string {
			t.Helper()
			return string(s.Do(t, browse(s, http.MethodGet, address, cookie)).Want(t, http.StatusOK, nil).Raw)
		}
		name := exported(t, s, cookie, "/dashboard/bank-files/", "name")
		if len(name) != 1 || len(exported(t, s, cookie, "/dashboard/bank-files/?q="+name[0], "name")) != 1 || exported(t, s, cookie, "/dashboard/bank-files/?q=other.xml", "name") != nil {
			t.Fatalf("the files are %v", name)
		}
		file := "/dashboard/bank-files/" + exported(t, s, cookie, "/dashboard/bank-files/", "id")[0] + "/"
		for _, part := range []string{name[0], reference, "agrees with our records", "Download for the bank", "49.00 EUR"} {
			if !strings.Contains(show(file), part) {
				t.Errorf("the page of the file has no %q", part)
			}
		}
		content := s.Do(t, browse(s, http.MethodGet, file+"content/", cookie)).Want(t, http.StatusOK, nil)
		if !strings.Contains(string(content.Raw), "pain.008") || !strings.Contains(content.Header.Get("Content-Disposition"), name[0]) {
			t.Errorf("the file is %v\n%s", content.Header, content.Raw)
		}
		if storetest.Scalar[int](t, s.Env, `SELECT COUNT(*) FROM audit_entries WHERE action = 'bank_file.download'`) != 1 {
			t.Error("who took the file away is not on record")
		}

		statement, err := os.ReadFile("../iso20022/testdata/dutch-batch.camt.053.001.02.xml")
		if err != nil {
			t.Fatal(err)
		}
		fields := map[string]string{"gateway_id": houseBank}
		took := string(s.Do(t, handIn(t, s, "/dashboard/bank-statements/", cookie, "statement.xml", statement, fields)).Want(t, http.StatusOK, nil).Raw)
		if !strings.Contains(took, "Taken in") || !strings.Contains(took, "Its entries") {
			t.Errorf("taken in:\n%s", took)
		}
		s.Do(t, handIn(t, s, "/dashboard/bank-statements/", cookie, "x.xml", statement, nil)).Want(t, http.StatusBadRequest, nil)
		if len(exported(t, s, cookie, "/dashboard/bank-statements/", "id")) != 1 {
			t.Error("the answer is not listed")
		}
		open := exported(t, s, cookie, "/dashboard/bank-entries/?matched=false", "id")
		kinds := exported(t, s, cookie, "/dashboard/bank-entries/?matched=false", "kind")
		for i, kind := range kinds {
			if kind == "returned" {
				assignByHand(t, s, cookie, "/dashboard/bank-entries/"+open[i]+"/", reference)
				if left := exported(t, s, cookie, "/dashboard/bank-entries/?matched=false", "id"); len(left) != len(open)-1 {
					t.Errorf("%d entries are left of %d", len(left), len(open))
				}
				return
			}
		}
		t.Errorf("no entry waits for a person: %v", kinds)
	})
}

// assignByHand says what an entry belongs to, which a colleague without the right may not.
func assignByHand(t *testing.T, s *apptest.Server, cookie, entry, reference string) {
	t.Helper()
	assign := func(payment string) apptest.Request {
		form := browse(s, http.MethodPost, entry+"assign/", cookie)
		form.Body = url.Values{"payment": {payment}}.Encode()
		return form
	}
	page := string(s.Do(t, browse(s, http.MethodGet, entry, cookie)).Want(t, http.StatusOK, nil).Raw)
	if !strings.Contains(page, "Assign to a payment") {
		t.Errorf("the entry says\n%s", page)
	}
	for _, wrong := range []string{"", "TXN-20200101-AAAAAAAA"} {
		s.Do(t, assign(wrong)).Want(t, http.StatusBadRequest, nil)
	}
	s.Do(t, assign(strings.ToLower(reference))).Want(t, http.StatusSeeOther, nil)
	s.Do(t, assign(reference)).Want(t, http.StatusConflict, nil)
	if status := storetest.Scalar[string](t, s.Env, `SELECT status FROM transactions WHERE merchant_transaction_id = $1`, reference); status != "charged_back" {
		t.Errorf("the payment is %s", status)
	}
	if page := string(s.Do(t, browse(s, http.MethodGet, entry, cookie)).Want(t, http.StatusOK, nil).Raw); strings.Contains(page, "Assign to a payment") || !strings.Contains(page, "assigned") {
		t.Errorf("afterwards the entry says\n%s", page)
	}
}
