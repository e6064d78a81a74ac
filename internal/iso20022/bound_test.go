package iso20022

import (
	"strings"
	"testing"
)

func TestPiecesAreBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, want string }{
		"a text":      {"<Document><BkToCstmrStmt><Stmt><Id>" + strings.Repeat("x", 3*maxPiece), "a piece of more"},
		"a comment":   {"<Document><!--" + strings.Repeat("x", 3*maxPiece), "a piece of more"},
		"a tag":       {"<Document " + strings.Repeat("x", 3*maxPiece), "a piece of more"},
		"an envelope": {strings.Repeat("<a>", 2*maxDepth), "nest deeper"},
		"an entry":    {"<Document><BkToCstmrStmt><Stmt><Ntry>" + strings.Repeat("<a>", 2*maxDepth), "nest deeper"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := Read(strings.NewReader(c.file), Visitor{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it is read: %v", err)
			}
		})
	}
}

// TestATextInPieces has a text that comments part a hundred thousand times, which once took minutes.
func TestATextInPieces(t *testing.T) {
	t.Parallel()
	const pieces = 100_000
	file := "<Document><BkToCstmrStmt><Stmt><Id>" + strings.Repeat("a<!---->", pieces) + "</Id><Ntry/></Stmt></BkToCstmrStmt></Document>"
	var id string
	err := Read(strings.NewReader(file), Visitor{Entry: func(e *Entry) error { id = e.Statement.ID; return nil }})
	if err != nil || id != strings.Repeat("a", pieces) {
		t.Errorf("%d characters, %v", len(id), err)
	}
}
