package api_test

import (
	"net/http"
	"strings"
	"testing"

	"sepad/internal/app/apptest"
)

const (
	ibanPath = "/api/v1/iban-validate/"
	// unknownBank is a German account whose bank code nobody has.
	unknownBank = "DE93999999990000000001"
)

func TestWellKnownBanks(t *testing.T) {
	t.Parallel()
	s := apptest.SQLite(t, apptest.Options{})
	for _, test := range []struct{ iban, bic, name string }{
		{"DE21370400441111111111", "COBADEFFXXX", "Commerzbank"},
		{"AT512011111111111111", "GIBAATWWXXX", "Erste Bank"},
		{"NL38ABNA1111111111", "ABNANL2A", "ABN AMRO"},
		{"BE52000111111111", "GEBABEBB", "BNP Paribas Fortis"},
		{"ES7021001111111111111111", "CAIXESBB", "CAIXABANK"},
		{"IT89A0306911111111111111111", "BCITITMM", "INTESA SANPAOLO"},
		{"PT43003511111111111111111", "CGDIPTPL", "CAIXA GERAL DE DEPÓSITOS"},
		{"FI7312311111111111", "NDEAFIHH", "NORDEA"},
		{"CH6209000000000000000", "POFICHBEXXX", "PostFinance"},
		{"LU510011111111111111", "BCEELULL", "Banque et Caisse d'Épargne de l'État"},
		{"FR0930004111111111111111111", "BNPAFRPP", "BNP PARIBAS"},
		{"PL45109010141111111111111111", "WBKPPLPPXXX", "Santander Bank Polska"},
		{"CZ7208001111111111111111", "GIBACZPX", "Česká spořitelna"},
		{"DK1730001111111111", "DABADKKK", "DANSKE BANK"},
		{"NO3815031111111", "DNBANOKK", "DNB Bank"},
		{"SE1750011111111111111111", "ESSESESS", "SEB"},
		{"HU04117111111111111111111111", "OTPVHUHB", "OTP Bank Nyrt."},
		{"SI61020101111111111", "LJBASI2XXXX", "NLB"},
	} {
		t.Run(test.iban[:2]+" names "+test.name, func(t *testing.T) {
			answer := validate(t, s, s.Key, body{"iban": test.iban}).Want(t, http.StatusOK, fields{"valid": true, "bic": test.bic})
			if name := answer.Text(t, "bank_name"); !strings.HasPrefix(name, test.name) {
				t.Errorf("the bank is %s", name)
			}
		})
	}
}

func validate(t testing.TB, s *apptest.Server, credential string, content any) apptest.Answer {
	t.Helper()
	return s.Do(t, apptest.Request{Path: ibanPath, Key: credential, Body: content})
}

