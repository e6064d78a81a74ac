package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strconv"
	"strings"
)

var (
	sqlStart = regexp.MustCompile(`\b(SELECT|UPDATE|DELETE|INSERT)\s|^\s*(AND|WHERE)\s`)
	// sqlWord is where a condition may begin or end.
	sqlWord = regexp.MustCompile(`^(WHERE|AND|OR|ORDER BY|GROUP BY|LIMIT|RETURNING|ON CONFLICT|UNION|FOR UPDATE|SET|THEN|WHEN|END|ELSE)\b`)
	// sqlEnd is how a condition ends that does not go on in the next text.
	sqlEnd = regexp.MustCompile(`(\$\d+|NULL|'|\)|\b\d+)\s*$`)
)

// clause is a condition within a text of SQL.
type clause struct{ from, until int }

// conditions are the conditions that WHERE and AND begin, each up to its end.
func conditions(text string) (found []clause) {
	var open []clause // by depth of brackets, from < 0 where no condition is open
	current := clause{from: -1}
	end := func(at int) {
		if current.from >= 0 {
			found = append(found, clause{current.from, at})
		}
		current = clause{from: -1}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '(':
			open = append(open, current)
			current = clause{from: -1}
		case c == ')':
			end(i)
			if len(open) > 0 {
				current, open = open[len(open)-1], open[:len(open)-1]
			}
		case i == 0 || !isLetter(text[i-1]):
			word := sqlWord.FindString(text[i:])
			if word == "" {
				continue
			}
			end(i)
			i += len(word) - 1
			if word == "WHERE" || word == "AND" {
				current = clause{from: i + 1}
			}
		}
	}
	end(len(text))
	return found
}

func isLetter(c byte) bool { return c == '_' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }

// sql makes each condition of a query true. It stays in the text, so that the
// parameters keep their types.
func (f *finder) sql(n *ast.BasicLit, parent ast.Node) {
	text, err := strconv.Unquote(n.Value)
	if err != nil || !sqlStart.MatchString(text) {
		return
	}
	continued := false
	if sum, ok := parent.(*ast.BinaryExpr); ok {
		continued = sum.Op == token.ADD
	}
	type change struct {
		id   int
		text string
	}
	var changes []change
	for _, c := range conditions(text) {
		condition := strings.TrimSpace(text[c.from:c.until])
		if condition == "" || continued && c.until == len(text) && !sqlEnd.MatchString(condition) || strings.Count(condition, "(") != strings.Count(condition, ")") ||
			strings.Contains(condition, "%") {
			continue
		}
		changed := text[:c.from] + " (" + condition + " OR 1 = 1) " + text[c.until:]
		id := f.add("make true "+shorten(condition)+" of", n, strconv.Quote(shorten(changed)))
		last := &f.mutants[len(f.mutants)-1]
		last.before, last.after = condition, "(true)"
		changes = append(changes, change{id, changed})
	}
	for _, c := range changes {
		f.wrap(n, fmt.Sprintf("mutant_.Pick(%d, ", c.id), ", "+strconv.Quote(c.text)+")")
	}
}

// sqlVariables are the declarations of constants that hold SQL and can as well be
// variables: nothing but text, and not part of another constant, as one with a public
// name may be in another package.
func sqlVariables(pkg *packageOf) map[*ast.GenDecl]bool {
	found, declares := map[*ast.GenDecl]bool{}, map[types.Object]*ast.GenDecl{}
	for _, file := range pkg.syntax {
		for _, decl := range file.Decls {
			general, ok := decl.(*ast.GenDecl)
			if !ok || general.Tok != token.CONST || !isText(pkg, general, declares) {
				continue
			}
			found[general] = true
		}
	}
	for _, file := range pkg.syntax {
		ast.PreorderStack(file, nil, func(n ast.Node, stack []ast.Node) bool {
			name, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			used := declares[pkg.info.Uses[name]]
			for _, around := range stack {
				if general, ok := around.(*ast.GenDecl); ok && general.Tok == token.CONST && used != nil && !found[general] {
					delete(found, used)
				}
			}
			return true
		})
	}
	return found
}

func isText(pkg *packageOf, decl *ast.GenDecl, declares map[types.Object]*ast.GenDecl) bool {
	holdsSQL := false
	for _, spec := range decl.Specs {
		value := spec.(*ast.ValueSpec)
		if len(value.Values) != len(value.Names) {
			return false
		}
		for i, name := range value.Names {
			basic, ok := pkg.info.TypeOf(value.Values[i]).(*types.Basic)
			if !ok || basic.Info()&types.IsString == 0 || value.Type != nil || name.IsExported() {
				return false
			}
			ast.Inspect(value.Values[i], func(n ast.Node) bool {
				if literal, ok := n.(*ast.BasicLit); ok && sqlStart.MatchString(strings.Trim(literal.Value, "`\"")) {
					holdsSQL = true
				}
				return true
			})
			declares[pkg.info.Defs[name]] = decl
		}
	}
	return holdsSQL
}
