package people

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"sepad/internal/store"
)

var update = flag.Bool("update", false, "write docs/rights.md anew")

// TestRightsAreShownInTheDocs holds the page to the table.
func TestRightsAreShownInTheDocs(t *testing.T) {
	t.Parallel()
	const path = "../../docs/rights.md"
	var page strings.Builder
	page.WriteString("# Who may use which route\n\nMade from the table that the routers read (`internal/people/rights.go`). ● may; ○ may, unless bound to some tenants.\n\n")
	page.WriteString("| route | viewer | support | finance | admin |\n|---|---|---|---|---|\n")
	seen := map[string]bool{}
	for _, right := range Rights {
		if seen[right.Route] {
			t.Errorf("%s stands there twice", right.Route)
		}
		seen[right.Route] = true
		page.WriteString("| `" + right.Route + "` |")
		for _, role := range store.Roles {
			mark := "  |"
			if role.Includes(right.Least) {
				mark = " ● |"
				if right.Everywhere {
					mark = " ○ |"
				}
			}
			page.WriteString(mark)
		}
		page.WriteString("\n")
	}
	if *update {
		if err := os.WriteFile(path, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(written, []byte(page.String())) {
		t.Errorf("%s is not what the table says: go test ./internal/people -run Docs -update writes it", path)
	}
}
