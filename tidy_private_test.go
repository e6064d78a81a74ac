package sepad_test

import (
	"go/ast"
	"maps"
	"regexp"
	"slices"
)

// Types that hold what is personal or secret mask themselves however they are
// printed. They are found by the names of their exported fields, so that a new one
// cannot be forgotten; TestPrivateTypes prints every one of them.

// privateName is what a field of personal data or of a secret is called.
var privateName = regexp.MustCompile(`(?i)^(.*email(key)?|firstname|lastname|holder(name)?|phone|address|city|postalcode|.*ip|useragent|` +
	`iban|.*token|.*secret|.*secrets|password|.*databaseurl|.*replicaurl|redisurl|encryptionkeys|payload|certificates)$`)

// printable are types with such a field that may be seen, and why.
var printable = map[string]string{
	"merchant.Creditor":   "the merchant's own name and address, which every payer is shown",
	"sandbox.TestIBAN":    "accounts that belong to nobody",
	"playedbank.Debit":    "accounts that belong to nobody: it plays a bank in a sandbox",
	"webhook.Sender":      "our own user agent",
	"admin.Admin":         "a part of the program, made once and never printed",
	"admin.OperatorBody":  "an answer for whoever administers operators",
	"webhook.Trial":       "what an event to nobody came to, for whoever has sent it",
	"config.OIDCSettings": "a part of Settings, which prints nothing of itself",
	"admin.TokenBody":     "an answer for the token's owner, who sees it this once",
}

// declaredType is a type of a package with what the rules need to know of it.
type declaredType struct {
	name    string // with its package, such as payment.Lead
	source  source
	spec    *ast.TypeSpec
	methods map[string]bool
}

// declaredTypes finds the types of all programs with their methods.
func declaredTypes(sources []source) map[string]*declaredType {
	types := map[string]*declaredType{}
	for _, f := range programSources(sources) {
		for _, declaration := range f.tree.Decls {
			general, ok := declaration.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range general.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					name := f.tree.Name.Name + "." + spec.Name.Name
					types[name] = &declaredType{name: name, source: f, spec: spec, methods: map[string]bool{}}
				}
			}
		}
	}
	for _, f := range programSources(sources) {
		for _, declaration := range f.tree.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok || function.Recv == nil {
				continue
			}
			if owner := types[typeName(f, function.Recv.List[0].Type)]; owner != nil {
				owner.methods[function.Name.Name] = true
			}
		}
	}
	return types
}

// programSources are those that tests do not need: what a test prints is seen by
// nobody whose data it could be.
func programSources(sources []source) []source {
	return slices.DeleteFunc(slices.Clone(sources), func(f source) bool {
		return f.isTest() || !f.under("internal") && !f.under("cmd") || servesTests(f.internalPackage()) || f.isGenerated()
	})
}

// typeName is what a type expression names, with its package; slices, arrays and
// maps give their elements, pointers what they point to.
func typeName(f source, expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.Ident:
		return f.tree.Name.Name + "." + e.Name
	case *ast.SelectorExpr:
		if owner, ok := e.X.(*ast.Ident); ok {
			return owner.Name + "." + e.Sel.Name
		}
	case *ast.StarExpr:
		return typeName(f, e.X)
	case *ast.ArrayType:
		return typeName(f, e.Elt)
	case *ast.MapType:
		return typeName(f, e.Value)
	case *ast.IndexExpr:
		return typeName(f, e.X)
	}
	return ""
}

// isRaw tells a field that would be printed as it is: a text, bytes, or an
// address of the network.
func isRaw(expression ast.Expr) bool {
	switch e := expression.(type) {
	case *ast.Ident:
		return e.Name == "string" || e.Name == "byte" || e.Name == "any"
	case *ast.SelectorExpr:
		return e.Sel.Name == "Addr" || e.Sel.Name == "Certificate"
	case *ast.StarExpr:
		return isRaw(e.X)
	case *ast.ArrayType:
		return isRaw(e.Elt)
	case *ast.MapType:
		return isRaw(e.Value)
	}
	return false
}

// privateTypes are those that hold something private themselves, by name. What a
// package keeps to itself, such as the body of an answer or the view of a page, is
// made for one place and left to it.
func privateTypes(types map[string]*declaredType) map[string]*declaredType {
	private := map[string]*declaredType{}
	for name, declared := range types {
		if declared.methods["Format"] {
			private[name] = declared
			continue
		}
		structure, ok := declared.spec.Type.(*ast.StructType)
		if !ok || !declared.spec.Name.IsExported() || printable[name] != "" {
			continue
		}
		for _, field := range structure.Fields.List {
			isMask := len(field.Names) == 0 && typeName(declared.source, field.Type) == "sepa.Masked"
			isPrivate := isRaw(field.Type) && slices.ContainsFunc(field.Names, func(name *ast.Ident) bool {
				return name.IsExported() && privateName.MatchString(name.Name)
			})
			if isMask || isPrivate {
				private[name] = declared
			}
		}
	}
	return private
}

// checkMasking holds private types to all three ways of being printed.
func checkMasking(sources []source) (findings []finding) {
	types := declaredTypes(sources)
	for _, name := range slices.Sorted(maps.Keys(privateTypes(types))) {
		if declared := types[name]; !masks(types, declared) {
			findings = append(findings, declared.source.finding(declared.spec.Pos(), "private data",
				name+" holds what is personal or secret: embed sepa.Masked, or give it Format, LogValue and MarshalText, or say in printable why it may be seen"))
		}
	}
	return findings
}

// masks tells that neither fmt nor JSON nor slog sees more than the type shows,
// by its own methods or by those of a type that it embeds.
func masks(types map[string]*declaredType, d *declaredType) bool {
	if d.methods["Format"] && d.methods["LogValue"] && (d.methods["MarshalText"] || d.methods["MarshalJSON"]) {
		return true
	}
	structure, ok := d.spec.Type.(*ast.StructType)
	return ok && slices.ContainsFunc(structure.Fields.List, func(field *ast.Field) bool {
		embedded := types[typeName(d.source, field.Type)]
		return len(field.Names) == 0 && embedded != nil && masks(types, embedded)
	})
}
