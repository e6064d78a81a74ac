package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// component is a module in the list of what a program is made of (CycloneDX 1.5).
type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref,omitempty"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
}

func moduleOf(kind, path, number string) component {
	name := "pkg:golang/" + strings.ReplaceAll(url.PathEscape(path), "%2F", "/") + "@" + number
	return component{Type: kind, Ref: name, Name: path, Version: number, PURL: name}
}

// writeInside writes the list of modules beside a program, as its linker has written
// them into it.
func writeInside(program string, v version, p platform) error {
	built, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	main := moduleOf("application", built.Main.Path, v.number)
	modules := []component{moduleOf("library", "std", built.GoVersion)}
	for _, m := range built.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		modules = append(modules, moduleOf("library", m.Path, m.Version))
	}
	text, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata": map[string]any{
			"timestamp": v.date.Format(dateLayout), "component": main,
			"properties": []map[string]string{{"name": "commit", "value": v.commit}, {"name": "platform", "value": p.String()}},
		},
		"components": modules,
	}, "", "  ")
	if err != nil {
		return err
	}
	const public = 0o644
	return os.WriteFile(program+".sbom.json", append(text, '\n'), public)
}

// writeChecksums writes the file that "sha256sum -c" reads.
func writeChecksums(dist string) error {
	names, err := filepath.Glob(filepath.Join(dist, "*"))
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%s  %s\n", sum(text), filepath.Base(name))
	}
	const public = 0o644
	return os.WriteFile(filepath.Join(dist, "SHA256SUMS"), []byte(lines.String()), public)
}
