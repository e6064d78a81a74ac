package sepa

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func embedded(t testing.TB) *Directory {
	t.Helper()
	directory, err := EmbeddedDirectory()
	if err != nil {
		t.Fatal(err)
	}
	return directory
}

// ibanOfBank makes a valid IBAN for a bank code, with an account number of zeros or, where letters must stand, of A.
func ibanOfBank(t testing.TB, country, bankCode string) IBAN {
	t.Helper()
	layout := layoutFor(country[0], country[1])
	bban := make([]byte, 0, maxIBANLength)
	for _, allowed := range layout.allowed[4:layout.length] {
		if allowed&classDigit != 0 {
			bban = append(bban, '0')
		} else {
			bban = append(bban, 'A')
		}
	}
	copy(bban[layout.country.bankFrom:], bankCode)
	checkDigits := 98 - remainderOf(country+"00"+string(bban))
	return mustParse(t, fmt.Sprintf("%s%02d%s", country, checkDigits, bban))
}

func TestWellKnownBanksAreFound(t *testing.T) {
	t.Parallel()
	directory := embedded(t)
	for _, test := range []struct{ country, code, bic, name string }{
		{"DE", "37040044", "COBADEFFXXX", "Commerzbank"},
		{"DE", "50010517", "INGDDEFFXXX", "ING-DiBa"},
		{"DE", "10011001", "NTSBDEB1XXX", "N26 Bank"},
		{"DE", "10010123", "QNTODEB2XXX", "Qonto"}, // renamed by the change of 7 September 2026
		{"AT", "20111", "GIBAATWWXXX", "Erste Bank"},
		{"AT", "12000", "BKAUATWWXXX", "UniCredit Bank Austria"},
		{"NL", "ABNA", "ABNANL2A", "ABN AMRO"},
		{"NL", "RABO", "RABONL2U", "RABOBANK"},
		{"BE", "000", "GEBABEBB", "BNP Paribas Fortis"},
		{"BE", "733", "KREDBEBB", "KBC"},
		{"ES", "2100", "CAIXESBB", "CAIXABANK"},
		{"ES", "0049", "BSCHESMM", "BANCO SANTANDER"},
		{"IT", "03069", "BCITITMM", "INTESA SANPAOLO"},
		{"IT", "05387", "BPMOIT22", "BPER Banca"},
		{"PT", "0035", "CGDIPTPL", "CAIXA GERAL DE DEPÓSITOS"},
		{"FI", "123", "NDEAFIHH", "NORDEA"},
		{"FI", "500", "OKOYFIHH", "OP CORPORATE BANK"},
		{"CH", "09000", "POFICHBEXXX", "PostFinance"},
		{"CH", "00700", "ZKBKCHZZ80A", "Zürcher Kantonalbank"},
		{"LU", "001", "BCEELULL", "Banque et Caisse d'Épargne de l'État"},
		{"FR", "20041", "PSSTFRPP", "LA BANQUE POSTALE"},
		{"FR", "30003", "SOGEFRPP", "SOCIETE GENERALE"},
		{"FR", "30004", "BNPAFRPP", "BNP PARIBAS"},
		{"FR", "30066", "CMCIFRPPXXX", "CREDIT INDUSTRIEL ET COMMERCIAL"},
		{"FR", "17515", "CEPAFRPP751", "CAISSE D'EPARGNE ET DE PREVOYANCE ILE-DE-FRANCE"},
		{"PL", "10901014", "WBKPPLPPXXX", "Santander Bank Polska"},
		{"CZ", "0800", "GIBACZPX", "Česká spořitelna"},
		{"DK", "3000", "DABADKKK", "DANSKE BANK"},
		{"NO", "1503", "DNBANOKK", "DNB Bank"},
		{"SE", "500", "ESSESESS", "SEB"},
		{"HU", "117", "OTPVHUHB", "OTP Bank Nyrt."},
		{"HU", "102", "OKHBHUHB", "K&H Bank Zrt."},
		{"SI", "02010", "LJBASI2XXXX", "NLB"},
		{"SI", "03100", "SKBASI2XXXX", "SKB BANKA"},
		{"IE", "AIBK", "AIBKIE2DXXX", "Allied Irish Banks"},
		{"SK", "0200", "SUBASKBX", "Všeobecná úverová banka"},
		{"HR", "2360000", "ZABAHR2X", "ZAGREBAČKA BANKA"},
		{"EE", "22", "HABAEE2X", "Swedbank"},
		{"RO", "BTRL", "BTRLRO22", "BANCA TRANSILVANIA"},
		{"GR", "011", "ETHNGRAA", "NATIONAL BANK OF GREECE"},
	} {
		bank, found := directory.Lookup(ibanOfBank(t, test.country, test.code))
		if !found || bank.BIC != test.bic || !strings.HasPrefix(bank.Name, test.name) {
			t.Errorf("%s %s: %+v, %v; want %s, %s", test.country, test.code, bank, found, test.bic, test.name)
		}
	}
}

