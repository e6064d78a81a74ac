package sepad_test

import (
	"path"
	"slices"
	"strings"
)

// The import table. Imports point upward only: a package may use those that
// stand above it, never one below or beside it, so that a reader can begin at
// the top and meet nothing that is not yet explained. Changing the table takes
// an ADR that says why. Packages may stand here before they exist.
var (
	facts  = []string{"sepa"}
	domain = join(facts, "payment", "clock")
	nouns  = join(domain, "record", "merchant")
	edges  = join(nouns, "gateway", "vault", "limit", "metrics", "trace", "cache", "turn")
	// stored is what lies in the database; db itself, which takes any SQL, is for
	// the few packages below that speak it.
	stored   = join(edges, "store", "store/listing")
	useCases = join(stored, "webhook", "setup", "checkout", "billing", "recon", "banking", "people", "notice", "privacy", "timeline")
	// design is what pages look alike by; only what answers requests needs it. The
	// sandbox is known to what shows its test accounts and its bank page.
	serving = join(useCases, "jobs", "web", "design", "locale", "gateway/sandbox", "gateway/adapters")

	allowedImports = map[string][]string{
		"sepa":     {},
		"clock":    {},
		"cache":    {},
		"payment":  facts, // the domain is pure: not even the clock
		"iso20022": facts, // the messages of banks, without business
		// What is exported and what is set up.
		"record":   domain,
		"merchant": domain,
		"locale":   domain, // how languages write money and dates
		// The outer world.
		"gateway":                  nouns,
		"gateway/sandbox":          join(nouns, "gateway"),
		"gateway/sandbox/ledgerdb": join(nouns, "gateway", "gateway/sandbox", "db", "vault"),
		"gateway/bank":             join(nouns, "gateway", "gateway/bank/terms", "iso20022"),
		"gateway/adapters":         join(nouns, "gateway", "gateway/*"),
		// The played bank is a second opinion: it shares no code with iso20022, and
		// only its tests hold one against the other.
		"gateway/bank/playedbank": join(nouns, "gateway", "gateway/sandbox"),
		"gateway/bank/terms":      join(nouns, "gateway", "iso20022"),
		"vault":                   {},
		"limit":                   {"clock"},
		"metrics":                 nouns,
		"trace":                   {},
		"turn":                    {},
		"design":                  {},
		// The database, and what lies in it.
		"db":               {"clock", "turn"},
		"store":            join(edges, "db"),
		"store/listing":    join(edges, "db", "store"),
		"store/migrations": {},
		// The use cases.
		"webhook":       stored,
		"setup":         stored,
		"people":        stored,
		"timeline":      stored, // the story that is told of what is stored
		"notice":        join(stored, "notice/letter"),
		"notice/letter": join(stored, "locale"),
		"privacy":       join(stored, "webhook"), // it takes persons out of events
		"checkout":      join(stored, "webhook", "setup", "notice"),
		"billing":       join(stored, "webhook", "setup", "checkout"),
		"recon":         join(stored, "webhook", "setup", "checkout"),
		"backup":        join(stored, "db"), // the copy is the database's
		"banking":       join(stored, "webhook", "checkout", "iso20022", "gateway/bank", "gateway/bank/*", "banking/place"),
		"banking/place": {"gateway/bank/terms"},
		"jobs":          join(useCases, "db"), // the queue is the database's
		"door":          {"clock"},            // what stands before net/http
		"web":           join(stored, "door"), // every handler stands on web, so web knows no use case
		// What answers requests.
		"api":                      serving,
		"admin":                    serving,
		"page":                     serving,
		"dashboard":                serving,
		"docsite":                  serving,
		"gateway/sandbox/bankpage": serving,
		// Settings become the values that parts are made of, and their defaults
		// stand with those parts.
		"config": join(nouns, "gateway", "vault", "limit", "web", "webhook", "checkout", "notice"),
		"app":    {"*"},
		// For tests alone.
		"store/storetest": join(stored, "db", "gateway/sandbox"), // it audits the sandbox's books too
		"testenv":         {"testenv/server"},
		"testenv/server":  {},
	}

	// testsAlso is what the tests of a package may import beyond the package.
	testsAlso = map[string][]string{"gateway/bank/playedbank": {"iso20022"}, "gateway/bank/terms": {"gateway/bank"}}

	// pureModules are all that the packages without side effects may use beyond
	// the parts of the standard library that do nothing but compute. The bank
	// directory may be a file of the operator's.
	pureModules = map[string][]string{
		"sepa":     {"github.com/rickar/cal/v2", "golang.org/x/text", "os"},
		"clock":    {},
		"iso20022": {"golang.org/x/text"},
		"payment":  {"github.com/google/uuid", "golang.org/x/net/idna", "golang.org/x/text/unicode/norm"},
		"record":   {"github.com/google/uuid"},
		"merchant": {"github.com/google/uuid", "go.yaml.in/yaml/v3"},
		"locale":   {},
	}
	sideEffects = []string{"database/sql", "log", "net", "net/http", "os", "os/exec"}

	// databaseModules speak SQL; databaseUsers are the packages that may.
	databaseModules = []string{"database/sql", "github.com/jackc/pgx", "github.com/pressly/goose", "modernc.org/sqlite"}
	databaseUsers   = []string{"db", "store", "store/listing", "gateway/sandbox/ledgerdb"}
)

