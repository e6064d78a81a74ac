package admin_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"sepad/internal/app/apptest"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// exportOf has the shop take in so many lines, and gives the address of their export.
func exportOf(t *testing.T, s *apptest.Server, lines int) (address string) {
	t.Helper()
	var file strings.Builder
	file.WriteString(header)
	for i := range lines {
		file.WriteString("E-" + strings.Repeat("x", i%7) + payment.Minor(i).String() + ",,approved,,1.00,EUR,2026-03-01,,,\n")
	}
	s.Do(t, importing(t, "transactions", file.String(), nil)).Want(t, http.StatusCreated, counts(lines, 0, 0, 0))
	return "/admin/v1/exports/transactions/?tenant_id=" + apptest.Shop + "&from=2026-01-01&to=2026-12-31"
}

func TestExportsGoBeyondPages(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const lines = 2_345
		address := exportOf(t, s, lines)
		csv := strings.Split(strings.TrimSuffix(string(s.Do(t, operator(address, nil)).Want(t, http.StatusOK, nil).Raw), "\r\n"), "\r\n")
		if len(csv) != 1+lines || !strings.HasPrefix(csv[0], "id,adapter_unique_id,") {
			t.Errorf("%d lines begin with %s", len(csv), csv[0])
		}
		seen := map[string]bool{}
		for line := range strings.Lines(string(s.Do(t, operator(address+"&format=json", nil)).Want(t, http.StatusOK, nil).Raw)) {
			var record struct{ ID string }
			if err := json.Unmarshal([]byte(line), &record); err != nil {
				t.Fatal(err)
			}
			seen[record.ID] = true
		}
		if len(seen) != lines {
			t.Errorf("%d records are exported as JSON", len(seen))
		}
		xml := string(s.Do(t, operator(address+"&format=xml", nil)).Want(t, http.StatusOK, nil).Raw)
		if strings.Count(xml, "<transaction>") != lines || !strings.HasSuffix(xml, "</transaction></results></reconciliation>\n") {
			t.Errorf("%d records are exported as XML, which begins with %.200s", strings.Count(xml, "<transaction>"), xml)
		}
		if none := s.Do(t, operator(strings.Replace(address, apptest.Shop, apptest.Rival, 1), nil)).Want(t, http.StatusOK, nil); strings.Count(string(none.Raw), "\r\n") != 1 {
			t.Errorf("another tenant is given %s", none.Raw)
		}
		bound := apptest.Request{Path: address, Key: tokenOf(t, s, store.Finance, apptest.Rival)}
		s.Do(t, bound).Want(t, http.StatusNotFound, nil)
		bound.Path = strings.Replace(address, "exports/transactions", "totals", 1)
		s.Do(t, bound).Want(t, http.StatusNotFound, nil)
		s.Do(t, operator(address+"&format=yaml", nil)).Want(t, http.StatusBadRequest, nil)
	})
}

// TestABrokenExportIsNotTakenForAWholeOne takes the table away as soon as the first bytes are on their way: a client hears
// that the rest will not come, whatever the format.
func TestABrokenExportIsNotTakenForAWholeOne(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const lines = 2_345 // three pages
		address := exportOf(t, s, lines)
		for _, format := range []string{"csv", "json", "xml"} {
			lose := sync.OnceFunc(func() { s.Env.Exec(t, "ALTER TABLE transactions RENAME TO lost") })
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				s.App.Handler().ServeHTTP(&firstWrite{w, lose}, r)
			}))
			answer, err := whole(t, server.URL+address+"&format="+format)
			server.Close()
			s.Env.Exec(t, "ALTER TABLE lost RENAME TO transactions")
			if got := strings.Count(answer, "E-"); !errors.Is(err, io.ErrUnexpectedEOF) || got == 0 || got == lines {
				t.Errorf("%d records came as %s, and then %v", got, format, err)
			}
			answer, err = whole(t, s.URL+address+"&format="+format)
			if got := strings.Count(answer, "E-"); err != nil || got != lines {
				t.Errorf("%d records come as %s once the table is back, %v", got, format, err)
			}
		}
	})
}

// firstWrite does something before the first byte of an answer is sent.
type firstWrite struct {
	http.ResponseWriter
	act func()
}

func (w *firstWrite) Write(text []byte) (int, error) {
	w.act()
	return w.ResponseWriter.Write(text)
}

func (w *firstWrite) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// whole reads an answer of the operator's API as far as it comes.
func whole(t *testing.T, address string) (string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+apptest.AdminToken)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}
