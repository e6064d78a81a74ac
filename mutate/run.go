package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// startPatience and patience bound a run: what takes so much longer than
	// without a mutant hangs because of it.
	startPatience = 15 * time.Second
	patience      = 6
	// longest bounds a run without a mutant.
	longest = 10 * time.Minute

	noTestComesBy = "no test comes by"
)

// test is one test with what it costs and the mutants that it comes by.
type test struct {
	suite   *suite
	name    string
	took    time.Duration
	reaches map[int]bool
}

var testName = regexp.MustCompile(`^Test\w*$`)

// learn runs every test of a suite alone, without a mutant. Tests that fail so are
// left out: they say nothing.
func (s *suite) learn(ctx context.Context, folder string) error {
	if s.program == "" {
		return nil
	}
	started := time.Now()
	s.reaches, s.tests = map[int]bool{}, []test{}
	// Tests of properties write down what broke them, beside the sources.
	help, _ := exec.CommandContext(ctx, s.program, "-h").CombinedOutput() //nolint:gosec // G204: built by us
	if strings.Contains(string(help), "-rapid.nofailfile") {
		s.flags = append(s.flags, "-rapid.nofailfile")
	}
	list := exec.CommandContext(ctx, s.program, "-test.list", ".") //nolint:gosec // G204: built by us
	list.Dir = s.folder
	names, err := list.Output()
	if err != nil {
		return err
	}
	for name := range strings.FieldsSeq(string(names)) {
		if !testName.MatchString(name) {
			continue
		}
		log := filepath.Join(folder, "reached")
		began := time.Now()
		passed, _, err := s.run(ctx, longest, []string{name}, "MUTANT_LOG="+log)
		if err != nil {
			return err
		}
		reaches, err := readIDs(log)
		if err != nil {
			return err
		}
		if !passed {
			fmt.Printf("  %s of %s fails without a mutant and is left out\n", name, s.pkg)
			continue
		}
		s.tests = append(s.tests, test{s, name, time.Since(began), reaches})
		maps.Copy(s.reaches, reaches)
	}
	fmt.Printf("  %d tests of %s run one by one in %s\n", len(s.tests), s.pkg, time.Since(started).Round(time.Second))
	return nil
}

func readIDs(name string) (map[int]bool, error) {
	ids := map[int]bool{}
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return ids, nil
	}
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		if id, err := strconv.Atoi(lines.Text()); err == nil {
			ids[id] = true
		}
	}
	return ids, os.Remove(name)
}

// run runs tests of a suite and tells whether they passed, and whether they hung.
func (s *suite) run(ctx context.Context, limit time.Duration, names []string, env string) (passed, hung bool, err error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	pattern := "^(" + strings.Join(names, "|") + ")$"
	args := append([]string{"-test.run", pattern, "-test.failfast", "-test.count=1"}, s.flags...)
	command := exec.CommandContext(limited, s.program, args...) //nolint:gosec // G204: built by us
	command.Dir, command.Env, command.WaitDelay = s.folder, append(os.Environ(), env), time.Second
	err = command.Run()
	if ctx.Err() != nil {
		return false, false, ctx.Err()
	}
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) && limited.Err() == nil && !errors.Is(err, exec.ErrWaitDelay) {
		return false, false, err
	}
	return err == nil, limited.Err() != nil, nil
}

// verdict is what became of a mutant.
type verdict struct {
	mutant
	killed bool
	by     string // the test, or why none could
}

// try runs a mutant with the tests that come by it, suite by suite, cheapest first.
func try(ctx context.Context, m mutant, suites []*suite) (verdict, error) {
	type round struct {
		suite *suite
		names []string
		took  time.Duration
	}
	var rounds []round
	for _, s := range suites {
		r := round{suite: s}
		for _, t := range s.tests {
			if t.reaches[m.id] {
				r.names, r.took = append(r.names, t.name), r.took+t.took
			}
		}
		if len(r.names) > 0 {
			rounds = append(rounds, r)
		}
	}
	slices.SortStableFunc(rounds, func(a, b round) int { return int(a.took - b.took) })
	for _, r := range rounds {
		passed, hung, err := r.suite.run(ctx, startPatience+patience*r.took, r.names, fmt.Sprintf("MUTANT=%d", m.id))
		if err != nil {
			return verdict{}, err
		}
		if !passed {
			by := r.suite.pkg
			if hung {
				by += " (it hung)"
			}
			return verdict{m, true, by}, nil
		}
	}
	if len(rounds) == 0 {
		return verdict{m, false, noTestComesBy}, nil
	}
	return verdict{m, false, "tests pass"}, nil
}
