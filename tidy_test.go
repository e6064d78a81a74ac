package sepad_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	maxFunctionLines    = 70
	maxFileLines        = 500
	maxInterfaceMethods = 5
)

// TestTidy holds every file of the project against the rules of the house.
func TestTidy(t *testing.T) {
	t.Parallel()
	files := projectFiles(t)
	sources := projectSources(t, files)
	for _, f := range files {
		report(t, checkMachine(f))
	}
	for _, f := range sources {
		for _, rule := range sourceRules {
			report(t, rule.check(f))
		}
	}
	report(t, checkPackageComments(sources))
	report(t, checkProviderFiles(sources))
	report(t, checkMasking(sources))
}

func report(t *testing.T, findings []finding) {
	t.Helper()
	for _, finding := range findings {
		t.Error(finding)
	}
}

// sourceRules look at one Go file at a time.
var sourceRules = []struct {
	name  string
	check func(source) []finding
}{
	{"imports", checkImports},
	{"SQL", checkSQL},
	{"function length", checkFunctions},
	{"file length", checkFileLength},
	{"interface size", checkInterfaces},
	{"time is passed in", checkClock},
	{"no sleeping in tests", checkSleep},
	{"package names", checkPackageName},
	{"statuses decide in one place", checkStatuses},
	{"gofmt", checkFormat},
}

// A function that does not fit on a screen is not read but scrolled through.
func checkFunctions(f source) (findings []finding) {
	if f.isGenerated() {
		return nil
	}
	for _, declaration := range f.tree.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if lines := f.line(function.End()) - f.line(function.Pos()) + 1; lines > maxFunctionLines {
			findings = append(findings, f.finding(function.Pos(), "function length",
				fmt.Sprintf("%s has %d lines, at most %d: it tells more than one story", function.Name.Name, lines, maxFunctionLines)))
		}
	}
	return findings
}

// A file holds one noun; a longer one hides a second.
func checkFileLength(f source) []finding {
	lines := bytes.Count(f.text, []byte("\n"))
	if f.isGenerated() || lines <= maxFileLines {
		return nil
	}
	return []finding{f.finding(f.tree.Pos(), "file length",
		fmt.Sprintf("the file has %d lines, at most %d: cut it by noun", lines, maxFileLines))}
}

// A wide interface has one implementation and hides it. Ours are abilities.
func checkInterfaces(f source) (findings []finding) {
	if f.isGenerated() {
		return nil
	}
	ast.Inspect(f.tree, func(node ast.Node) bool {
		if kind, ok := node.(*ast.InterfaceType); ok && kind.Methods.NumFields() > maxInterfaceMethods {
			findings = append(findings, f.finding(kind.Pos(), "interface size",
				fmt.Sprintf("the interface has %d methods, at most %d: cut it into abilities", kind.Methods.NumFields(), maxInterfaceMethods)))
		}
		return true
	})
	return findings
}

// Time comes from internal/clock, or a sandbox whose clock is moved would be
// of two minds and a test would have to wait.
func checkClock(f source) []finding {
	if !f.under("internal") || f.isTest() || f.under("internal/clock") || servesTests(f.internalPackage()) {
		return nil
	}
	return f.calls("time", []string{"Now", "Since", "Until"}, "time is passed in", "take the instant or a clock.Clock instead")
}

// startsLikeSQL tells a text that a database would run.
var startsLikeSQL = regexp.MustCompile(`^[` + "`" + `"]\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|COPY) `)

// A Tx takes any statement, so that a use case could write one. What a table looks
// like is known in the rooms of the database alone.
func checkSQL(f source) (findings []finding) {
	from := f.internalPackage()
	if f.isTest() || servesTests(from) || f.under("bench") || slices.Contains(databaseUsers, from) {
		return nil
	}
	ast.Inspect(f.tree, func(node ast.Node) bool {
		if text, ok := node.(*ast.BasicLit); ok && startsLikeSQL.MatchString(text.Value) {
			findings = append(findings, f.finding(text.Pos(), "SQL", "a statement stands with the noun that it is about, in internal/store"))
		}
		return true
	})
	return findings
}

// A sleeping test is slow when it passes and flaky when it matters.
func checkSleep(f source) []finding {
	if !f.isTest() && !servesTests(f.internalPackage()) {
		return nil
	}
	return f.calls("time", []string{"Sleep"}, "no sleeping in tests", "wait for a signal or move a clock")
}