func join(packages []string, more ...string) []string {
	return slices.Concat(packages, more)
}

// checkImports holds a file's imports against the table.
func checkImports(f source) []finding {
	var findings []finding
	for _, spec := range f.tree.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		if reason := refuseImport(f, path); reason != "" {
			findings = append(findings, f.finding(spec.Pos(), "imports", path+" may not be imported here: "+reason))
		}
	}
	return findings
}

// refuseImport says why a file may not import path, or nothing.
func refuseImport(f source, path string) string {
	if inner, ours := strings.CutPrefix(path, "sepad/internal/"); ours {
		return refuseOurs(f, inner)
	}
	from := f.internalPackage()
	if f.isTest() || servesTests(from) || !strings.HasPrefix(f.folder, "internal/") {
		return ""
	}
	if modules, pure := pureModules[from]; pure {
		if (slices.Contains(sideEffects, path) || isForeign(path)) && !anyPrefix(modules, path) {
			return "decisions are pure; SQL, HTTP, files and logs are edges"
		}
	}
	if anyPrefix(databaseModules, path) && !slices.Contains(databaseUsers, from) {
		return "SQL is spoken in internal/db and internal/store alone"
	}
	return ""
}

func refuseOurs(f source, inner string) string {
	from := f.internalPackage()
	if from == inner {
		return ""
	}
	if servesTests(inner) {
		if f.isTest() || servesTests(from) || f.under("bench") {
			return ""
		}
		return "it serves tests, and no program may depend on it"
	}
	if !strings.HasPrefix(f.folder, "internal/") {
		return ""
	}
	allowed, listed := importsAllowed(f)
	if !listed {
		return "package " + from + " is not in the import table"
	}
	if f.isTest() {
		allowed = join(allowed, testsAlso[from]...)
	}
	// The tests of a use case or of what serves it look at the whole app.
	isBlackBox := f.isTest() && (slices.Contains(allowed, "store") || slices.Contains(databaseUsers, from))
	if isBlackBox || anyMatch(allowed, inner) {
		return ""
	}
	return "imports point upward only"
}

// servesTests tells the packages that no program may depend on: testenv, and
// the suites and factories in packages such as storetest.
func servesTests(name string) bool {
	return name == "testenv" || strings.HasPrefix(name, "testenv/") || strings.HasSuffix(name, "test")
}

// importsAllowed looks a file's package up. An adapter that is not listed is as the sandbox. A
// package that serves the tests of the one above it, or a program that generates
// something for it, may use what that one may, and that one itself.
func importsAllowed(f source) (allowed []string, listed bool) {
	from := f.internalPackage()
	allowed, listed = allowedImports[from]
	if !listed && provider(f.folder) != "" {
		return allowedImports["gateway/sandbox"], true
	}
	if !listed && (servesTests(from) || f.tree.Name.Name == "main") {
		parent := path.Dir(from)
		allowed, listed = allowedImports[parent]
		allowed = join(allowed, parent)
	}
	return allowed, listed
}

// anyMatch understands "*" for everything and "gateway/*" for what is below.
func anyMatch(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		prefix, isOpen := strings.CutSuffix(pattern, "*")
		return pattern == path || isOpen && strings.HasPrefix(path, prefix)
	})
}

func anyPrefix(modules []string, path string) bool {
	return slices.ContainsFunc(modules, func(module string) bool {
		return path == module || strings.HasPrefix(path, module+"/")
	})
}

// isForeign tells modules of others by the dot in the host.
func isForeign(path string) bool {
	host, _, _ := strings.Cut(path, "/")
	return strings.Contains(host, ".")
}
