package iso20022test

import (
	"bytes"
	"os/exec"
	"sync"
	"testing"
)

// Second opinions: programs of others that write or read the same messages. They are fetched once, kept among the
// user's caches, and serve tests alone.
var nodePackages = []string{"sepa@3.0.0", "camt-parser@1.1.0"}

// Node runs a script with those packages at hand, gives it input, and returns what it prints. Where they cannot be had
// the test is skipped and says why.
func Node(t testing.TB, script string, input []byte) []byte {
	t.Helper()
	folder, reason := nodeFolder()
	if reason != "" {
		t.Skip("no second opinion on the messages: " + reason)
	}
	command := exec.Command("node", "-e", script)
	command.Dir, command.Stdin = folder, bytes.NewReader(input)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, firstBytes(complaints.Bytes()))
	}
	return output
}

var nodeFolder = sync.OnceValues(func() (folder, reason string) {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return "", program + " is not installed"
		}
	}
	// The number changes with the list of packages.
	return fillOnce("sepad-second-opinions-1", func(fresh string) *exec.Cmd {
		return exec.Command("npm", append([]string{"install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", fresh}, nodePackages...)...)
	})
})