// calls finds uses of a standard package's functions, whatever the file calls
// the package.
func (f source) calls(imported string, functions []string, rule, advice string) (findings []finding) {
	local := ""
	for _, spec := range f.tree.Imports {
		if spec.Path.Value == `"`+imported+`"` {
			local = imported
			if spec.Name != nil {
				local = spec.Name.Name
			}
		}
	}
	ast.Inspect(f.tree, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if owner, ok := selector.X.(*ast.Ident); ok && owner.Name == local && slices.Contains(functions, selector.Sel.Name) {
			findings = append(findings, f.finding(selector.Pos(), rule, imported+"."+selector.Sel.Name+": "+advice))
		}
		return true
	})
	return findings
}

// A package called after nothing in particular collects everything.
func checkPackageName(f source) []finding {
	name := strings.TrimSuffix(f.tree.Name.Name, "_test")
	if !slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "model", "models", "service", "services"}, name) {
		return nil
	}
	return []finding{f.finding(f.tree.Name.Pos(), "package names", name+" names no noun of the business")}
}

// Formatting is decided by the tool, so that nobody has to.
func checkFormat(f source) []finding {
	formatted, err := format.Source(f.text)
	if err != nil || bytes.Equal(formatted, f.text) {
		return nil
	}
	return []finding{f.finding(f.tree.Pos(), "gofmt", "the file is not formatted: make fmt")}
}

// A stranger who opens a package is told its flow before its code.
func checkPackageComments(sources []source) (findings []finding) {
	first := map[string]source{}
	explained := map[string]bool{}
	for _, f := range sources {
		if f.isTest() {
			continue
		}
		if _, seen := first[f.folder]; !seen {
			first[f.folder] = f
		}
		begins := "Package " + f.tree.Name.Name + " "
		if f.tree.Name.Name == "main" {
			begins = "Command " + path.Base(f.folder) + " "
		}
		explained[f.folder] = explained[f.folder] || strings.HasPrefix(f.tree.Doc.Text(), begins)
	}
	for _, folder := range slices.Sorted(maps.Keys(first)) {
		if !explained[folder] {
			f := first[folder]
			findings = append(findings, f.finding(f.tree.Pos(), "package comment",
				"no file of "+folder+` has a comment that begins "Package `+f.tree.Name.Name+`", or "Command …" for a program`))
		}
	}
	return findings
}

// Whoever knows one adapter knows where to look in all others. The sandbox is
// the template: its names are good everywhere, beside these.
func checkProviderFiles(sources []source) (findings []finding) {
	required := []string{"adapter.go", "adapter_test.go", "mapping.go"}
	names := map[string][]string{}
	for _, f := range sources {
		if name := provider(f.folder); name != "" {
			names[name] = append(names[name], path.Base(f.path))
		}
	}
	known := slices.Concat(required, []string{"client.go", "doc.go", "report.go", "server_test.go"}, names["sandbox"])
	for _, name := range slices.Sorted(maps.Keys(names)) {
		folder := "internal/gateway/" + name
		for _, wanted := range required {
			if !slices.Contains(names[name], wanted) {
				findings = append(findings, finding{folder, "adapter files", "there is no " + wanted})
			}
		}
		for _, found := range names[name] {
			if !slices.Contains(known, found) {
				findings = append(findings, finding{folder + "/" + found + ":1", "adapter files", "no other adapter has a file of this name"})
			}
		}
	}
	return findings
}

// machine finds what is true on one machine only: home and scratch folders, and
// the hosts from which somebody's tools fetch packages. The names are taken
// apart so that this file does not find itself.
var machine = regexp.MustCompile(strings.Join([]string{
	`(?:^|[\s"'=:(\x60])/(?:work|root|home/\w+|User` + `s/\w+)/`,
	`[A-Z]:\\User` + `s\\`,
	`\b(?:proxy|sum)\.gol` + `ang\.org`,
	`\bregistry\.(?:npm` + `js\.org|yarn` + `pkg\.com)`,
	`\b(?:pypi\.org|files\.python` + `hosted\.org)`,
	`\b(?:artif` + `actory|jfr` + `og|nex` + `us)[.:/-]`,
}, "|"))

// The project must mean the same on every machine and give nobody's away.
func checkMachine(f file) (findings []finding) {
	if !f.isText() || path.Base(f.path) == "go.sum" {
		return nil
	}
	for number, line := range bytes.Split(f.text, []byte("\n")) {
		if found := machine.Find(line); found != nil {
			findings = append(findings, finding{
				fmt.Sprintf("%s:%d", f.path, number+1), "machine",
				fmt.Sprintf("%q belongs to one machine, not to the project", bytes.TrimSpace(found)),
			})
		}
	}
	return findings
}
