//go:build unix

package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"sepad/internal/sepa"
)

var ibanWork = work{
	name:    "iban",
	what:    "one IBAN checked with its country's full structure",
	against: "the fastest of npm's fast-iban, ibankit and ibantools",
	unit:    "ns",
	better:  timesFaster,
	floor:   5,
	goal:    12,
	measure: measureIBAN,
}

//go:embed iban.cjs
var ibanScript string

// ibanLibraries are installed by npm under their own names.
var ibanLibraries = []string{"fast-iban@1.2.0", "ibankit@1.6.5", "ibantools@4.5.4"}

// sampleIBANs are well-known examples; with letters and without, short and long.
var sampleIBANs = []string{
	"DE89370400440532013000", "AT611904300234573201", "NL91ABNA0417164300", "BE68539007547034",
	"FR1420041010050500013M02606", "IT60X0542811101000000123456", "ES9121000418450200051332", "PT50000201231234567890154",
	"FI2112345600000785", "IE29AIBK93115212345678", "LU280019400644750000", "GB29NWBK60161331926819",
}

func measureIBAN(ctx context.Context, l *lab, w work) (measurement, error) {
	folder, err := l.installLibraries(ctx)
	if err != nil {
		return measurement{}, err
	}
	perLibrary := map[string][]float64{}
	m, err := alternate(ctx, l, w, l.rounds(), validateOurs, func(ctx context.Context) (sample, error) {
		return validateTheirs(ctx, folder, perLibrary)
	})
	for _, name := range slices.Sorted(maps.Keys(perLibrary)) {
		m.notes = append(m.notes, fmt.Sprintf("%s %s ns", name, shortNumber(median(perLibrary[name]))))
	}
	const runs = 1000
	allocations := testing.AllocsPerRun(runs, func() { _, _ = sepa.ParseIBAN(sampleIBANs[0]) })
	m.notes = append(m.notes, fmt.Sprintf("ours makes %.0f allocations", allocations))
	return m, err
}

// validateOurs runs for a quarter of a second, as long as the others do.
func validateOurs(context.Context) (sample, error) {
	const batch, least = 1000, 250 * time.Millisecond
	var s sample
	began, count, took := time.Now(), 0, time.Duration(0)
	for took < least {
		for i := range batch {
			if _, err := sepa.ParseIBAN(sampleIBANs[i%len(sampleIBANs)]); err != nil {
				s.errors, s.trouble = s.errors+1, err.Error()
			}
		}
		count += batch
		took = time.Since(began)
	}
	s.figure = float64(took.Nanoseconds()) / float64(count)
	return s, nil
}

// validateTheirs gives the fastest library's time, and keeps those of all.
func validateTheirs(ctx context.Context, folder string, perLibrary map[string][]float64) (s sample, err error) {
	command := exec.CommandContext(ctx, "node", append([]string{"iban.cjs"}, sampleIBANs...)...)
	command.Dir, command.Stderr = folder, os.Stderr
	output, err := command.Output()
	if err != nil {
		return s, fmt.Errorf("node: %w", err)
	}
	var results map[string]struct {
		Nanoseconds float64
		Errors      int
	}
	if err := json.Unmarshal(output, &results); err != nil {
		return s, err
	}
	for name, result := range results {
		perLibrary[name] = append(perLibrary[name], result.Nanoseconds)
		if s.figure == 0 || result.Nanoseconds < s.figure {
			s.figure = result.Nanoseconds
		}
		if s.errors += result.Errors; result.Errors > 0 {
			s.trouble = name + " refuses an IBAN of the samples"
		}
	}
	return s, nil
}

// installLibraries has npm bring the libraries into the user's cache, where a
// later run finds them without a network.
func (l *lab) installLibraries(ctx context.Context) (string, error) {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return "", fmt.Errorf("%s, which the other libraries need: %w", program, errMissing)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, "sepad-bench")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	l.say("installing %v", ibanLibraries)
	install := exec.CommandContext(ctx, "npm", append([]string{
		"install", "--no-save", "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts", "--prefix", folder,
	}, ibanLibraries...)...)
	if output, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm could not install the libraries (%w): %w\n%s", errMissing, err, output)
	}
	return folder, os.WriteFile(filepath.Join(folder, "iban.cjs"), []byte(ibanScript), 0o600)
}