func TestMonacoLooksUpFrance(t *testing.T) {
	t.Parallel()
	directory := embedded(t)
	t.Run("a bank of France has the same name in Monaco", func(t *testing.T) {
		t.Parallel()
		bank, found := directory.Lookup(ibanOfBank(t, "MC", "30004"))
		if !found || bank.Name != "BNP PARIBAS" {
			t.Errorf("%+v, %v", bank, found)
		}
	})
	t.Run("a row of Monaco's own comes first", func(t *testing.T) {
		t.Parallel()
		bank, found := directory.Lookup(ibanOfBank(t, "MC", "30003"))
		if !found || bank.BIC != "SOGEMCM1" {
			t.Errorf("%+v, %v", bank, found)
		}
	})
}

func TestAnUnknownBankIsNotInvented(t *testing.T) {
	t.Parallel()
	directory := embedded(t)
	for _, iban := range []IBAN{{}, ibanOfBank(t, "DE", "99999999"), ibanOfBank(t, "IE", "ZZZZ"), ibanOfBank(t, "MT", "MALT"), ibanOfBank(t, "SA", "80")} {
		if bank, found := directory.Lookup(iban); found || bank != (Bank{}) {
			t.Errorf("%v: %+v, %v", iban, bank, found)
		}
	}
}

func TestTheEmbeddedDirectoryCoversItsCountries(t *testing.T) {
	t.Parallel()
	// A little below what the directory holds, so that a generator that loses a list is noticed and a merger is not.
	minimum := map[string]CountryCount{
		"AD": {Codes: 6, WithName: 6, WithBIC: 6}, "AT": {Codes: 860, WithName: 860, WithBIC: 850},
		"BE": {Codes: 770, WithName: 770, WithBIC: 770}, "BG": {Codes: 24, WithName: 24, WithBIC: 24},
		"CH": {Codes: 1070, WithName: 1070, WithBIC: 1050}, "CY": {Codes: 7, WithName: 7, WithBIC: 7},
		"CZ": {Codes: 45, WithName: 45, WithBIC: 35}, "DE": {Codes: 3400, WithName: 3400, WithBIC: 3400},
		"DK": {Codes: 6900, WithName: 6900, WithBIC: 6400}, "EE": {Codes: 15, WithName: 15, WithBIC: 15},
		"ES": {Codes: 540, WithName: 540, WithBIC: 380}, "FI": {Codes: 650, WithName: 650, WithBIC: 650},
		"FR": {Codes: 325, WithName: 210, WithBIC: 325}, "GB": {Codes: 34, WithName: 34, WithBIC: 34},
		"GR": {Codes: 22, WithName: 22, WithBIC: 22}, "HR": {Codes: 21, WithName: 21, WithBIC: 21},
		"HU": {Codes: 170, WithName: 170, WithBIC: 170}, "IE": {Codes: 26, WithName: 26, WithBIC: 26},
		"IS": {Codes: 4, WithName: 4, WithBIC: 4}, "IT": {Codes: 450, WithName: 450, WithBIC: 450},
		"LI": {Codes: 20, WithName: 20, WithBIC: 19}, "LT": {Codes: 280, WithName: 280, WithBIC: 280},
		"LU": {Codes: 140, WithName: 115, WithBIC: 140}, "LV": {Codes: 25, WithName: 25, WithBIC: 25},
		"MC": {Codes: 1, WithName: 1, WithBIC: 1}, "MD": {Codes: 9, WithName: 9, WithBIC: 9},
		"ME": {Codes: 12, WithName: 12, WithBIC: 12}, "NL": {Codes: 86, WithName: 86, WithBIC: 86},
		"NO": {Codes: 2280, WithName: 2280, WithBIC: 2280}, "PL": {Codes: 3100, WithName: 3100, WithBIC: 2950},
		"PT": {Codes: 84, WithName: 84, WithBIC: 77}, "RO": {Codes: 46, WithName: 46, WithBIC: 46},
		"RS": {Codes: 26, WithName: 26, WithBIC: 26}, "SE": {Codes: 36, WithName: 36, WithBIC: 36},
		"SI": {Codes: 820, WithName: 820, WithBIC: 820}, "SK": {Codes: 41, WithName: 41, WithBIC: 37},
	}
	directory := embedded(t)
	total := 0
	for _, count := range directory.Counts() {
		total += count.Codes
		want, expected := minimum[count.Country]
		if !expected {
			t.Errorf("%s is in the directory but not in this test", count.Country)
		}
		if count.Codes < want.Codes || count.WithName < want.WithName || count.WithBIC < want.WithBIC {
			t.Errorf("%+v, want at least %+v", count, want)
		}
		if !InScheme(count.Country, directory.Date()) {
			t.Errorf("%s is not a SEPA country", count.Country)
		}
		delete(minimum, count.Country)
	}
	if len(minimum) > 0 || total != directory.Len() {
		t.Errorf("missing countries %v; %d rows counted of %d", minimum, total, directory.Len())
	}
}

