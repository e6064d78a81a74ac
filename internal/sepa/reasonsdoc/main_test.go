package main

import (
	"os"
	"strings"
	"testing"

	"sepad/internal/sepa"
)

func TestDocumentIsFresh(t *testing.T) {
	t.Parallel()
	stored, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(stored) != render() {
		t.Error("docs/reason-codes.md does not show the table of today; run: go generate ./internal/sepa/reasonsdoc")
	}
}

func TestEveryConsequenceIsExplained(t *testing.T) {
	t.Parallel()
	text := render()
	for _, reason := range sepa.Reasons() {
		if !strings.Contains(text, "\n| `"+string(reason.Follows)+"` | ") {
			t.Errorf("nobody is told what %s means", reason.Follows)
		}
	}
}
