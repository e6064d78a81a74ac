package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestConditions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`SELECT a FROM b`:              nil,
		`SELECT a FROM b WHERE c = $1`: {"c = $1"},
		`UPDATE a SET b = $2 WHERE c = $1 AND d IS NULL RETURNING e`: {"c = $1", "d IS NULL"},
		`DELETE FROM a WHERE b IN (SELECT c FROM d WHERE e = $1) AND f < $2 ORDER BY g LIMIT 1`: {
			"e = $1", "b IN (SELECT c FROM d WHERE e = $1)", "f < $2",
		},
		` AND a.sandbox <> ''`: {"a.sandbox <> ''"},
	} {
		var got []string
		for _, c := range conditions(text) {
			got = append(got, strings.TrimSpace(text[c.from:c.until]))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// program has one place for each kind of mutant.
const program = `package shop

import (
	"context"
	"errors"
	"time"
)

const guard = " AND owner = $2"

type Order struct{ Total int }

func Pay(ctx context.Context, o Order, due, now time.Time, open bool) (Order, error) {
	if now.Before(due) || !open && o.Total < 1 {
		return o, errors.New("not due")
	}
	switch {
	case o.Total == 7:
		o.Total++
	}
	paid := Order{Total: o.Total + 1}
	write(context.WithoutCancel(ctx), "UPDATE a SET b = 1 WHERE c = $1"+guard)
	return paid, nil
}

func write(context.Context, string) {}

func IsOver(ended, lapsed, late bool) bool { return ended || lapsed || late }

func IsOpen(read func(*bool) error) (open bool, err error) { return open, read(&open) }

func IsPaid(err error) (bool, error) {
	if err != nil {
		return false, err
	}
	return true, nil
}
`

const testOfPay = `package shop

import (
	"testing"
	"time"
)

func TestPay(t *testing.T) {
	now := time.Unix(1, 0)
	if paid, err := Pay(t.Context(), Order{5}, now, now, true); err != nil || paid.Total != 6 {
		t.Fatal(paid, err)
	}
}

func TestIsOver(t *testing.T) {
	if !IsOver(true, false, false) {
		t.Fatal("what has ended is not over")
	}
}

func TestIsOpen(t *testing.T) {
	if open, err := IsOpen(func(open *bool) error { *open = true; return nil }); err != nil || !open {
		t.Fatal(open, err)
	}
}
`

// testOfTill is in another package and notices what testOfPay does not.
const testOfTill = `package till

import (
	"testing"
	"time"

	"sepad/internal/shop"
)

func TestNothingIsPaidForNothing(t *testing.T) {
	now := time.Unix(1, 0)
	if _, err := shop.Pay(t.Context(), shop.Order{}, now, now, false); err == nil {
		t.Fatal("it was paid")
	}
}

func TestAnOrderOfOneIsPaid(t *testing.T) {
	now := time.Unix(1, 0)
	if _, err := shop.Pay(t.Context(), shop.Order{Total: 1}, now, now, false); err != nil {
		t.Fatal(err)
	}
}
`

// newShop lays out a tree with the program and its tests, and finds its mutants.
func newShop(t *testing.T) (workshop, []mutant) {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module sepad\n\ngo 1.26\n", "internal/shop/shop.go": program,
		"internal/shop/shop_test.go": testOfPay, "internal/till/till_test.go": testOfTill,
		"internal/apart/apart_test.go": "package apart\n\nimport \"testing\"\n\nfunc TestFails(t *testing.T) { t.Fatal() }\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mutants, sources, err := findAll(root, options{packages: []string{"shop"}})
	if err != nil {
		t.Fatal(err)
	}
	shop, err := newWorkshop(root, t.TempDir(), sources)
	if err != nil {
		t.Fatal(err)
	}
	return shop, mutants
}

func TestEveryKindOfMutantBuildsAndRuns(t *testing.T) {
	t.Parallel()
	shop, mutants := newShop(t)
	suites, err := shop.prepare(t.Context(), "shop", true, map[string]*suite{})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(suites[0].tests); got != 3 {
		t.Errorf("%d of 3 tests pass without a mutant", got)
	}
	fate := map[string]string{}
	for _, m := range mutants {
		v, err := try(t.Context(), m, suites)
		if err != nil {
			t.Fatal(err)
		}
		fate[strings.TrimPrefix(m.key, "internal/shop/shop.go ")] = v.by
	}
	for key, want := range map[string]string{
		"Pay negate: now.Before(due) || !open && o.Total < 1":          "shop",
		"Pay boundary: now.Before(due)":                                "shop",
		"Pay boundary: o.Total < 1":                                    "no test comes by",
		"Pay leave out !open of: !open && o.Total < 1":                 "tests pass",
		"IsOver leave out ended of: ended || lapsed":                   "shop",
		"IsOver leave out ended || lapsed of: ended || lapsed || late": "shop",
		`Pay drop the error of: errors.New("not due")`:                 "no test comes by",
		"Pay negate: o.Total == 7":                                     "shop",
		"Pay leave out: o.Total++":                                     "no test comes by",
		"Pay leave empty: Total: o.Total + 1":                          "shop",
		"Pay arithmetic: o.Total + 1":                                  "shop",
		"Pay cancel with the caller: context.WithoutCancel(ctx)":       "tests pass",
		`Pay make true c = $1 of: "UPDATE a SET b = 1 WHERE c = $1"`:   "tests pass",
		`- make true owner = $2 of: " AND owner = $2"`:                 "tests pass",
	} {
		if fate[key] != want {
			t.Errorf("%s: %q, want %q", key, fate[key], want)
		}
	}
	for _, isRead := range []bool{true, false} {
		if _, isMutant := fate[fmt.Sprintf("IsPaid negate: %t", isRead)]; isMutant != isRead {
			t.Errorf("what is returned beside an error is read by nobody, and without one it is: %t", isMutant)
		}
	}
	if t.Failed() {
		t.Log(fate)
	}
}

func TestWhatTheNearTestsLetLiveIsTriedWithThoseOfUsers(t *testing.T) {
	t.Parallel()
	shop, mutants := newShop(t)
	suites := map[string]*suite{}
	near, err := shop.prepare(t.Context(), "shop", false, suites)
	if err != nil {
		t.Fatal(err)
	}
	verdicts, err := tryAll(t.Context(), mutants, near)
	if err != nil {
		t.Fatal(err)
	}
	if err := shop.tryFurther(t.Context(), "shop", verdicts, near, suites); err != nil {
		t.Fatal(err)
	}
	fate := map[string]string{}
	for _, v := range verdicts {
		fate[strings.TrimPrefix(v.key, "internal/shop/shop.go ")] = v.by
	}
	for key, want := range map[string]string{
		"Pay boundary: now.Before(due)":                          "shop",
		"Pay boundary: o.Total < 1":                              "till",
		`Pay drop the error of: errors.New("not due")`:           "till",
		"Pay leave out: o.Total++":                               "no test comes by",
		"Pay cancel with the caller: context.WithoutCancel(ctx)": "tests pass",
	} {
		if fate[key] != want {
			t.Errorf("%s: %q, want %q", key, fate[key], want)
		}
	}
	if suites["apart"] != nil {
		t.Error("tests that do not use the package were built")
	}
}