func TestTheEmbeddedDirectoryNamesDateAndSources(t *testing.T) {
	t.Parallel()
	directory := embedded(t)
	if directory.Date() != schemeDay(2026, 9, 7) {
		t.Errorf("date %v", directory.Date())
	}
	if len(directory.Sources()) != 3 {
		t.Fatalf("sources %v", directory.Sources())
	}
	notice, err := os.ReadFile("NOTICE.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range directory.Sources() {
		if source.Version == "" || len(source.Countries) == 0 || !strings.Contains(string(notice), source.Name) {
			t.Errorf("source %+v has no version, no country or no licence notice", source)
		}
	}
}

func TestLookingUpAllocatesNothing(t *testing.T) {
	directory := embedded(t)
	iban := mustParse(t, germanIBAN)
	if allocations := testing.AllocsPerRun(100, func() { directory.Lookup(iban) }); allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

func TestAWrittenDirectoryIsReadBack(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	if _, err := embedded(t).WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "banks.tsv")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	directory, err := OpenDirectory(path)
	if err != nil {
		t.Fatal(err)
	}
	bank, found := directory.Lookup(mustParse(t, germanIBAN))
	if directory.Len() != embedded(t).Len() || !found || bank.Name != "Commerzbank" {
		t.Errorf("%d rows, %+v, %v", directory.Len(), bank, found)
	}
}

func TestABrokenDirectoryIsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	const head = directoryTitle + "\ndate\t2026-01-01\nsource\tours\t1\tDE\n\n"
	const row = "DE\t37040044\tCOBADEFFXXX\tCommerzbank\n"
	for _, test := range []struct {
		name, text string
		line       int
	}{
		{"an empty file", "", 1},
		{"another file", "hello\n", 1},
		{"a title alone", directoryTitle + "\n", 1},
		{"a header without a date", directoryTitle + "\nsource\tours\t1\tDE\n\n" + row, 3},
		{"a date of another form", directoryTitle + "\ndate\t1.1.2026\n\n" + row, 2},
		{"an unknown header line", directoryTitle + "\ncolour\tred\n\n" + row, 2},
		{"a header without rows", head, 4},
		{"a row with three columns", head + "DE\t37040044\tCOBADEFFXXX\n", 5},
		{"a row with five columns", head + "DE\t37040044\tCOBADEFFXXX\tCommerzbank\tx\n", 5},
		{"an empty line among the rows", head + row + "\nDE\t50010517\tINGDDEFFXXX\tING\n", 6},
		{"an unknown country", head + row + "US\t37040044\tCOBADEFFXXX\tCommerzbank\n", 6},
		{"a bank code that is too short", head + row + "DE\t5001051\tINGDDEFFXXX\tING\n", 6},
		{"a bank code with a letter", head + "DE\t3704004A\tCOBADEFFXXX\tCommerzbank\n", 5},
		{"a malformed BIC", head + row + "DE\t50010517\tINGDDEFFXX\tING\n", 6},
		{"neither BIC nor name", head + row + "DE\t50010517\t\t\n", 6},
		{"a bank code that comes twice", head + row + row, 6},
		{"rows out of order", head + "DE\t50010517\tINGDDEFFXXX\tING\n" + row, 6},
		{"countries out of order", head + row + "AT\t20111\tGIBAATWWXXX\tErste Bank\n", 6},
		{"a name that is not UTF-8", head + "DE\t37040044\tCOBADEFFXXX\tSparkasse M\xfcnchen\n", 5},
		{"a name with a control character", head + "DE\t37040044\tCOBADEFFXXX\tCommerz\rbank\n", 5},
		{"a name without an end", head + "DE\t37040044\tCOBADEFFXXX\t" + strings.Repeat("x", 201) + "\n", 5},
	} {
		t.Run(test.name+" is refused", func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "banks.tsv")
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := OpenDirectory(path)
			var refusal *DirectoryError
			if !errors.As(err, &refusal) {
				t.Fatalf("error %v", err)
			}
			if refusal.Line != test.line || !strings.Contains(err.Error(), fmt.Sprintf("banks.tsv, line %d: ", test.line)) {
				t.Errorf("%v, want line %d", err, test.line)
			}
		})
	}
	t.Run("a missing file is refused", func(t *testing.T) {
		t.Parallel()
		if _, err := OpenDirectory(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("error %v", err)
		}
	})
}

func BenchmarkLookup(b *testing.B) {
	directory := embedded(b)
	iban := mustParse(b, germanIBAN)
	b.ReportAllocs()
	for b.Loop() {
		if _, found := directory.Lookup(iban); !found {
			b.Fatal("not found")
		}
	}
}

func BenchmarkLoadEmbeddedDirectory(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parseDirectory("embedded directory", embeddedText); err != nil {
			b.Fatal(err)
		}
	}
}
