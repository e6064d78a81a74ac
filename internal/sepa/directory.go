package sepa

import (
	_ "embed"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bank is what the directory knows of a bank. Either may be "": a name without a BIC is a bank that has left the payment
// systems, a BIC without a name comes from a source that lists no names.
type Bank struct{ Name, BIC string }

// Source tells where rows of a directory come from.
type Source struct {
	Name      string   `json:"name"`
	Version   string   `json:"version"`
	Countries []string `json:"countries"`
}

// CountryCount tells how many bank codes of a country a directory knows.
type CountryCount struct {
	Country  string `json:"country"`
	Codes    int    `json:"codes"`
	WithName int    `json:"with_name"`
	WithBIC  int    `json:"with_bic"`
}

// Directory finds a bank by the bank code in an IBAN. It is read-only and safe for any number of goroutines. The rows stay
// in the text of the file; beside it there are only the sorted keys, so that loading copies nothing and a lookup is a
// binary search.
type Directory struct {
	text    string
	keys    []uint64
	rows    []uint32 // where the BIC column of the key's row begins in text
	date    time.Time
	sources []Source
}

//go:embed directory.tsv
var embeddedText string

var loadEmbedded = sync.OnceValues(func() (*Directory, error) {
	return parseDirectory("embedded directory", embeddedText)
})

// EmbeddedDirectory gives the directory that was built into the program. It is read at the first call.
func EmbeddedDirectory() (*Directory, error) { return loadEmbedded() }

// Banks finds the bank of an IBAN, as Directory.Lookup does.
type Banks func(IBAN) (Bank, bool)

// EmbeddedBanks looks in the directory that was built into the program. It is read at the first question, because a
// process that has just started has better things to do; that it can be read is tested.
func EmbeddedBanks(iban IBAN) (Bank, bool) {
	directory, err := loadEmbedded()
	if err != nil {
		return Bank{}, false
	}
	return directory.Lookup(iban)
}

// OpenDirectory reads an operator's own directory file. Its error names the first line that is wrong.
func OpenDirectory(path string) (*Directory, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseDirectory(path, string(text))
}

// Lookup finds the bank of an IBAN. A bank code that is not in the directory gives false; that says nothing about the
// IBAN, because no country's list is complete. Monaco's banks have French bank codes, so what is not listed for MC is
// looked up for FR.
func (d *Directory) Lookup(iban IBAN) (Bank, bool) {
	plain := iban.unseal()
	code := plain.bankCode()
	if code == nil {
		return Bank{}, false
	}
	bank, found := d.find(packKey(plain[0], plain[1], code))
	if !found && plain[0] == 'M' && plain[1] == 'C' {
		return d.find(packKey('F', 'R', code))
	}
	return bank, found
}

func (d *Directory) find(key uint64) (Bank, bool) {
	index, found := slices.BinarySearch(d.keys, key)
	if !found {
		return Bank{}, false
	}
	row := d.text[d.rows[index]:]
	bic, rest, _ := strings.Cut(row, "\t")
	name, _, _ := strings.Cut(rest, "\n")
	return Bank{Name: name, BIC: bic}, true
}

// maxBankCodeLength is Russia's, the longest in the registry.
const maxBankCodeLength = 9

// packKey makes one number of country and bank code that sorts as the text does. Eleven characters of 37 values fit into
// 64 bits; 0 is "no character" and fills up shorter codes.
func packKey(first, second byte, code []byte) uint64 {
	key := packCharacter(first)*37 + packCharacter(second)
	for i := range maxBankCodeLength {
		key *= 37
		if i < len(code) {
			key += packCharacter(code[i])
		}
	}
	return key
}

func packCharacter(character byte) uint64 {
	if character <= '9' {
		return uint64(character-'0') + 1
	}
	return uint64(character-'A') + 11
}

// Date is the day whose banks the directory describes.
func (d *Directory) Date() time.Time { return d.date }

// Sources tells where the rows come from.
func (d *Directory) Sources() []Source { return slices.Clone(d.sources) }

// Len is the number of bank codes.
func (d *Directory) Len() int { return len(d.keys) }

// Counts tells how many bank codes are known for each country, ordered by country.
func (d *Directory) Counts() []CountryCount {
	var counts []CountryCount
	d.each(func(row bankRow) {
		if len(counts) == 0 || counts[len(counts)-1].Country != row.country {
			counts = append(counts, CountryCount{Country: row.country})
		}
		count := &counts[len(counts)-1]
		count.Codes++
		if row.bank.Name != "" {
			count.WithName++
		}
		if row.bank.BIC != "" {
			count.WithBIC++
		}
	})
	return counts
}

// WriteTo writes the directory as a file that OpenDirectory reads.
func (d *Directory) WriteTo(w io.Writer) (int64, error) {
	written, err := io.WriteString(w, d.text)
	return int64(written), err
}
