package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

//go:embed runtime.txt
var runtimeText string

var packageClause = regexp.MustCompile(`(?m)^package \w+`)

// instrumented is a source in which every place asks whether its mutant is on.
func (s *source) instrumented() string {
	var out strings.Builder
	for at := 0; at <= len(s.text); {
		for _, text := range s.closes[at] {
			out.WriteString(text)
		}
		for _, text := range s.opens[at] {
			out.WriteString(text)
		}
		if swapped, ok := s.swaps[at]; ok {
			out.WriteString(swapped.text)
			at = swapped.until
			continue
		}
		if at < len(s.text) {
			out.WriteByte(s.text[at])
		}
		at++
	}
	text := out.String()
	// On the line of the package, so that lines keep their numbers.
	place := packageClause.FindStringIndex(text)[1]
	text = text[:place] + `; import mutant_ "sepad/internal/mutant"` + text[place:]
	if strings.Contains(text, "mutant_.WithoutCancel(") {
		text += "\nvar _ = context.WithoutCancel\n"
	}
	return text
}

// workshop is a folder with instrumented sources and the tests built from them.
type workshop struct{ root, folder, overlay string }

// overlay writes the instrumented sources beside the tree and tells the go command.
func newWorkshop(root, folder string, sources []*source) (workshop, error) {
	w := workshop{root, folder, filepath.Join(folder, "overlay.json")}
	replaced := map[string]string{filepath.Join(root, "internal/mutant/mutant.go"): filepath.Join(folder, "mutant.go")}
	if err := os.WriteFile(filepath.Join(folder, "mutant.go"), []byte(runtimeText), 0o600); err != nil {
		return w, err
	}
	for i, s := range sources {
		copied := filepath.Join(folder, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(copied, []byte(s.instrumented()), 0o600); err != nil {
			return w, err
		}
		replaced[s.path] = copied
	}
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return w, err
	}
	return w, os.WriteFile(w.overlay, text, 0o600)
}

// suite is the tests of one package, built with every mutant in it.
type suite struct {
	pkg, program, folder string
	flags                []string
	tests                []test       // nil until each was run alone
	reaches              map[int]bool // the mutants that any of them comes by
}

// build makes the test program of a package; it is "" where there are no tests.
func (w workshop) build(pkg string) (suite, error) {
	s := suite{pkg: pkg, program: filepath.Join(w.folder, strings.ReplaceAll(pkg, "/", "_")+".test"), folder: filepath.Join(w.root, "internal", pkg)}
	command := exec.Command("go", "test", "-c", "-vet=off", "-overlay", w.overlay, "-o", s.program, "./internal/"+pkg) //nolint:gosec // G204: names of our own packages
	command.Dir = w.root
	if out, err := command.CombinedOutput(); err != nil {
		return s, fmt.Errorf("the tests of %s with mutants in them do not build: %w\n%s", pkg, err, out)
	}
	if _, err := os.Stat(s.program); err != nil {
		s.program = ""
	}
	return s, nil
}