func TestIBANValidation(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		t.Run("a valid IBAN has bank and BIC and nothing else (contract 2.10)", func(t *testing.T) {
			wantBody(t, validate(t, s, s.Key, body{"iban": apptest.Approved}), http.StatusOK, `{"valid":true,"bank_name":"Commerzbank","bic":"COBADEFFXXX"}`)
		})
		t.Run("spaces, hyphens and lower case are fine", func(t *testing.T) {
			validate(t, s, s.Key, body{"iban": " de89-3704 0044 0532 0130 00 "}).Want(t, http.StatusOK, fields{"valid": true})
		})
		t.Run("an unknown bank is null", func(t *testing.T) {
			wantBody(t, validate(t, s, s.Key, body{"iban": unknownBank}), http.StatusOK, `{"valid":true,"bank_name":null,"bic":null}`)
		})
		t.Run("a country outside the SEPA schemes has valid IBANs too", func(t *testing.T) {
			validate(t, s, s.Key, body{"iban": "TR330006100519786457841326"}).Want(t, http.StatusOK, fields{"valid": true})
		})
		for iban, sentence := range map[string]string{
			"DE89370400440532013001":      "Invalid checksum: a character of this IBAN is wrong, or two are swapped.",
			"XX89370400440532013000":      "Unknown country code: no IBAN starts with XX.",
			"DE8937040044053201300":       "This IBAN has 21 characters; a German one has 22.",
			"DE89O70400440532013000":      "Invalid format: in a German IBAN character 5 is a digit.",
			"DE89.3704.0044.0532.0130.00": "Invalid characters: an IBAN has only the letters A to Z and digits.",
			"12":                          "Unknown country code: an IBAN starts with the two letters of its country.",
		} {
			t.Run("an invalid IBAN says what is wrong: "+sentence, func(t *testing.T) {
				wantBody(t, validate(t, s, s.Key, body{"iban": iban}), http.StatusOK, `{"valid":false,"error":"`+sentence+`"}`)
			})
		}
		for name, text := range map[string]string{
			"holding a NUL": `DE89\u0000`, "of a control character": `\u0085`, "of an emoji": "🦊", "turned round": `\u202eDE89`,
			"far too long": strings.Repeat("A", 60_000), "of a long German beginning": "DE" + strings.Repeat("1", 60_000),
			"of spaces that are none": `DE89\u200b3704`,
		} {
			t.Run("a text "+name+" is no IBAN, and no more is wrong with it", func(t *testing.T) {
				validate(t, s, s.Key, `{"iban":"`+text+`"}`).Want(t, http.StatusOK, fields{"valid": false, "error": apptest.Any})
			})
		}
		for name, content := range map[string]string{"missing": `{}`, "null": `{"iban":null}`, "empty": `{"iban":""}`, "blank": `{"iban":"   "}`} {
			t.Run("a "+name+" IBAN is a 400 without status_code (contract 4.6)", func(t *testing.T) {
				wantBody(t, validate(t, s, s.Key, content), http.StatusBadRequest, `{"valid":false,"error":"IBAN is required"}`)
			})
		}
		t.Run("an IBAN that is no text is a 400 of the usual shape", func(t *testing.T) {
			for _, content := range []string{`{"iban":5}`, `{"iban":[]}`, `{"iban":{}}`, `{"iban":true}`} {
				validate(t, s, s.Key, content).WantBad(t, map[string]string{"iban": ""})
			}
		})
		t.Run("nobody else may keep the answer", func(t *testing.T) {
			if kept := validate(t, s, s.Key, body{"iban": apptest.Approved}).Header.Get("Cache-Control"); kept != "no-store" {
				t.Errorf("Cache-Control is %q", kept)
			}
		})
	})
}

func wantBody(t testing.TB, answer apptest.Answer, status int, text string) {
	t.Helper()
	if got := strings.TrimSpace(string(answer.Raw)); answer.Status != status || got != text {
		t.Errorf("%d with %s, want %d with %s", answer.Status, got, status, text)
	}
}

func TestIBANValidationTakesKeyOrToken(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ask := func(t *testing.T, credential string) apptest.Answer {
			t.Helper()
			return validate(t, s, credential, body{"iban": apptest.Approved})
		}
		const invalid = "Invalid or expired session token"
		t.Run("a session token is good while its session is active", func(t *testing.T) {
			token := s.Create(t, apptest.Direct())
			ask(t, token).Want(t, http.StatusOK, fields{"valid": true})
			s.Pay(t, token, apptest.VerificationApproved)
			ask(t, token).Want(t, http.StatusOK, fields{"valid": true})
			s.Verify(t, token)
			ask(t, token).WantDetail(t, http.StatusUnauthorized, invalid)
		})
		t.Run("a cancelled, failed or unknown session's token is a 401", func(t *testing.T) {
			cancelled, failed := s.Create(t, apptest.Direct()), s.Create(t, apptest.Direct())
			s.Cancel(t, cancelled)
			s.Pay(t, failed, apptest.DeclinedFinal)
			for _, token := range []string{cancelled, failed, "ps_" + strings.Repeat("A", 44), "ps_", "ps_short"} {
				ask(t, token).WantDetail(t, http.StatusUnauthorized, invalid)
			}
		})
		t.Run("an API key that does not hold is a 401 of its own", func(t *testing.T) {
			for _, key := range []string{"rk_test_nobody", "rk_", "something"} {
				ask(t, key).WantDetail(t, http.StatusUnauthorized, "Invalid or revoked API key")
			}
		})
		t.Run("no credential is a 401, whatever the body", func(t *testing.T) {
			ask(t, "").WantDetail(t, http.StatusUnauthorized, "Authentication credentials were not provided")
			validate(t, s, "", "not JSON").WantDetail(t, http.StatusUnauthorized, "Authentication credentials were not provided")
		})
	})
}
