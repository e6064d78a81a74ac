package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// visit looks at one node; stack are those around it.
func (f *finder) visit(node ast.Node, stack []ast.Node) bool {
	var parent ast.Node
	if len(stack) > 0 {
		parent = stack[len(stack)-1]
	}
	switch n := node.(type) {
	case *ast.GenDecl:
		return n.Tok != token.CONST || f.variables[n]
	case *ast.IfStmt:
		f.condition(n.Cond)
	case *ast.CaseClause:
		f.cases(n, parent, stack)
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.ReturnStmt:
		f.results(n, stack)
	case *ast.CallExpr:
		f.call(n)
	case *ast.KeyValueExpr:
		f.field(n, parent)
	case *ast.BasicLit:
		if n.Kind == token.STRING {
			f.sql(n, parent)
		}
	case ast.Stmt:
		f.statement(n, parent)
	}
	return true
}

// condition turns a condition round, unless that is done where it compares.
func (f *finder) condition(e ast.Expr) {
	if b, ok := e.(*ast.BinaryExpr); ok && (b.Op == token.EQL || b.Op == token.NEQ) || f.isConstant(e) || !f.isBool(e) {
		return
	}
	f.negate(e)
}

func (f *finder) negate(e ast.Expr) {
	id := f.add("negate", e, "!("+f.raw(e)+")")
	f.wrap(e, fmt.Sprintf("mutant_.Not(%d, ", id), ")")
}

// cases turns the conditions of a switch without a value round.
func (f *finder) cases(n *ast.CaseClause, _ ast.Node, stack []ast.Node) {
	const switchAndBlock = 2
	if len(stack) < switchAndBlock {
		return
	}
	if s, ok := stack[len(stack)-switchAndBlock].(*ast.SwitchStmt); !ok || s.Tag != nil {
		return
	}
	for _, e := range n.List {
		f.condition(e)
	}
}

// arithmetic has the function of the runtime for an operator, and what it becomes.
var arithmetic = map[token.Token][2]string{token.ADD: {"Plus", "-"}, token.SUB: {"Minus", "+"}, token.MUL: {"Times", ""}}

func (f *finder) binary(n *ast.BinaryExpr) {
	if f.isConstant(n) {
		return
	}
	switch n.Op {
	case token.LAND, token.LOR:
		f.operand(n, n.X)
		f.operand(n, n.Y)
	case token.EQL, token.NEQ:
		if f.isBool(n) {
			f.negate(n)
		}
	case token.LSS, token.GTR, token.LEQ, token.GEQ:
		f.boundary(n)
	case token.ADD, token.SUB, token.MUL:
		change := arithmetic[n.Op]
		if !f.isNumber(n) {
			return
		}
		after := f.raw(n.X)
		if change[1] != "" {
			after += " " + change[1] + " " + f.raw(n.Y)
		}
		id := f.add("arithmetic", n, after)
		f.wrap(n, fmt.Sprintf("mutant_.%s(%d, ", change[0], id), ")")
		f.swap(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), ",")
	}
}

// operand leaves one side of a condition out.
func (f *finder) operand(n *ast.BinaryExpr, side ast.Expr) {
	other := n.X
	if side == n.X {
		other = n.Y
	}
	id := f.add("leave out "+shorten(f.raw(side))+" of", n, f.raw(other))
	if n.Op == token.LAND {
		f.wrap(side, "(", fmt.Sprintf(" || mutant_.Is(%d))", id))
		return
	}
	f.wrap(side, "((", fmt.Sprintf(") && !mutant_.Is(%d))", id)) // the side may itself be one or the other
}

// boundary moves a comparison by the one value at which both are equal.
func (f *finder) boundary(n *ast.BinaryExpr) {
	if !f.isBool(n) || holdsFunction(n) {
		return
	}
	other := map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}[n.Op]
	x, y := f.raw(n.X), f.raw(n.Y)
	id := f.add("boundary", n, x+" "+other+" "+y)
	if n.Op == token.LSS || n.Op == token.GTR {
		f.wrap(n, "(", fmt.Sprintf(" || mutant_.Is(%d) && %s == %s)", id, x, y))
		return
	}
	f.wrap(n, "(", fmt.Sprintf(" && !(mutant_.Is(%d) && %s == %s))", id, x, y))
}

func holdsFunction(n ast.Node) (found bool) {
	ast.Inspect(n, func(inner ast.Node) bool {
		_, function := inner.(*ast.FuncLit)
		found = found || function
		return !found
	})
	return found
}

