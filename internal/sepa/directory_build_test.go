package sepa

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var buildDay = schemeDay(2026, time.October, 1)

// writeFiles lays out files below a new folder, as an unpacked package would.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func schwiftyPackage(t *testing.T, registry map[string]string) string {
	t.Helper()
	files := map[string]string{
		"lib/schwifty-2026.1.dist-info/METADATA":           "Name: schwifty\nVersion: 2026.1\n",
		"lib/schwifty/bank_registry/generated_de.json":     `[{"country_code":"DE","bank_code":"10000000","bic":"MARKDEF1100","name":"Old","primary":true}]`,
		"lib/schwifty/bank_registry/generated_ignored.txt": "not JSON",
	}
	for name, content := range registry {
		files["lib/schwifty/bank_registry/"+name] = content
	}
	return writeFiles(t, files)
}

func bankdataPackage(t *testing.T) string {
	t.Helper()
	return writeFiles(t, map[string]string{
		"package/package.json":               `{"version":"2.1"}`,
		"package/dist/cjs/data/current.json": `{"10000000":["Bundesbank -alt-","MARKDEF1100"],"20000000":["Gone","MARKDEF1200"]}`,
		"package/dist/cjs/data/next.json":    `{"valid":"2026-10-01T00:00:00+0200","remove":["20000000"],"upsert":{"30000000":["New",""]}}`,
	})
}

func ibanToBICPackage(t *testing.T) string {
	t.Helper()
	return writeFiles(t, map[string]string{
		"package/package.json":     `{"version":"1.4"}`,
		"package/datasets/at.json": `{"20111":"GIBAATWWXXX"}`,
		"package/datasets/es.json": `{"1000":"ICROESMM","A12345678":"ICROESMM"}`,
		"package/datasets/fr.json": `{"20041":"OTHEFRPP","30003":"SOGEFRPP"}`,
		"package/datasets/lu.json": `{"001":"not a BIC"}`,
	})
}

