package apptest

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"sepad/internal/testenv"
)

// Main runs the tests of a package that must see everything that openapi.yaml
// promises: an operation's status that no test has met is a failure. A run of
// some tests only, or without the servers, is not held to that.
func Main(m *testing.M) int {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(sideBySide)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if code != 0 || !complete() {
		return code
	}
	doc, err := document()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	missing := doc.unseen()
	slices.Sort(missing)
	for _, name := range missing {
		fmt.Fprintf(os.Stderr, "FAIL: openapi.yaml documents %s, and no test has seen it\n", name)
		code = 1
	}
	return code
}

// complete tells that every test was asked for and could run.
func complete() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	return os.Getenv(testenv.PostgresVariable) != "" && os.Getenv(testenv.RedisVariable) != ""
}
