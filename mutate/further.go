package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// dear are the packages whose tests take minutes: they are asked last, and in this order.
var dear = []string{"api", "dashboard", "admin", "page", "app", "backup"}

// tryFurther tries what the near tests let live with the tests of every other package
// that uses this one, until one of them notices. The programs outside of internal are
// left out: their tests build them anew, without mutants in them.
func (w workshop) tryFurther(ctx context.Context, pkg string, verdicts []verdict, asked []*suite, suites map[string]*suite) error {
	names, err := w.users(ctx, pkg)
	if err != nil {
		return err
	}
	for _, name := range names {
		if slices.ContainsFunc(asked, func(s *suite) bool { return s.pkg == name }) {
			continue
		}
		living := survivors(verdicts)
		if len(living) == 0 {
			return nil
		}
		if err := w.tryWith(ctx, name, living, suites); err != nil {
			return err
		}
	}
	return nil
}

// users are the packages whose tests come to use a package, the dear ones at the end.
func (w workshop) users(ctx context.Context, pkg string) (names []string, err error) {
	list := exec.CommandContext(ctx, "go", "list", "-test", "-f", "{{.ImportPath}} {{join .Deps \" \"}}", "./internal/...")
	list.Dir = w.root
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		name, isTest := strings.CutSuffix(words[0], ".test")
		if isTest && slices.Contains(words[1:], "sepad/internal/"+pkg) {
			names = append(names, strings.TrimPrefix(name, "sepad/internal/"))
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return slices.Index(dear, a) - slices.Index(dear, b) })
	return names, nil
}

func survivors(verdicts []verdict) (living []*verdict) {
	for i := range verdicts {
		if !verdicts[i].killed {
			living = append(living, &verdicts[i])
		}
	}
	return living
}

// tryWith tries mutants with one suite. Which of its tests comes by which mutant is
// learned only where the suite as a whole comes by one of them.
func (w workshop) tryWith(ctx context.Context, name string, living []*verdict, suites map[string]*suite) error {
	s := suites[name]
	if s == nil {
		built, err := w.build(name)
		if err != nil {
			return err
		}
		s, suites[name] = &built, &built
		if err := s.glance(ctx, w.folder); err != nil {
			return err
		}
	}
	living = slices.DeleteFunc(living, func(v *verdict) bool { return !s.reaches[v.id] })
	if len(living) == 0 {
		return nil
	}
	if s.tests == nil {
		if err := s.learn(ctx, w.folder); err != nil {
			return err
		}
	}
	for _, v := range living {
		if err := v.tryAgain(ctx, s); err != nil {
			return err
		}
		if v.killed {
			fmt.Printf("    found by %s: %s\n", v.by, v.key)
		}
	}
	return nil
}

// tryAgain tries a survivor with a further suite. It has to fail twice: these tests
// start whole programs, and a busy machine fails one of them now and then.
func (v *verdict) tryAgain(ctx context.Context, s *suite) error {
	found, err := try(ctx, v.mutant, []*suite{s})
	if err != nil {
		return err
	}
	if found.killed {
		if found, err = try(ctx, v.mutant, []*suite{s}); err != nil {
			return err
		}
	}
	if found.by != noTestComesBy {
		*v = found
	}
	return nil
}

// glance runs a suite once as a whole, to see which mutants it comes by. One that
// fails has not come by all of them, and learns from its tests one by one.
func (s *suite) glance(ctx context.Context, folder string) error {
	if s.program == "" {
		return nil
	}
	log, began := filepath.Join(folder, "reached"), time.Now()
	passed, _, err := s.run(ctx, longest, []string{".*"}, "MUTANT_LOG="+log)
	if err != nil {
		return err
	}
	if s.reaches, err = readIDs(log); err != nil || passed {
		fmt.Printf("  the tests of %s run as a whole in %s\n", s.pkg, time.Since(began).Round(time.Second))
		return err
	}
	return s.learn(ctx, folder)
}
