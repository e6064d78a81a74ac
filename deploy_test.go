package sepad_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"sepad/internal/config"
)

// TestDeployNamesRealSettings holds the examples in deploy/ to the settings: one that is
// not known would stop the start.
func TestDeployNamesRealSettings(t *testing.T) {
	t.Parallel()
	var known []string
	for _, s := range config.All() {
		known = append(known, s.Name)
	}
	seen := 0
	for _, f := range projectFiles(t) {
		if !f.under("deploy") {
			continue
		}
		for _, name := range regexp.MustCompile(`SEPAD_[A-Z_]*[A-Z]`).FindAllString(string(f.text), -1) {
			seen++
			if !slices.Contains(known, strings.TrimSuffix(name, "_FILE")) {
				t.Errorf("%s names %s, which is no setting", f.path, name)
			}
		}
		if strings.HasSuffix(f.path, ".yaml") && !strings.Contains(f.path, "/templates/") {
			var document any
			if err := yaml.Unmarshal(f.text, &document); err != nil {
				t.Errorf("%s: %v", f.path, err)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d settings are named in deploy/", seen)
	}
}

// TestContainersHaveWhereFilesLie holds the containers, whose own files cannot be written, to a
// place for what a bank sends: without it no answer of a bank could be taken in.
func TestContainersHaveWhereFilesLie(t *testing.T) {
	t.Parallel()
	readOnly := regexp.MustCompile(`(?m)^\s*(read_only|readOnlyRootFilesystem): true$`)
	place := regexp.MustCompile(`tmpfs: \[/tmp\]|mountPath: /tmp\}`)
	seen := 0
	for _, f := range projectFiles(t) {
		if !f.under("deploy") || !readOnly.Match(f.text) {
			continue
		}
		seen++
		if !place.Match(f.text) {
			t.Errorf("%s has a container that cannot write, and no /tmp", f.path)
		}
	}
	if seen < 2 {
		t.Errorf("only %d files have such containers", seen)
	}
}

// TestCaddyLeavesBodiesToTheService: it answers a body that is larger than its own limit with a 502, where the contract has a 413.
func TestCaddyLeavesBodiesToTheService(t *testing.T) {
	t.Parallel()
	for _, f := range projectFiles(t) {
		if f.under("deploy") && strings.HasSuffix(f.path, "Caddyfile") && strings.Contains(string(f.text), "max_size") {
			t.Errorf("%s limits bodies", f.path)
		}
	}
}
