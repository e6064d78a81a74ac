//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// connections is how many callers each side of a row has, where its name says nothing else.
const connections = 16

// pgbench is a script that PostgreSQL's own load generator runs.
type pgbench struct {
	program, script, databaseURL string
	variables                    map[string]int64
	clients                      int
}

// newPgbench writes the script down where pgbench finds it.
func (l *lab) newPgbench(name, script, databaseURL string) (*pgbench, error) {
	program, err := findPgbench()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(l.folder, name+".sql")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		return nil, err
	}
	return &pgbench{program: program, script: path, databaseURL: databaseURL, variables: map[string]int64{}, clients: connections}, nil
}

// findPgbench looks where Debian keeps it too, newest version first.
func findPgbench() (string, error) {
	if path, err := exec.LookPath("pgbench"); err == nil {
		return path, nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench") // the pattern is a good one
	if len(found) == 0 {
		return "", fmt.Errorf("pgbench: %w", errMissing)
	}
	return slices.Max(found), nil
}

// forTime runs the script over and over for a while.
func (p *pgbench) forTime(ctx context.Context, d time.Duration) (sample, error) {
	return p.run(ctx, "-T", strconv.Itoa(int(max(d.Round(time.Second).Seconds(), 1))))
}

// forCount runs the script a number of times in all.
func (p *pgbench) forCount(ctx context.Context, count int) (sample, error) {
	return p.run(ctx, "-t", strconv.Itoa(count/p.clients))
}

func (p *pgbench) run(ctx context.Context, ending ...string) (sample, error) {
	arguments := []string{
		"-n", "-M", "prepared", "-c", strconv.Itoa(p.clients), "-j", strconv.Itoa(min(runtime.NumCPU(), p.clients)),
		"-f", p.script,
	}
	for name, value := range p.variables {
		arguments = append(arguments, "-D", fmt.Sprintf("%s=%d", name, value))
	}
	arguments = append(append(arguments, ending...), p.databaseURL)
	output, err := exec.CommandContext(ctx, p.program, arguments...).CombinedOutput()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		return sample{}, err
	}
	return readPgbench(string(output))
}

var (
	pgbenchRate   = regexp.MustCompile(`(?m)^tps = ([0-9.]+)`)
	pgbenchFailed = regexp.MustCompile(`(?m)^number of failed transactions: ([0-9]+)`)
)

// readPgbench takes rate and errors from what pgbench prints. A client that met
// an error is aborted and does nothing more, so that one alone spoils a round.
func readPgbench(output string) (sample, error) {
	rate := pgbenchRate.FindStringSubmatch(output)
	if rate == nil {
		return sample{}, fmt.Errorf("pgbench gave no rate:\n%s", output)
	}
	figure, err := strconv.ParseFloat(rate[1], 64)
	if err != nil {
		return sample{}, err
	}
	s := sample{figure: figure, errors: strings.Count(output, " aborted in command")}
	if failed := pgbenchFailed.FindStringSubmatch(output); failed != nil {
		count, _ := strconv.Atoi(failed[1]) // the pattern admits digits only
		s.errors += count
	}
	if s.errors > 0 {
		s.trouble = "pgbench: " + firstLineWith(output, "ERROR")
	}
	return s, nil
}

func firstLineWith(text, word string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, word) {
			return strings.TrimSpace(line)
		}
	}
	return "no error message"
}
