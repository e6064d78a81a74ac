package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// moneyMoves are the packages whose mistakes cost money.
var moneyMoves = []string{"payment", "billing", "checkout", "store"}

// near are the packages whose tests are asked about every mutant; without any it is
// its own. Those of further packages are asked about what survives.
var near = map[string][]string{
	"payment": {"payment", "checkout", "billing"},
	"store":   {"store", "checkout", "billing"},
}

type options struct {
	packages []string
	sample   int
	seed     string
	match    string
	share    int
	list     bool
	own      bool
}

func main() {
	var o options
	packages := flag.String("packages", "", "packages, as ./internal/store; those that move money where there are none")
	flag.IntVar(&o.sample, "n", 40, "mutants of each package, 0 for all")
	flag.StringVar(&o.seed, "seed", "1", "another seed takes another sample")
	flag.StringVar(&o.match, "match", "", "only mutants whose key holds this text")
	flag.IntVar(&o.share, "share", 90, "how many of 100 must be killed")
	flag.BoolVar(&o.own, "own", false, "run the tests of the mutant's own package alone")
	flag.BoolVar(&o.list, "list", false, "list the mutants and run nothing")
	flag.Parse()
	for name := range strings.FieldsSeq(*packages) {
		o.packages = append(o.packages, strings.TrimSuffix(strings.TrimPrefix(name, "./internal/"), "/"))
	}
	if o.packages == nil {
		o.packages = moneyMoves
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	enough, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	if !enough {
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (enough bool, err error) {
	root, err := os.Getwd()
	if err != nil {
		return false, err
	}
	known, err := readEquivalents(filepath.Join(root, "mutate/equivalent.txt"))
	if err != nil {
		return false, err
	}
	mutants, sources, err := findAll(root, o)
	if err != nil {
		return false, err
	}
	if o.list {
		for _, m := range mutants {
			fmt.Println(m.key)
		}
		return true, nil
	}
	folder, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(folder)
	shop, err := newWorkshop(root, folder, sources)
	if err != nil {
		return false, err
	}
	suites := map[string]*suite{}
	enough = true
	for _, pkg := range o.packages {
		near, err := shop.prepare(ctx, pkg, o.own, suites)
		if err != nil {
			return false, err
		}
		chosen := choose(mutants, pkg, o, known)
		verdicts, err := tryAll(ctx, chosen, near)
		if err != nil {
			return false, err
		}
		if !o.own {
			if err := shop.tryFurther(ctx, pkg, verdicts, near, suites); err != nil {
				return false, err
			}
		}
		enough = report(pkg, verdicts, o.share) && enough
	}
	return enough, nil
}

func findAll(root string, o options) (mutants []mutant, sources []*source, err error) {
	loaded, err := load(root, o.packages)
	if err != nil {
		return nil, nil, err
	}
	next := 0
	for _, pkg := range loaded {
		found, changed, err := mutate(root, pkg, &next)
		if err != nil {
			return nil, nil, err
		}
		mutants, sources = append(mutants, found...), append(sources, changed...)
	}
	return mutants, sources, nil
}

// prepare builds and runs the tests that are near to a package.
func (w workshop) prepare(ctx context.Context, pkg string, own bool, suites map[string]*suite) (found []*suite, err error) {
	names := near[pkg]
	if names == nil || own {
		names = []string{pkg}
	}
	for _, name := range names {
		if suites[name] == nil {
			s, err := w.build(name)
			if err != nil {
				return nil, err
			}
			if err := s.learn(ctx, w.folder); err != nil {
				return nil, err
			}
			suites[name] = &s
		}
		found = append(found, suites[name])
	}
	return found, nil
}

// choose takes a sample of a package's mutants that depends on the seed alone, and
// changes little when the code does: each mutant has its own place in the order.
func choose(all []mutant, pkg string, o options, equivalent map[string]string) (chosen []mutant) {
	for _, m := range all {
		if _, same := equivalent[m.key]; m.pkg == pkg && !same && strings.Contains(m.key, o.match) {
			chosen = append(chosen, m)
		}
	}
	place := func(m mutant) uint64 {
		h := fnv.New64a()
		fmt.Fprint(h, o.seed, m.key)
		return h.Sum64()
	}
	slices.SortStableFunc(chosen, func(a, b mutant) int { return cmp.Compare(place(a), place(b)) })
	if o.sample > 0 && len(chosen) > o.sample {
		chosen = chosen[:o.sample]
	}
	slices.SortFunc(chosen, func(a, b mutant) int { return cmp.Compare(a.id, b.id) })
	return chosen
}

func tryAll(ctx context.Context, chosen []mutant, suites []*suite) (verdicts []verdict, err error) {
	for _, m := range chosen {
		v, err := try(ctx, m, suites)
		if err != nil {
			return nil, err
		}
		verdicts = append(verdicts, v)
	}
	living := survivors(verdicts)
	fmt.Printf("  %d of %d mutants live after the near tests\n", len(living), len(verdicts))
	for _, v := range living {
		fmt.Printf("    %s (%s)\n", v.key, v.by) // the further tests may take hours, and be broken off
	}
	return verdicts, nil
}
