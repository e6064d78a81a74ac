// Command kubernetes writes the schemas of Kubernetes' objects for kubeconform, from the
// document of its API (api/openapi-spec/swagger.json in its source).
//
//	kubernetes swagger.json FOLDER
//
// The flow: every definition is made strict, so that a misspelt field is found; each one
// that says which kind it is becomes a file of its own, with the definitions that it
// refers to. Two types are written by hand, for the document says less than the API takes.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "kubernetes:", err)
		os.Exit(1)
	}
}

type definitions map[string]map[string]any

const referencePrefix = "#/definitions/"

// loose are types of which the document says that they are texts.
var loose = map[string]map[string]any{
	"io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"type": []string{"string", "integer"}},
	"io.k8s.apimachinery.pkg.api.resource.Quantity":   {"type": []string{"string", "number"}},
}

func run(arguments []string) error {
	const wanted = 2
	if len(arguments) != wanted {
		return fmt.Errorf("which document, and which folder?")
	}
	text, err := os.ReadFile(arguments[0])
	if err != nil {
		return err
	}
	var document struct{ Definitions definitions }
	if err := json.Unmarshal(text, &document); err != nil {
		return err
	}
	for name, definition := range document.Definitions {
		if by, is := loose[name]; is {
			document.Definitions[name] = by
			continue
		}
		restrict(definition)
	}
	return document.Definitions.write(arguments[1])
}

// restrict refuses fields that are not named.
func restrict(definition map[string]any) {
	if _, says := definition["additionalProperties"]; !says && definition["properties"] != nil {
		definition["additionalProperties"] = false
	}
}

func (d definitions) write(folder string) error {
	for name, definition := range d {
		kinds, _ := definition["x-kubernetes-group-version-kind"].([]any)
		for _, kind := range kinds {
			used := definitions{}
			d.collect(map[string]any{"$ref": referencePrefix + name}, used)
			schema := map[string]any{"$ref": referencePrefix + name, "definitions": used}
			text, err := json.Marshal(schema)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(folder, fileName(kind.(map[string]any))), text, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// collect finds all that a definition refers to.
func (d definitions) collect(value any, into definitions) {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			d.collect(one, into)
		}
	case map[string]any:
		for field, inner := range v {
			target, is := inner.(string)
			name, refers := strings.CutPrefix(target, referencePrefix)
			if field != "$ref" || !is || !refers {
				d.collect(inner, into)
				continue
			}
			if into[name] == nil {
				into[name] = d[name]
				d.collect(d[name], into)
			}
		}
	}
}

// fileName is where kubeconform looks: the kind, the first word of the group, the version.
func fileName(kind map[string]any) string {
	words := []string{fmt.Sprint(kind["kind"])}
	if group, _, _ := strings.Cut(fmt.Sprint(kind["group"]), "."); group != "" {
		words = append(words, group)
	}
	return strings.ToLower(strings.Join(append(words, fmt.Sprint(kind["version"])), "-")) + ".json"
}
