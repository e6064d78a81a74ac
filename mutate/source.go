package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// mutant is one small change.
type mutant struct {
	id       int
	pkg      string // below internal/
	file     string // from the root
	line     int
	key      string // names the change in equivalent.txt, whatever the line
	operator string
	before   string // the changed line or lines
	after    string
}

// source is a file with the changes to be made to its text.
type source struct {
	path, name string // on disk, and from the root
	text       []byte
	opens      map[int][]string // inserted at an offset, outermost first
	closes     map[int][]string // innermost first
	swaps      map[int]swap     // what a stretch of text is replaced by
}

type swap struct {
	until int
	text  string
}

// finder looks for mutants in one package.
type finder struct {
	pkg     *packageOf
	name    string
	src     *source
	inside  string // the function that is looked at
	seen    map[string]int
	next    *int
	mutants []mutant
	// variables are constants of SQL that must be variables to be mutated.
	variables map[*ast.GenDecl]bool
}

// packageOf is a package as the go command knows it, and as its types say.
type packageOf struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly                 bool

	set    *token.FileSet
	syntax []*ast.File
	info   *types.Info
}

// load reads packages with their types. What they import comes from the compiler.
func load(root string, names []string) ([]*packageOf, error) {
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly"}
	for _, name := range names {
		args = append(args, "./internal/"+name)
	}
	command := exec.Command("go", args...) //nolint:gosec // G204: names of our own packages
	command.Dir, command.Stderr = root, os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var wanted []*packageOf
	exports := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		p := &packageOf{set: token.NewFileSet()}
		if err := decoder.Decode(p); err != nil {
			return nil, err
		}
		if exports[p.ImportPath] = p.Export; !p.DepOnly {
			wanted = append(wanted, p)
		}
	}
	for _, p := range wanted {
		if err := p.check(exports); err != nil {
			return nil, err
		}
	}
	return wanted, nil
}

// check finds the types of a package's expressions.
func (p *packageOf) check(exports map[string]string) error {
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(p.set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		p.syntax = append(p.syntax, file)
	}
	p.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(p.set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	_, err := config.Check(p.ImportPath, p.set, p.syntax, p.info)
	return err
}

// mutate finds the mutants of a package and the sources that hold them.
func mutate(root string, pkg *packageOf, next *int) ([]mutant, []*source, error) {
	f := &finder{pkg: pkg, name: strings.TrimPrefix(pkg.ImportPath, "sepad/internal/"), seen: map[string]int{}, next: next}
	f.variables = sqlVariables(pkg)
	var sources []*source
	for i, file := range pkg.syntax {
		path := filepath.Join(pkg.Dir, pkg.GoFiles[i])
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		f.src = &source{
			path: path, name: strings.TrimPrefix(path, root+"/"), text: text,
			opens: map[int][]string{}, closes: map[int][]string{}, swaps: map[int]swap{},
		}
		found := len(f.mutants)
		f.walkFile(file)
		if len(f.mutants) > found {
			sources = append(sources, f.src)
		}
	}
	return f.mutants, sources, nil
}

func (f *finder) walkFile(file *ast.File) {
	for _, decl := range file.Decls {
		f.inside = "-"
		if function, ok := decl.(*ast.FuncDecl); ok {
			f.inside = function.Name.Name
		}
		if general, ok := decl.(*ast.GenDecl); ok && general.Tok == token.CONST {
			if !f.variables[general] {
				continue
			}
			f.swap(general.Pos(), general.Pos()+token.Pos(len("const")), "var")
		}
		ast.PreorderStack(decl, nil, f.visit)
	}
}

func (f *finder) offset(pos token.Pos) int { return f.pkg.set.Position(pos).Offset }

// raw is the text of a node as it stands in the file.
func (f *finder) raw(node ast.Node) string {
	return string(f.src.text[f.offset(node.Pos()):f.offset(node.End())])
}

func (f *finder) swap(from, until token.Pos, text string) {
	f.src.swaps[f.offset(from)] = swap{f.offset(until), text}
}

// wrap puts text before and behind a node.
func (f *finder) wrap(node ast.Node, open, closing string) {
	from, until := f.offset(node.Pos()), f.offset(node.End())
	f.src.opens[from] = append(f.src.opens[from], open)
	f.src.closes[until] = slices.Insert(f.src.closes[until], 0, closing)
}

// add notes a mutant: after is what stands in place of a node.
func (f *finder) add(operator string, node ast.Node, after string) int {
	*f.next++
	position, before := f.pkg.set.Position(node.Pos()), f.raw(node)
	key := fmt.Sprintf("%s %s %s: %s", f.src.name, f.inside, operator, shorten(before))
	f.seen[key]++
	if n := f.seen[key]; n > 1 {
		key = fmt.Sprintf("%s (%d)", key, n)
	}
	from, until := f.offset(node.Pos()), f.offset(node.End())
	start, end := f.lineAround(from, until)
	f.mutants = append(f.mutants, mutant{
		id: *f.next, pkg: f.name, file: f.src.name, line: position.Line, key: key, operator: operator,
		before: string(f.src.text[start:end]), after: string(f.src.text[start:from]) + after + string(f.src.text[until:end]),
	})
	return *f.next
}

// lineAround widens a stretch to whole lines.
func (f *finder) lineAround(from, until int) (start, end int) {
	text := string(f.src.text)
	start = strings.LastIndexByte(text[:from], '\n') + 1
	if end = strings.IndexByte(text[until:], '\n'); end < 0 {
		return start, len(text)
	}
	return start, until + end
}

// shorten makes a text fit into one line of equivalent.txt.
func shorten(text string) string {
	const most = 90
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return text
}

func (f *finder) typeOf(e ast.Expr) types.Type { return f.pkg.info.TypeOf(e) }

func (f *finder) isConstant(e ast.Expr) bool {
	tv := f.pkg.info.Types[e]
	return tv.Value != nil || tv.IsNil()
}

func (f *finder) isBool(e ast.Expr) bool {
	basic, ok := f.typeOf(e).(*types.Basic)
	return ok && basic.Info()&types.IsBoolean != 0
}

func (f *finder) isNumber(e ast.Expr) bool {
	if f.typeOf(e) == nil {
		return false
	}
	basic, ok := f.typeOf(e).Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsNumeric != 0 && basic.Info()&types.IsComplex == 0
}

func (f *finder) isError(e ast.Expr) bool {
	t := f.typeOf(e)
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}
