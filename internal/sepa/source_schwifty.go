package sepa

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// schwiftyEntry is a bank in a file of schwifty's bank registry. Files of its second form list several codes for a bank.
type schwiftyEntry struct {
	Country   string   `json:"country_code"`
	BankCode  string   `json:"bank_code"`
	BankCodes []string `json:"bank_codes"`
	BIC       string   `json:"bic"`
	Name      string   `json:"name"`
	Primary   *bool    `json:"primary"`
}

// candidate is one of the banks that a source gives for a bank code.
type candidate struct {
	bank     Bank
	primary  bool
	handKept bool // from a file that people mend where the national list is wrong
	kinship  int  // rows of the same bank code whose BIC begins with the same eight characters
}

// readSchwifty reads the bank registry of the Python package schwifty, which gathers the national lists.
func (b *directoryBuild) readSchwifty(folder string) error {
	anchor, err := findFile(folder, "bank_registry/generated_de.json")
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(anchor), "*.json"))
	if err != nil {
		return err
	}
	slices.Sort(files) // the order decides between equal rows, so it must not depend on the file system
	candidates := map[string]map[string][]candidate{}
	for i, file := range files {
		if err := b.readSchwiftyFile(file, candidates); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		b.progress(filepath.Base(folder), i+1, len(files))
	}
	countries := map[string]map[string]Bank{}
	for country, codes := range candidates {
		countries[country] = chooseBanks(country, codes)
	}
	b.replace("schwifty", schwiftyVersion(folder), countries)
	return nil
}

func (b *directoryBuild) readSchwiftyFile(file string, candidates map[string]map[string][]candidate) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	entries, err := decodeSchwifty(text)
	if err != nil {
		return err
	}
	for i, entry := range entries {
		if !b.inDirectory(entry.Country) {
			continue
		}
		row := candidate{
			bank:     Bank{Name: cleanBankName(entry.Country, entry.Name), BIC: b.cleanBIC(entry.BIC, filepath.Base(file), i+1)},
			primary:  entry.Primary == nil || *entry.Primary,
			handKept: strings.HasPrefix(filepath.Base(file), "manual_"),
		}
		codes := entry.BankCodes
		if len(codes) == 0 {
			codes = []string{entry.BankCode}
		}
		if candidates[entry.Country] == nil {
			candidates[entry.Country] = map[string][]candidate{}
		}
		for _, code := range codes {
			if err := checkBankCode(entry.Country, code); err != nil {
				b.problem(filepath.Base(file), i+1, err.Error())
				continue
			}
			candidates[entry.Country][code] = append(candidates[entry.Country][code], row)
		}
	}
	return nil
}

func decodeSchwifty(text []byte) (entries []schwiftyEntry, err error) {
	if strings.HasPrefix(strings.TrimSpace(string(text)), "[") {
		return entries, json.Unmarshal(text, &entries)
	}
	var second struct {
		Entries []schwiftyEntry `json:"entries"`
	}
	err = json.Unmarshal(text, &second)
	return second.Entries, err
}

func schwiftyVersion(folder string) string {
	path, err := findFile(folder, "METADATA")
	if err != nil {
		return "unknown"
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if version, found := strings.CutPrefix(line, "Version: "); found {
			return strings.TrimSpace(version)
		}
	}
	return "unknown"
}

func chooseBanks(country string, codes map[string][]candidate) map[string]Bank {
	banks := make(map[string]Bank, len(codes))
	for code, rows := range codes {
		countKinship(rows)
		best := slices.MinFunc(rows, func(a, b candidate) int {
			return slices.Compare(demerits(country, a), demerits(country, b))
		})
		if best.bank != (Bank{}) {
			banks[code] = best.bank
		}
	}
	if country == "HU" {
		nameHungarianBanks(banks)
	}
	return banks
}

func countKinship(rows []candidate) {
	kin := map[string]int{}
	for _, row := range rows {
		kin[row.bank.BIC[:min(8, len(row.bank.BIC))]]++
	}
	for i, row := range rows {
		rows[i].kinship = kin[row.bank.BIC[:min(8, len(row.bank.BIC))]]
	}
}

// frenchFederations are groups of regional banks, each with a bank code of its own. The list gives every region's code also
// to a namesake with the head office's BIC; the regional row is the right one.
var frenchFederations = []string{"AGRIFRPP", "CCBPFRPP", "CEPAFRPP"}

// demerits ranks the banks that a list gives for one bank code; the first that differs decides, and the lower one wins.
// A bank's main BIC is the one of eight characters or with XXX at its end; others are branches and subsidiaries. Where the
// list gives a code to a bank and to the one that has swallowed it, the bank has more rows.
func demerits(country string, row candidate) []int {
	bic := row.bank.BIC
	regional := country == "FR" && len(bic) == 11 && !strings.HasSuffix(bic, "XXX") && slices.Contains(frenchFederations, bic[:8])
	return []int{
		demerit(bic != ""),
		demerit(bic != "" && bic[4:6] == country),
		demerit(row.primary),
		demerit(row.handKept),
		demerit(regional),
		-row.kinship,
		demerit(len(bic) == 8),
		demerit(strings.HasSuffix(bic, "XXX")),
	}
}

func demerit(good bool) int {
	if good {
		return 0
	}
	return 1
}
