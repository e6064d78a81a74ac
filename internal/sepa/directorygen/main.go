// Command directorygen writes the bank directory that is embedded into package sepa.
//
// It downloads three packages with the clients of this machine (apt and npm, by name, with the machine's own settings),
// compares them with the pinned checksums, unpacks them into a temporary folder and has sepa.BuildDirectory merge them.
// With -inputs it takes the downloaded files from a folder instead: a package that a distribution has replaced by a newer
// one can no longer be downloaded, but may have been kept.
//
// The inputs are not kept in the repository; the result is. To take in newer packages, change the pins below, run
// "go generate ./internal/sepa" and look at the difference.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"sepad/internal/sepa"
)

// directoryDay is the day whose banks are described: the first day of the Bundesbank's current list.
var directoryDay = time.Date(2026, time.September, 7, 0, 0, 0, 0, time.UTC)

func main() {
	out := flag.String("out", "directory.tsv", "file to write")
	inputs := flag.String("inputs", "", "folder with the downloaded packages; empty: download them")
	flag.Parse()
	if err := generate(*out, *inputs); err != nil {
		fmt.Fprintln(os.Stderr, "directorygen:", err)
		os.Exit(1)
	}
}

func generate(out, inputs string) error {
	work, err := os.MkdirTemp("", "directorygen")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	folders := map[string]string{}
	for _, pin := range pins {
		folder := filepath.Join(work, pin.name)
		if err := pin.prepare(inputs, folder); err != nil {
			return fmt.Errorf("%s: %w", pin.name, err)
		}
		folders[pin.name] = folder
	}
	directory, err := sepa.BuildDirectory(sepa.DirectoryInputs{
		Date:            directoryDay,
		Schwifty:        folders["python3-schwifty"],
		BankdataGermany: folders["bankdata-germany"],
		IBANToBIC:       folders["iban-to-bic"],
	}, sepa.BuildWatcher{
		Problem: func(problem sepa.BuildProblem) { fmt.Fprintln(os.Stderr, problem) },
	})
	if err != nil {
		return err
	}
	return write(directory, out)
}

func write(directory *sepa.Directory, out string) error {
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	if _, err := directory.WriteTo(file); err != nil {
		file.Close()
		return err
	}
	fmt.Printf("%s: %d bank codes of %d countries\n", out, directory.Len(), len(directory.Counts()))
	return file.Close()
}
