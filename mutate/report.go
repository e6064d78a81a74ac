package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// readEquivalents reads the mutants that change nothing: a key on one line, the
// reason on the next ones, indented.
func readEquivalents(name string) (map[string]string, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	found, key := map[string]string{}, ""
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "\t"):
			found[key] += strings.TrimSpace(line)
		default:
			key = line
			found[key] = ""
		}
	}
	for key, reason := range found {
		if reason == "" {
			return nil, fmt.Errorf("%s gives no reason for %s", name, key)
		}
	}
	return found, lines.Err()
}

// printSurvivor shows a mutant that lives, as a change of the source.
func printSurvivor(v verdict) {
	fmt.Printf("\nsurvived (%s): %s:%d\n  key %s\n", v.by, v.file, v.line, v.key)
	for line := range strings.Lines(v.before) {
		fmt.Println("  -", strings.TrimRight(line, "\n"))
	}
	for line := range strings.Lines(v.after) {
		fmt.Println("  +", strings.TrimRight(line, "\n"))
	}
}

// report prints the figures of a package and tells whether enough were killed.
func report(pkg string, verdicts []verdict, share int) bool {
	living := survivors(verdicts)
	for _, v := range living {
		printSurvivor(*v)
	}
	killed := len(verdicts) - len(living)
	const whole = 100
	reached := whole
	if len(verdicts) > 0 {
		reached = whole * killed / len(verdicts)
	}
	fmt.Printf("\n%s: %d mutants, %d killed, %d survived: %d %%\n\n", pkg, len(verdicts), killed, len(living), reached)
	return reached >= share
}