// results drops errors that are returned, and turns booleans round, but for those that nobody reads: a true or false beside
// an error.
func (f *finder) results(n *ast.ReturnStmt, stack []ast.Node) {
	for _, e := range n.Results {
		switch {
		case f.isError(e) && !f.isConstant(e):
			id := f.add("drop the error of", e, "nil")
			f.wrap(e, fmt.Sprintf("mutant_.Error(%d, ", id), ")")
		case f.isBool(e) && !f.isReadAfterCall(e, n.Results) && !(f.isConstant(e) && f.hasFailed(stack)):
			if b, ok := e.(*ast.BinaryExpr); !ok || b.Op != token.EQL && b.Op != token.NEQ {
				f.negate(e)
			}
		}
	}
}

// hasFailed tells that a statement stands right where something has failed.
func (f *finder) hasFailed(stack []ast.Node) bool {
	const failed = "err != nil"
	for _, around := range slices.Backward(stack) {
		switch n := around.(type) {
		case *ast.BlockStmt:
		case *ast.IfStmt:
			return f.raw(n.Cond) == failed
		case *ast.CaseClause:
			return len(n.List) == 1 && f.raw(n.List[0]) == failed
		default:
			return false
		}
	}
	return false
}

// isReadAfterCall tells a variable that a call beside it may fill: it is read after that, and before it if it is handed
// to a function of its own.
func (f *finder) isReadAfterCall(e ast.Expr, results []ast.Expr) bool {
	_, isName := e.(*ast.Ident)
	return isName && !f.isConstant(e) && slices.ContainsFunc(results, func(other ast.Expr) bool {
		_, isCall := other.(*ast.CallExpr)
		return isCall
	})
}

// call changes calls whose meaning is known: contexts that outlive their parent, and
// instants that are compared.
func (f *finder) call(n *ast.CallExpr) {
	selector, ok := n.Fun.(*ast.SelectorExpr)
	if !ok || len(n.Args) != 1 {
		return
	}
	function, ok := f.pkg.info.Uses[selector.Sel].(*types.Func)
	if !ok {
		return
	}
	x, y := f.raw(selector.X), f.raw(n.Args[0])
	switch function.FullName() {
	case "context.WithoutCancel":
		id := f.add("cancel with the caller", n, y)
		f.swap(selector.Pos(), n.Lparen+1, fmt.Sprintf("mutant_.WithoutCancel(%d, ", id))
	case "(time.Time).After", "(time.Time).Before":
		if holdsFunction(n) {
			return
		}
		opposite := map[string]string{"After": "Before", "Before": "After"}[selector.Sel.Name]
		id := f.add("boundary", n, fmt.Sprintf("!%s.%s(%s)", x, opposite, y))
		f.wrap(n, "(", fmt.Sprintf(" || mutant_.Is(%d) && %s.Equal(%s))", id, x, y))
	}
}

// field leaves a field of a struct empty.
func (f *finder) field(n *ast.KeyValueExpr, parent ast.Node) {
	literal, ok := parent.(*ast.CompositeLit)
	if !ok || f.typeOf(literal) == nil {
		return
	}
	structure, ok := f.typeOf(literal).Underlying().(*types.Struct)
	name, isName := n.Key.(*ast.Ident)
	if !ok || !isName || f.isConstant(n.Value) {
		return
	}
	for field := range structure.Fields() {
		if field.Name() != name.Name || !types.Identical(field.Type(), f.typeOf(n.Value)) {
			continue
		}
		id := f.add("leave empty", n, name.Name+": <zero>")
		f.wrap(n.Value, fmt.Sprintf("mutant_.Zero(%d, ", id), ")")
	}
}

// statement leaves a statement out.
func (f *finder) statement(n ast.Stmt, parent ast.Node) {
	switch parent.(type) {
	case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
	default:
		return
	}
	switch s := n.(type) {
	case *ast.ExprStmt:
		if call, ok := s.X.(*ast.CallExpr); !ok || isPanic(call) {
			return
		}
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE || isCommunication(n, parent) {
			return
		}
	case *ast.IncDecStmt:
	default:
		return
	}
	if isCommunication(n, parent) {
		return
	}
	id := f.add("leave out", n, "")
	f.wrap(n, fmt.Sprintf("if !mutant_.Is(%d) { ", id), " }")
}

// isCommunication tells a statement that a select waits for from one of its body.
func isCommunication(n ast.Stmt, parent ast.Node) bool {
	clause, ok := parent.(*ast.CommClause)
	return ok && clause.Comm == n
}

func isPanic(call *ast.CallExpr) bool {
	name, ok := call.Fun.(*ast.Ident)
	return ok && name.Name == "panic"
}
