package metrics_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the reference of metrics and logs anew")

// TestTheReferenceIsFresh holds docs/metrics-and-logs.md to the code: it is made from the
// names, sentences and fields that stand there.
func TestTheReferenceIsFresh(t *testing.T) {
	t.Parallel()
	const path = "../../docs/metrics-and-logs.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fresh := string(page)
	for mark, table := range map[string]string{"metrics": metricsTable(t), "logs": logsTable(t)} {
		before, rest, found := strings.Cut(fresh, "<!-- "+mark+" -->\n")
		_, after, closed := strings.Cut(rest, "<!-- end of "+mark+" -->")
		if !found || !closed {
			t.Fatalf("the page has no place for the table of %s", mark)
		}
		fresh = before + "<!-- " + mark + " -->\n" + table + "<!-- end of " + mark + " -->" + after
	}
	if *update {
		if err := os.WriteFile(path, []byte(fresh), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if fresh != string(page) {
		t.Error("the reference is old: go test ./internal/metrics -run ReferenceIsFresh -update")
	}
}

// walk visits every node of the program's own sources below a folder.
func walk(t *testing.T, folder string, visit func(ast.Node, *ast.FuncDecl)) {
	t.Helper()
	set := token.NewFileSet()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		tree, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, declared := range tree.Decls {
			function, _ := declared.(*ast.FuncDecl)
			ast.Inspect(declared, func(n ast.Node) bool {
				visit(n, function)
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func text(n ast.Node) (string, bool) {
	literal, ok := n.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	value, err := strconv.Unquote(literal.Value)
	return value, err == nil
}

// metricsTable lists each call in this package that begins with the name of a figure.
func metricsTable(t *testing.T) string {
	t.Helper()
	rows, named := map[string]string{}, map[string]bool{}
	walk(t, ".", func(n ast.Node, _ *ast.FuncDecl) {
		if name, ok := text(n); ok && strings.HasPrefix(name, "sepad_") {
			named[name] = true
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		var texts []string
		for _, arg := range call.Args {
			ast.Inspect(arg, func(n ast.Node) bool {
				_, isCall := n.(*ast.CallExpr)
				if value, ok := text(n); ok {
					texts = append(texts, value)
				}
				return !isCall
			})
		}
		if len(texts) < 2 || !strings.HasPrefix(texts[0], "sepad_") {
			return
		}
		labels := "none"
		if function, _ := call.Fun.(*ast.Ident); function != nil && (function.Name == "describe") {
			texts = append(texts, "pool")
		} else if selected, _ := call.Fun.(*ast.SelectorExpr); selected != nil && selected.Sel.Name == "watchStates" {
			texts = append(texts, "state")
		}
		if len(texts) > 2 {
			labels = "`" + strings.Join(texts[2:], "`, `") + "`"
		}
		rows[texts[0]] = fmt.Sprintf("| `%s` | %s | %s | %s |\n", texts[0], kindOf(texts[0]), labels, texts[1])
	})
	if len(rows) != len(named) {
		t.Errorf("%d figures are named, and %d are understood", len(named), len(rows))
	}
	table := "| metric | kind | labels | meaning |\n|---|---|---|---|\n"
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		table += rows[name]
	}
	return table
}

func kindOf(name string) string {
	switch {
	case strings.HasSuffix(name, "_total"):
		return "counter"
	case strings.HasSuffix(name, "_duration_seconds"):
		return "histogram"
	default:
		return "gauge"
	}
}

// logsTable lists each line that the program may log.
func logsTable(t *testing.T) string {
	t.Helper()
	rows := map[string]bool{}
	for _, folder := range []string{"../../internal", "../../cmd"} {
		walk(t, folder, func(n ast.Node, function *ast.FuncDecl) {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return
			}
			selected, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !isLogger(selected.X) {
				return
			}
			if message, level, fields := lineOf(call, selected.Sel.Name, function); message != "" {
				rows[fmt.Sprintf("| %s | %s | %s |\n", message, level, fields)] = true
			}
		})
	}
	if len(rows) < 20 {
		t.Errorf("only %d lines are understood", len(rows))
	}
	return "| line (`msg`) | level | fields |\n|---|---|---|\n" + strings.Join(slices.Sorted(maps.Keys(rows)), "")
}

func isLogger(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return strings.EqualFold(x.Name, "logger") || x.Name == "log" || x.Name == "slog"
	case *ast.SelectorExpr:
		return strings.EqualFold(x.Sel.Name, "logger") || x.Sel.Name == "log"
	case *ast.CallExpr:
		return isLogger(x.Fun)
	default:
		return false
	}
}

// lineOf reads a call of a logger, "" for one that logs nothing.
func lineOf(call *ast.CallExpr, method string, function *ast.FuncDecl) (message, level, fields string) {
	level, withContext := strings.CutSuffix(method, "Context")
	at := 0
	switch {
	case method == "LogAttrs", method == "NewRecord":
		at = 2
	case !slices.Contains([]string{"Debug", "Info", "Warn", "Error"}, level):
		return "", "", ""
	case withContext:
		at = 1
	}
	if len(call.Args) <= at {
		return "", "", ""
	}
	message, known := text(call.Args[at])
	if !known {
		message = "*(a sentence about this process)*"
	}
	var names []string
	if at == 2 {
		level = "by outcome"
		if of, ok := call.Args[1].(*ast.SelectorExpr); ok {
			level = strings.TrimPrefix(of.Sel.Name, "Level")
		}
		names = attributesIn(function)
	} else {
		for i := at + 1; i < len(call.Args); i += 2 {
			if name, ok := text(call.Args[i]); ok {
				names = append(names, name)
			} else {
				names = append(names, attributesIn(call.Args[i])...)
			}
		}
	}
	fields = "none"
	if len(names) > 0 {
		fields = "`" + strings.Join(names, "`, `") + "`"
	}
	return message, strings.ToLower(level), fields
}

// attributesIn are the names that slog's own functions are given.
func attributesIn(n ast.Node) (names []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		selected, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if of, ok := selected.X.(*ast.Ident); ok && of.Name == "slog" {
			if name, ok := text(call.Args[0]); ok && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		return true
	})
	return names
}
