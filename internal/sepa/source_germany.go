package sepa

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/text/encoding/charmap"
)

// readBankdataGermany reads the npm package bankdata-germany: the Bundesbank's list as JSON, and what changes in it on a
// later day. The change is applied when its day has come.
func (b *directoryBuild) readBankdataGermany(folder string) error {
	current := map[string][2]string{}
	if err := readJSON(folder, "cjs/data/current.json", &current); err != nil {
		return err
	}
	var next struct {
		Valid  string               `json:"valid"`
		Remove []string             `json:"remove"`
		Upsert map[string][2]string `json:"upsert"`
	}
	if err := readJSON(folder, "cjs/data/next.json", &next); err != nil {
		return err
	}
	from, err := time.Parse("2006-01-02T15:04:05-0700", next.Valid)
	if err != nil {
		return fmt.Errorf("bankdata-germany: the day of the change: %w", err)
	}
	if fromDay := from.Format(time.DateOnly); fromDay <= b.date.Format(time.DateOnly) {
		for code, bank := range next.Upsert {
			current[code] = bank
		}
		for _, code := range next.Remove {
			delete(current, code)
		}
	}
	version, err := npmVersion(folder)
	if err != nil {
		return err
	}
	banks := map[string]Bank{}
	for code, entry := range current {
		if err := checkBankCode("DE", code); err != nil {
			b.problem("current.json", 0, err.Error())
			continue
		}
		banks[code] = Bank{Name: cleanBankName("DE", entry[0]), BIC: b.cleanBIC(entry[1], "current.json", 0)}
	}
	b.progress(filepath.Base(folder), len(current), len(current))
	b.replace("bankdata-germany", version, map[string]map[string]Bank{"DE": banks})
	return nil
}

func readJSON(folder, suffix string, into any) error {
	path, err := findFile(folder, suffix)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func npmVersion(folder string) (string, error) {
	var manifest struct {
		Version string `json:"version"`
	}
	err := readJSON(folder, "package/package.json", &manifest)
	return manifest.Version, err
}

// The Bundesbank's layout, counted from 0 and half-open: bank code, mark of the record, name, BIC, mark of the change.
// The file comes with 168 characters a line, and with six more when it carries the IBAN rules.
const (
	bundesbankLine         = 168
	bundesbankExtendedLine = 174
	bundesbankMark         = 8
	bundesbankNameFrom     = 9
	bundesbankNameTo       = 67
	bundesbankBICFrom      = 139
	bundesbankBICTo        = 150
	bundesbankChange       = 158
)

// readBundesbank reads the bank code file that the Bundesbank publishes every three months.
func (b *directoryBuild) readBundesbank(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	name := filepath.Base(path)
	banks := map[string]Bank{}
	bad, line, read := 0, 0, 0
	// The bytes are turned into text only after the columns are cut: in UTF-8 an umlaut would move all that follow.
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line++
		read += len(lines.Bytes()) + 1
		if err := b.readBundesbankLine(lines.Text(), name, line, banks); err != nil {
			bad++
			b.problem(name, line, err.Error())
		}
		if line%1000 == 0 {
			b.progress(name, read, int(info.Size()))
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s, line %d: %w", name, line+1, err)
	}
	b.progress(name, int(info.Size()), int(info.Size()))
	if bad > 0 {
		return fmt.Errorf("%s: %d of %d lines are not of the Bundesbank's layout", name, bad, line)
	}
	if len(banks) == 0 {
		return fmt.Errorf("%s holds no banks", name)
	}
	b.replace("Bundesbank", name, map[string]map[string]Bank{"DE": banks})
	return nil
}

func (b *directoryBuild) readBundesbankLine(line, file string, number int, banks map[string]Bank) error {
	line = strings.TrimSuffix(line, "\r")
	if len(line) != bundesbankLine && len(line) != bundesbankExtendedLine {
		return fmt.Errorf("a line has %d or %d characters, not %d", bundesbankLine, bundesbankExtendedLine, len(line))
	}
	code := line[:bundesbankMark]
	if err := checkBankCode("DE", code); err != nil {
		return err
	}
	switch line[bundesbankMark] {
	case '1':
	case '2':
		return nil // a branch without a bank code of its own
	default:
		return errors.New("the mark of the record is neither 1 nor 2")
	}
	if line[bundesbankChange] == 'D' {
		return nil // no longer valid
	}
	name, err := charmap.ISO8859_1.NewDecoder().String(line[bundesbankNameFrom:bundesbankNameTo])
	if err != nil {
		return err
	}
	bic := b.cleanBIC(line[bundesbankBICFrom:bundesbankBICTo], file, number)
	banks[code] = Bank{Name: cleanBankName("DE", name), BIC: bic}
	return nil
}
