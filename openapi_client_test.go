package sepad_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// generator makes Go clients of OpenAPI documents.
const generator = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.1"

// TestAGeneratedClientCompiles: what a merchant's generator makes of the document is
// a program. It is brought from where Go modules come from, or the test is left out.
func TestAGeneratedClientCompiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "go.mod"), []byte("module client\n\ngo 1.24\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	document, err := filepath.Abs("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := inFolder(t, folder, "run", generator, "-generate", "types,client", "-package", "client", "-o", "client.go", document); err != nil {
		skipOffline(t, out)
		t.Fatalf("nothing is generated: %v\n%s", err, out)
	}
	if out, err := inFolder(t, folder, "mod", "tidy"); err != nil {
		skipOffline(t, out)
		t.Fatalf("go mod tidy: %v\n%s", err, out)
	}
	if out, err := inFolder(t, folder, "build", "./..."); err != nil {
		t.Errorf("the client does not compile: %v\n%s", err, out)
	}
}

func inFolder(t *testing.T, folder string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// skipOffline leaves the test out where modules cannot be had.
func skipOffline(t *testing.T, out string) {
	t.Helper()
	for _, sign := range []string{"dial tcp", "no such host", "connection refused", "i/o timeout", "module lookup disabled"} {
		if strings.Contains(out, sign) {
			t.Skipf("the generator cannot be fetched here: %s", sign)
		}
	}
}