// build runs BuildDirectory and gives its rows as "DE 37040044 COBADEFFXXX Commerzbank", with the problems it told.
func build(t *testing.T, inputs DirectoryInputs) (rows map[string]string, problems []string, directory *Directory) {
	t.Helper()
	if inputs.Date.IsZero() {
		inputs.Date = buildDay
	}
	directory, err := BuildDirectory(inputs, BuildWatcher{
		Problem: func(problem BuildProblem) { problems = append(problems, problem.String()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	rows = map[string]string{}
	directory.each(func(row bankRow) { rows[row.country+" "+row.code] = row.bank.BIC + " " + row.bank.Name })
	return rows, problems, directory
}

func expectRows(t *testing.T, rows, want map[string]string) {
	t.Helper()
	for key, bank := range want {
		if rows[key] != bank {
			t.Errorf("%s: %q, want %q", key, rows[key], bank)
		}
	}
	if len(rows) != len(want) {
		t.Errorf("rows %v, want %v", rows, want)
	}
}

func TestBuildMergesThePackagesByPrecedence(t *testing.T) {
	t.Parallel()
	rows, problems, directory := build(t, DirectoryInputs{
		Schwifty: schwiftyPackage(t, map[string]string{
			"manual_fr.json": `[{"country_code":"FR","bank_code":"20041","bic":"PSSTFRPP","name":"LA BANQUE POSTALE","primary":true}]`,
			"manual_ua.json": `[{"country_code":"UA","bank_code":"300119","bic":"","name":"outside the schemes"}]`,
		}),
		BankdataGermany: bankdataPackage(t),
		IBANToBIC:       ibanToBICPackage(t),
	})
	expectRows(t, rows, map[string]string{
		"DE 10000000": "MARKDEF1100 Bundesbank",
		"DE 30000000": " New",
		"FR 20041":    "PSSTFRPP LA BANQUE POSTALE",
		"FR 30003":    "SOGEFRPP ",
		"AT 20111":    "GIBAATWWXXX ",
		"ES 1000":     "ICROESMM ",
	})
	if len(problems) != 2 {
		t.Errorf("problems %q, want the tax number of ES and the BIC of LU", problems)
	}
	want := "[{schwifty 2026.1 [FR]} {bankdata-germany 2.1 [DE]} {iban-to-bic 1.4 [AT ES FR]}]"
	if got := fmt.Sprint(directory.Sources()); got != want {
		t.Errorf("sources %s, want %s", got, want)
	}
	if directory.Date() != buildDay {
		t.Errorf("date %v", directory.Date())
	}
}

func TestAChangeIsAppliedOnlyWhenItsDayHasCome(t *testing.T) {
	t.Parallel()
	rows, _, _ := build(t, DirectoryInputs{Date: buildDay.AddDate(0, 0, -1), BankdataGermany: bankdataPackage(t)})
	expectRows(t, rows, map[string]string{
		"DE 10000000": "MARKDEF1100 Bundesbank",
		"DE 20000000": "MARKDEF1200 Gone",
	})
}

func TestOneBankIsChosenForEachCode(t *testing.T) {
	t.Parallel()
	entry := func(country, code, bic, name string, primary bool) string {
		return fmt.Sprintf(`{"country_code":%q,"bank_code":%q,"bic":%q,"name":%q,"primary":%v}`, country, code, bic, name, primary)
	}
	list := func(entries ...string) string { return "[" + strings.Join(entries, ",") + "]" }
	rows, _, _ := build(t, DirectoryInputs{Schwifty: schwiftyPackage(t, map[string]string{
		"generated_de.json": "[]",
		"generated_es.json": list(
			entry("ES", "0001", "", "without a BIC", true), entry("ES", "0001", "AAAAESMM", "with a BIC", false),
			entry("ES", "0002", "AAAAESMM", "secondary", false), entry("ES", "0002", "BBBBESMM", "primary", true)),
		"generated_gb.json": list(
			entry("GB", "DEUT", "DEUTDEFF", "abroad", true), entry("GB", "DEUT", "DEUTGB2LXXX", "at home", true)),
		"generated_it.json": list(entry("IT", "05387", "BPMOIT22", "generated", true)),
		"manual_it.json":    list(entry("IT", "05387", "BPMOIT22XXX", "kept by hand", true)),
		"manual_fr.json": list(
			entry("FR", "30003", "SOGEFRPPHPO", "subsidiary", true), entry("FR", "30003", "SOGEFRPPXXX", "another", true), entry("FR", "30003", "SOGEFRPP", "head office", true),
			entry("FR", "17515", "CEPAFRPPXXX", "namesake", true), entry("FR", "17515", "CEPAFRPP751", "region", true),
			entry("FR", "30066", "AAAAFRPPXXX", "parent", true), entry("FR", "30066", "CMCIFRPPXXX", "bank", true), entry("FR", "30066", "CMCIFRPPCOR", "bank's branch", true)),
		"manual_dk.v2.json": `{"entries":[{"country_code":"DK","bank_codes":["3000","3001"],"bic":"DABADKKK","name":"DANSKE BANK"}]}`,
	})})
	expectRows(t, rows, map[string]string{
		"ES 0001":  "AAAAESMM with a BIC",
		"ES 0002":  "BBBBESMM primary",
		"GB DEUT":  "DEUTGB2LXXX at home",
		"IT 05387": "BPMOIT22XXX kept by hand",
		"FR 30003": "SOGEFRPP head office",
		"FR 17515": "CEPAFRPP751 region",
		"FR 30066": "CMCIFRPPXXX bank",
		"DK 3000":  "DABADKKK DANSKE BANK",
		"DK 3001":  "DABADKKK DANSKE BANK",
	})
}

func TestBankNamesAreMended(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ country, name, want string }{
		{"DE", "Volksbank  Demmin -alt-", "Volksbank Demmin"},
		{"IT", "'Cassa Rurale\nGiudicarie ", "Cassa Rurale Giudicarie"},
		{"SI", "BKS BANK AG, BANÈNA PODRU\u008eNICA", "BKS BANK AG, BANČNA PODRUŽNICA"},
		{"SI", "SKB BANKA D.D. POSLOVALNICA BLED", "SKB BANKA D.D."},
		{"SI", "DBS .D.D., CENTRALA LJUBLJANA", "DBS .D.D."},
		{"HU", "K&H Bank Zrt. 242 Pécs", "K&H Bank Zrt."},
		{"FR", "CREDIT MUTUEL", "CREDIT MUTUEL"},
		{"FR", strings.Repeat("banque ", 40), strings.TrimSpace(strings.Repeat("banque ", 28))},
	} {
		if got := cleanBankName(test.country, test.name); got != test.want {
			t.Errorf("%s %q: %q, want %q", test.country, test.name, got, test.want)
		}
	}
}

func TestHungarianBranchesGetTheirBanksName(t *testing.T) {
	t.Parallel()
	banks := map[string]Bank{
		"117": {"OTP Budapesti r., I. Iskola u.", "OTPVHUHB"},
		"170": {"OTP Bank Nyrt.", "OTPVHUHB"},
		"187": {"Banco Primus Fióktelep Magyarország", "OTPVHUHB"},
	}
	nameHungarianBanks(banks)
	if banks["117"].Name != "OTP Bank Nyrt." || banks["187"].Name != "Banco Primus Fióktelep Magyarország" {
		t.Errorf("%v", banks)
	}
}

// bundesbankRecord lays out a line as the Bundesbank does, in ISO 8859-1.
func bundesbankRecord(code, mark, name, bic, change string) string {
	latin := strings.NewReplacer("ü", "\xfc", "ö", "\xf6").Replace(name)
	return fmt.Sprintf("%-8s%1s%-58s%-5s%-35s%-27s%-5s%-11s%-2s%-6s%1s%1s%-8s",
		code, mark, latin, "10591", "Berlin", "short", "20100", bic, "09", "011380", change, "0", "00000000")
}

func TestTheBundesbankFileReplacesGermany(t *testing.T) {
	t.Parallel()
	path := filepath.Join(writeFiles(t, map[string]string{"blz.txt": strings.Join([]string{
		bundesbankRecord("37040044", "1", "Bank für München", "COBADEFFXXX", "U"),
		bundesbankRecord("37040044", "2", "Zweigstelle", "", "U"),
		bundesbankRecord("50010517", "1", "ING-DiBa", "INGDDEFFXXX", "U") + "000000",
		bundesbankRecord("10000001", "1", "Gone", "MARKDEF1100", "D"),
		bundesbankRecord("10000002", "1", "Without BIC -alt-", "", "A"),
	}, "\r\n") + "\r\n"}), "blz.txt")
	base, err := BuildDirectory(DirectoryInputs{
		Date: buildDay, BankdataGermany: bankdataPackage(t), IBANToBIC: ibanToBICPackage(t),
	}, BuildWatcher{})
	if err != nil {
		t.Fatal(err)
	}
	rows, problems, directory := build(t, DirectoryInputs{Base: base, Bundesbank: path})
	expectRows(t, rows, map[string]string{
		"DE 10000002": " Without BIC",
		"DE 37040044": "COBADEFFXXX Bank für München",
		"DE 50010517": "INGDDEFFXXX ING-DiBa",
		"AT 20111":    "GIBAATWWXXX ",
		"ES 1000":     "ICROESMM ",
		"FR 20041":    "OTHEFRPP ",
		"FR 30003":    "SOGEFRPP ",
	})
	if len(problems) != 0 {
		t.Errorf("problems %q", problems)
	}
	if got, want := fmt.Sprint(directory.Sources()), "[{iban-to-bic 1.4 [AT ES FR]} {Bundesbank blz.txt [DE]}]"; got != want {
		t.Errorf("sources %s, want %s", got, want)
	}
}

func TestABrokenBundesbankFileIsRefusedWithItsLines(t *testing.T) {
	t.Parallel()
	good := bundesbankRecord("37040044", "1", "Commerzbank", "COBADEFFXXX", "U")
	path := filepath.Join(writeFiles(t, map[string]string{"blz.txt": strings.Join([]string{
		good, good[:100], bundesbankRecord("3704004X", "1", "Commerzbank", "COBADEFFXXX", "U"), good,
		bundesbankRecord("37040045", "3", "Commerzbank", "COBADEFFXXX", "U"),
	}, "\n")}), "blz.txt")
	var problems []BuildProblem
	_, err := BuildDirectory(DirectoryInputs{Date: buildDay, Bundesbank: path}, BuildWatcher{
		Problem: func(problem BuildProblem) { problems = append(problems, problem) },
	})
	if err == nil || !strings.Contains(err.Error(), "3 of 5 lines") {
		t.Errorf("error %v", err)
	}
	if len(problems) != 3 || problems[0].Line != 2 || problems[1].Line != 3 || problems[2].Line != 5 {
		t.Errorf("problems %v", problems)
	}
}

func TestABuildTellsItsProgress(t *testing.T) {
	t.Parallel()
	var last string
	_, err := BuildDirectory(DirectoryInputs{Date: buildDay, IBANToBIC: ibanToBICPackage(t)}, BuildWatcher{
		Progress: func(_ string, done, total int) { last = fmt.Sprintf("%d of %d", done, total) },
	})
	if err != nil || last != "4 of 4" {
		t.Errorf("%q, %v", last, err)
	}
}

func TestABuildWithoutItsInputsIsRefused(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	for name, inputs := range map[string]DirectoryInputs{
		"no input":                     {},
		"a folder without schwifty":    {Schwifty: empty},
		"a folder without bankdata":    {BankdataGermany: empty},
		"a folder without iban-to-bic": {IBANToBIC: empty},
		"no Bundesbank file":           {Bundesbank: filepath.Join(empty, "none")},
	} {
		inputs.Date = buildDay
		if _, err := BuildDirectory(inputs, BuildWatcher{}); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
