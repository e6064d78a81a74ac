package sepad_test

import (
	"strings"
	"testing"
)

// TestTidyRules shows each rule a file that breaks it, and one that does not:
// a rule that finds nothing anywhere would look just like a tidy project.
func TestTidyRules(t *testing.T) {
	t.Parallel()
	for _, example := range brokenRules {
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()
			findings := checkEverything(t, example.path, example.text)
			if len(findings) != 1 || findings[0].rule != example.rule {
				t.Errorf("want one finding of rule %q, got %v", example.rule, findings)
			}
		})
	}
	for _, example := range keptRules {
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()
			if findings := checkEverything(t, example.path, example.text); len(findings) != 0 {
				t.Errorf("want no finding, got %v", findings)
			}
		})
	}
}

// checkEverything applies all rules to one Go file, but for those that look at
// several files.
func checkEverything(t *testing.T, path, text string) []finding {
	t.Helper()
	parsed, err := parseSource(newFile(path, []byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	findings := checkMachine(parsed.file)
	for _, rule := range sourceRules {
		findings = append(findings, rule.check(parsed)...)
	}
	return findings
}

type example struct {
	name, path, rule, text string
}

var brokenRules = []example{
	{"nobody else compares a status", "internal/checkout/a.go", "statuses decide in one place", "package checkout\n\nfunc f(s payment.SessionStatus) bool { return s == payment.SessionPending }\n"},
	{"nobody else tells statuses apart", "internal/api/a.go", "statuses decide in one place", "package api\n\nfunc f(s payment.OrderStatus) {\n\tswitch s {\n\tcase payment.OrderFailed:\n\t}\n}\n"},
	{"nobody else compares a phase", "internal/store/a.go", "statuses decide in one place", "package store\n\nfunc f(p payment.Phase) bool { return payment.PhaseNone != p }\n"},
	{"the domain may not import the store", "internal/payment/a.go", "imports", "package payment\n\nimport _ \"sepad/internal/store\"\n"},
	{"the domain may not import the clock", "internal/payment/a.go", "imports", "package payment\n\nimport _ \"sepad/internal/clock\"\n"},
	{"the tests of the domain may not import the store", "internal/payment/a_test.go", "imports", "package payment\n\nimport _ \"sepad/internal/store\"\n"},
	{"the domain may not speak HTTP", "internal/payment/a.go", "imports", "package payment\n\nimport _ \"net/http\"\n"},
	{"neighbours may not import each other", "internal/api/a.go", "imports", "package api\n\nimport _ \"sepad/internal/admin\"\n"},
	{"an unknown package may import nothing of ours", "internal/novelty/a.go", "imports", "package novelty\n\nimport _ \"sepad/internal/sepa\"\n"},
	{"a use case may not write a statement", "internal/checkout/a.go", "SQL", "package checkout\n\nconst all = `\n\tSELECT * FROM transactions`\n"},
	{"a use case may not import the database", "internal/checkout/a.go", "imports", "package checkout\n\nimport _ \"sepad/internal/db\"\n"},
	{"the database knows none of our nouns", "internal/db/a.go", "imports", "package db\n\nimport _ \"sepad/internal/payment\"\n"},
	{"the store may not import the sandbox", "internal/store/a.go", "imports", "package store\n\nimport _ \"sepad/internal/gateway/sandbox\"\n"},
	{"checkout may not import the sandbox", "internal/checkout/a.go", "imports", "package checkout\n\nimport _ \"sepad/internal/gateway/sandbox\"\n"},
	{"SQL stays in the store", "internal/checkout/a.go", "imports", "package checkout\n\nimport _ \"github.com/jackc/pgx/v5\"\n"},
	{"a program may not depend on test code", "cmd/sepad/a.go", "imports", "package main\n\nimport _ \"sepad/internal/testenv\"\n"},
	{"a test suite may not import what stands below its package", "internal/gateway/gatewaytest/a.go", "imports", "package gatewaytest\n\nimport _ \"sepad/internal/store\"\n"},
	{"an adapter may not import the store", "internal/gateway/acme/a.go", "imports", "package acme\n\nimport _ \"sepad/internal/store\"\n"},
	{"a function of 71 lines is too long", "internal/sepa/a.go", "function length", "package sepa\n\nfunc long() {\n" + strings.Repeat("\t_ = 1\n", 69) + "}\n"},
	{"a file of 501 lines is too long", "internal/sepa/a.go", "file length", "package sepa\n" + strings.Repeat("\n// x\n", 250)},
	{"an interface of six methods is too wide", "internal/sepa/a.go", "interface size", "package sepa\n\ntype wide interface {\n\tA()\n\tB()\n\tC()\n\tD()\n\tE()\n\tF()\n}\n"},
	{"the time is not read in passing", "internal/store/a.go", "time is passed in", "package store\n\nimport \"time\"\n\nvar at = time.Now()\n"},
	{"the time is not read under another name", "internal/store/a.go", "time is passed in", "package store\n\nimport t \"time\"\n\nvar age = t.Since(start)\n"},
	{"a test does not sleep", "internal/store/a_test.go", "no sleeping in tests", "package store\n\nimport \"time\"\n\nfunc wait() { time.Sleep(1) }\n"},
	{"a package is not called util", "internal/util/a.go", "package names", "package util\n"},
	{"code is formatted", "internal/sepa/a.go", "gofmt", "package sepa\n\nvar  wide = 1\n"},
	{"no home folder is named", "internal/sepa/a.go", "machine", "package sepa\n\n// See /home/" + "ann/notes.\n"},
	{"no package registry is named", "internal/sepa/a.go", "machine", "package sepa\n\n// From registry.npm" + "js.org.\n"},
}

var keptRules = []example{
	{"the store may write a statement", "internal/store/a.go", "", "package store\n\nconst all = `SELECT * FROM transactions`\n"},
	{"a bank's adapter may read its messages", "internal/gateway/bank/a.go", "", "package bank\n\nimport _ \"sepad/internal/iso20022\"\n"},
	{"the store may import the domain", "internal/store/a.go", "", "package store\n\nimport (\n\t_ \"sepad/internal/payment\"\n\t_ \"sepad/internal/vault\"\n)\n"},
	{"the list of adapters may import every adapter", "internal/gateway/adapters/a.go", "", "package adapters\n\nimport _ \"sepad/internal/gateway/acme\"\n"},
	{"a generator may import the package that it serves", "internal/sepa/tablegen/main.go", "", "package main\n\nimport _ \"sepad/internal/sepa\"\n"},
	{"a test of the API may use the whole app", "internal/api/a_test.go", "", "package api_test\n\nimport _ \"sepad/internal/app\"\n"},
	{"a test suite may import the package that it tests", "internal/gateway/sandbox/ledgertest/a.go", "", "package ledgertest\n\nimport (\n\t_ \"sepad/internal/gateway/sandbox\"\n\t_ \"sepad/internal/payment\"\n)\n"},
	{"a test may use test code", "internal/limit/a_test.go", "", "package limit_test\n\nimport _ \"sepad/internal/testenv\"\n"},
	{"a test may read the time", "internal/store/a_test.go", "", "package store\n\nimport \"time\"\n\nvar at = time.Now()\n"},
	{"a function of 70 lines is short enough", "internal/sepa/a.go", "", "package sepa\n\nfunc long() {\n" + strings.Repeat("\t_ = 1\n", 68) + "}\n"},
	{"generated code may be long", "internal/sepa/a.go", "", "// Code generated by a tool. DO NOT EDIT.\n\npackage sepa\n" + strings.Repeat("\n// x\n", 300)},
	{"a path of the interface is no machine's", "internal/api/a.go", "", "package api\n\nconst path = \"/api/v1/work/\"\n"},
}

func TestTidyAcrossFiles(t *testing.T) {
	t.Parallel()

	t.Run("a package without a comment is found", func(t *testing.T) {
		t.Parallel()
		findings := checkPackageComments(parseAll(t, map[string]string{
			"internal/sepa/a.go":    "// Package sepa knows accounts.\npackage sepa\n",
			"internal/sepa/b.go":    "package sepa\n",
			"internal/payment/a.go": "package payment\n",
			"cmd/sepad/main.go":     "// Command sepad is the program.\npackage main\n",
		}))
		expectOne(t, findings, "internal/payment/a.go:1")
	})

	t.Run("an adapter with a file name of its own is found", func(t *testing.T) {
		t.Parallel()
		findings := checkProviderFiles(parseAll(t, map[string]string{
			"internal/gateway/sandbox/adapter.go":      "package sandbox\n",
			"internal/gateway/sandbox/adapter_test.go": "package sandbox\n",
			"internal/gateway/sandbox/mapping.go":      "package sandbox\n",
			"internal/gateway/sandbox/ledger.go":       "package sandbox\n",
			"internal/gateway/acme/adapter.go":         "package acme\n",
			"internal/gateway/acme/adapter_test.go":    "package acme\n",
			"internal/gateway/acme/mapping.go":         "package acme\n",
			"internal/gateway/acme/stuff.go":           "package acme\n",
			"internal/gateway/gateway.go":              "package gateway\n",
		}))
		expectOne(t, findings, "internal/gateway/acme/stuff.go:1")
	})

	t.Run("an adapter without its mapping is found", func(t *testing.T) {
		t.Parallel()
		findings := checkProviderFiles(parseAll(t, map[string]string{
			"internal/gateway/acme/adapter.go":      "package acme\n",
			"internal/gateway/acme/adapter_test.go": "package acme\n",
		}))
		expectOne(t, findings, "internal/gateway/acme")
	})
}

func parseAll(t *testing.T, texts map[string]string) (sources []source) {
	t.Helper()
	for path, text := range texts {
		parsed, err := parseSource(newFile(path, []byte(text)))
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, parsed)
	}
	return sources
}

func expectOne(t *testing.T, findings []finding, where string) {
	t.Helper()
	if len(findings) != 1 || findings[0].where != where {
		t.Errorf("want one finding at %s, got %v", where, findings)
	}
}
