package sepad_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// statusTypes are those of whose values the domain alone decides something.
var statusTypes = []string{"SessionStatus", "OrderStatus", "TransactionStatus", "SubscriptionStatus", "Phase"}

// statusConstants are the names of all statuses, as the domain declares them.
var statusConstants = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	folder := filepath.Join("internal", "payment")
	entries, err := os.ReadDir(folder)
	if err != nil {
		panic(err)
	}
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".go") {
			collectConstants(filepath.Join(folder, entry.Name()), names)
		}
	}
	return names
})

func collectConstants(name string, into map[string]bool) {
	tree, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		panic(err)
	}
	ast.Inspect(tree, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); ok && slices.Contains(statusTypes, kind.Name) {
			for _, constant := range spec.Names {
				into[constant.Name] = true
			}
		}
		return true
	})
}

// What a status means is decided by the domain (docs/adr/0001): whoever compares
// one elsewhere writes a second rule, and the two drift. The page's stages are a
// table of what is shown for each status, which decides nothing.
func checkStatuses(f source) (findings []finding) {
	if f.under("internal/payment") || f.isTest() || servesTests(f.internalPackage()) || f.path == "internal/page/stage.go" {
		return nil
	}
	compared := func(all ...ast.Expr) {
		for _, e := range all {
			selector, ok := e.(*ast.SelectorExpr)
			if !ok {
				continue
			}
			if owner, ok := selector.X.(*ast.Ident); ok && owner.Name == "payment" && statusConstants()[selector.Sel.Name] {
				findings = append(findings, f.finding(selector.Pos(), "statuses decide in one place",
					"payment."+selector.Sel.Name+" is compared: ask a method of the noun instead"))
			}
		}
	}
	ast.Inspect(f.tree, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				compared(n.X, n.Y)
			}
		case *ast.CaseClause:
			compared(n.List...)
		}
		return true
	})
	return findings
}
