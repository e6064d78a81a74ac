package main

import (
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"

	"sepad/internal/clock"
	"sepad/internal/sepa"
)

type banksCommand struct {
	Check banksCheckCommand `cmd:"" help:"Check a bank directory and show what it holds."`
	Build banksBuildCommand `cmd:"" help:"Build a bank directory from lists of banks."`
}

type banksCheckCommand struct {
	File string `arg:"" optional:"" env:"SEPAD_BANK_DIRECTORY" help:"The directory; the built-in one when none is named."`
	outputFlag
}

func (c *banksCheckCommand) Run(p *program) error {
	directory, err := openBanks(c.File)
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(map[string]any{"codes": directory.Len(), "date": directory.Date().Format(time.DateOnly), "countries": directory.Counts(), "sources": directory.Sources()})
	}
	printBanks(p.stdout, directory)
	return nil
}

func openBanks(path string) (*sepa.Directory, error) {
	if path == "" {
		return sepa.EmbeddedDirectory()
	}
	return sepa.OpenDirectory(path)
}

func printBanks(w io.Writer, directory *sepa.Directory) {
	counts := directory.Counts()
	fmt.Fprintf(w, "%d bank codes of %d countries, as of %s\n\n", directory.Len(), len(counts), directory.Date().Format(time.DateOnly))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "country\tcodes\twith name\twith BIC\t")
	for _, c := range counts {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t\n", c.Country, c.Codes, c.WithName, c.WithBIC)
	}
	_ = table.Flush() // a failed write to the terminal has nobody to be told to
	fmt.Fprintln(w)
	for _, source := range directory.Sources() {
		fmt.Fprintf(w, "%s %s: %d countries\n", source.Name, source.Version, len(source.Countries))
	}
}

type banksBuildCommand struct {
	Out             string    `name:"out" short:"o" required:"" placeholder:"FILE" help:"Where to write the directory; set SEPAD_BANK_DIRECTORY to it."`
	Date            time.Time `name:"date" format:"2006-01-02" placeholder:"YYYY-MM-DD" help:"Day whose banks the lists describe; today when not given."`
	Base            string    `name:"base" placeholder:"FILE" help:"Directory kept for countries that no list below brings; the built-in one when not given."`
	Bundesbank      string    `name:"bundesbank" placeholder:"FILE" help:"The Bundesbank's bank code file (fixed-width text)."`
	BankdataGermany string    `name:"bankdata-germany" placeholder:"FOLDER" help:"Unpacked bankdata-germany package."`
	Schwifty        string    `name:"schwifty" placeholder:"FOLDER" help:"Unpacked schwifty package."`
	IBANToBIC       string    `name:"iban-to-bic" placeholder:"FOLDER" help:"Unpacked iban-to-bic package; fills gaps only."`
}

func (c *banksBuildCommand) Run(p *program) error {
	base, err := openBanks(c.Base)
	if err != nil {
		return err
	}
	if c.Date.IsZero() {
		c.Date = clock.Real{}.Now().Truncate(24 * time.Hour)
	}
	bar := newProgress(p.stderr)
	directory, err := sepa.BuildDirectory(sepa.DirectoryInputs{
		Date: c.Date, Base: base, Schwifty: c.Schwifty, BankdataGermany: c.BankdataGermany,
		Bundesbank: c.Bundesbank, IBANToBIC: c.IBANToBIC,
	}, sepa.BuildWatcher{
		Progress: bar.show,
		Problem: func(problem sepa.BuildProblem) {
			bar.clear()
			fmt.Fprintln(p.stderr, problem)
		},
	})
	bar.clear()
	if err != nil {
		return err
	}
	if err := writeBanks(directory, c.Out); err != nil {
		return err
	}
	printBanks(p.stdout, directory)
	return nil
}

// writeBanks puts the whole file in place at once: a server may be reading the
// one that it replaces.
func writeBanks(directory *sepa.Directory, path string) error {
	draft, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(draft.Name()) }() // gone already once it is in place
	if _, err := directory.WriteTo(draft); err != nil {
		draft.Close()
		return err
	}
	if err := draft.Close(); err != nil {
		return err
	}
	return os.Rename(draft.Name(), path)
}

// progress is a bar on a terminal, and nothing elsewhere.
type progress struct {
	w    io.Writer
	file string
	bar  *progressbar.ProgressBar
}

func newProgress(w io.Writer) *progress { return &progress{w: w} }

func (b *progress) show(file string, done, total int) {
	if !isTerminal(b.w) {
		return
	}
	if b.bar == nil || b.file != file {
		b.clear()
		b.file = file
		b.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(b.w),
			progressbar.OptionSetDescription(file), progressbar.OptionThrottle(100*time.Millisecond))
	}
	_ = b.bar.Set(done) // a bar that cannot be drawn is no reason to stop
}

func (b *progress) clear() {
	if b.bar != nil {
		_ = b.bar.Clear()
	}
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	about, err := file.Stat()
	return err == nil && about.Mode()&os.ModeCharDevice != 0
}
