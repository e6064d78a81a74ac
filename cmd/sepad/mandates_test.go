package main

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"testing"
)

func TestMandatesCommand(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := startDev(t, folder, nil)
	_, token := s.create(s.key, "ada")
	_, page := s.call(http.MethodGet, "/pay/"+token+"/", "", "")
	form := url.Values{"iban": {"DE89370400440532013000"}, "iban_holder_name": {"Ada Byron"}, "mandate": {"agreed"}}
	for _, field := range regexp.MustCompile(`<input type="hidden" name="([a-z_]+)" value="([^"]*)">`).FindAllStringSubmatch(page, -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	answered, err := http.PostForm(s.url+"/pay/"+token+"/", form)
	if err != nil {
		t.Fatal(err)
	}
	answered.Body.Close()
	_, sessions := s.call(http.MethodGet, "/admin/v1/sessions/", adminToken(s), "")
	reference := firstMatch(sessions, `"mandate_reference_id":"([^"]+)"`)

	shown := sepad(t, folder, "mandates", "show", reference)
	want(t, shown.stdout, reference, "Ada Byron", "127.0.0.1", "3000", "Mandate reference: "+reference)
	want(t, shown.stderr, `"reader":"command"`, reference)
	want(t, mustSepad(t, folder, "mandates", "show", reference, "--json"), `"mandate_reference_id": "`+reference+`"`, `"iban_holder_name": "Ada Byron"`)
	expectOneLine(t, sepad(t, folder, "mandates", "show", "MND-NOBODYHASIT1"), 1, "No mandate with this reference")
}
