package sepa

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// DirectoryInputs names what a directory is built from. Empty paths are left out. Where inputs overlap, the order of the
// fields is the precedence: a later one replaces an earlier one country by country, except IBANToBIC, which only fills gaps.
type DirectoryInputs struct {
	Date            time.Time  // the day whose banks the directory shall describe
	Base            *Directory // kept for the countries that nothing below brings; may be nil
	Schwifty        string     // folder that holds the unpacked schwifty package
	BankdataGermany string     // folder that holds the unpacked bankdata-germany package
	Bundesbank      string     // the Bundesbank's bank code file, fixed-width text in ISO 8859-1
	IBANToBIC       string     // folder that holds the unpacked iban-to-bic package
}

// BuildProblem is a row that was left out or mended. Line counts the lines of a text and the entries of a JSON list from 1;
// it is 0 in a JSON object, which has no order.
type BuildProblem struct {
	File    string
	Line    int
	Problem string
}

func (p BuildProblem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.Problem)
	}
	return fmt.Sprintf("%s, line %d: %s", p.File, p.Line, p.Problem)
}

// BuildWatcher is told how a build goes. Both functions may be nil.
type BuildWatcher struct {
	Progress func(file string, done, total int)
	Problem  func(BuildProblem)
}

// directoryBuild collects rows by country and bank code while the inputs are read one after the other.
type directoryBuild struct {
	watcher BuildWatcher
	date    time.Time
	rows    map[string]map[string]Bank
	sources []Source
}

// BuildDirectory reads the inputs, merges them and gives a directory that can be written to a file. Rows that cannot be
// used are told to the watcher; a Bundesbank file with a line that is not of its layout is refused after its last line.
func BuildDirectory(inputs DirectoryInputs, watcher BuildWatcher) (*Directory, error) {
	build := &directoryBuild{watcher: watcher, date: inputs.Date, rows: map[string]map[string]Bank{}}
	if inputs.Base != nil {
		build.readBase(inputs.Base)
	}
	steps := []struct {
		path string
		read func(path string) error
	}{
		{inputs.Schwifty, build.readSchwifty},
		{inputs.BankdataGermany, build.readBankdataGermany},
		{inputs.Bundesbank, build.readBundesbank},
		{inputs.IBANToBIC, build.readIBANToBIC},
	}
	for _, step := range steps {
		if step.path == "" {
			continue
		}
		if err := step.read(step.path); err != nil {
			return nil, err
		}
	}
	return build.compose()
}

func (b *directoryBuild) compose() (*Directory, error) {
	if len(b.rows) == 0 {
		return nil, errors.New("there is nothing to build a directory from")
	}
	var rows []bankRow
	for country, banks := range b.rows {
		for code, bank := range banks {
			rows = append(rows, bankRow{country: country, code: code, bank: bank})
		}
	}
	return composeDirectory(b.date, b.sources, rows)
}

func (b *directoryBuild) readBase(base *Directory) {
	b.sources = base.Sources()
	base.each(func(row bankRow) {
		banks := b.rows[row.country]
		if banks == nil {
			banks = map[string]Bank{}
			b.rows[row.country] = banks
		}
		banks[row.code] = row.bank
	})
}

// replace puts a source's rows in the place of everything known of its countries before.
func (b *directoryBuild) replace(name, version string, countries map[string]map[string]Bank) {
	var kept []Source
	for _, source := range b.sources {
		source.Countries = slices.DeleteFunc(slices.Clone(source.Countries), func(country string) bool {
			return countries[country] != nil
		})
		if len(source.Countries) > 0 {
			kept = append(kept, source)
		}
	}
	maps.Copy(b.rows, countries)
	b.sources = append(kept, Source{Name: name, Version: version, Countries: slices.Sorted(maps.Keys(countries))})
}

func (b *directoryBuild) problem(file string, line int, problem string) {
	if b.watcher.Problem != nil {
		b.watcher.Problem(BuildProblem{File: file, Line: line, Problem: problem})
	}
}

func (b *directoryBuild) progress(file string, done, total int) {
	if b.watcher.Progress != nil {
		b.watcher.Progress(file, done, total)
	}
}

// inDirectory tells whether a country is of use: the directory answers for the SEPA schemes only.
func (b *directoryBuild) inDirectory(country string) bool { return InScheme(country, b.date) }

// cleanBIC gives the BIC in its usual form, or "" and a problem when it has none.
func (b *directoryBuild) cleanBIC(text, file string, line int) string {
	bic := strings.ToUpper(strings.Join(strings.Fields(text), ""))
	if bic == "" || ValidBIC(bic) {
		return bic
	}
	b.problem(file, line, "the BIC is malformed and was left out")
	return ""
}

// findFile looks below a folder for the file whose path ends so. Packages are unpacked in more than one way, and an
// operator should not have to know which.
func findFile(folder, suffix string) (string, error) {
	found := ""
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !entry.IsDir() && strings.HasSuffix(filepath.ToSlash(path), "/"+suffix) {
			found = path
			return filepath.SkipAll
		}
		return nil
	})
	if err == nil && found == "" {
		err = fmt.Errorf("%s holds no %s", folder, suffix)
	}
	return found, err
}
