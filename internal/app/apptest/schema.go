package apptest

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemas are the schemas of a document, each compiled when it is first asked for. The
// library that reads the document would compile one for every exchange, which was a
// fifth of what the tests over HTTP cost.
type schemas struct {
	components *openapi3.Components
	mu         sync.Mutex
	compiled   map[*openapi3.Schema]*jsonschema.Schema
}

func (s *schemas) validate(schema *openapi3.Schema, value any) error {
	compiled, err := s.of(schema)
	if err != nil {
		return fmt.Errorf("the schema cannot be compiled: %w", err)
	}
	return compiled.Validate(value)
}

func (s *schemas) of(schema *openapi3.Schema) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if compiled, known := s.compiled[schema]; known {
		return compiled, nil
	}
	compiled, err := compile(s.components, schema)
	if err == nil {
		s.compiled[schema] = compiled
	}
	return compiled, err
}

// compile sets a schema beside the components that it refers to, as in its document.
func compile(components *openapi3.Components, schema *openapi3.Schema) (*jsonschema.Schema, error) {
	const address, body = "https://sepad.example/openapi.json", "body"
	text, err := json.Marshal(map[string]any{"components": map[string]any{"schemas": components.Schemas}, body: schema})
	if err != nil {
		return nil, err
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	compiler.RegisterFormat(&jsonschema.Format{Name: "uuid", Validate: checkUUID})
	if err := compiler.AddResource(address, document); err != nil {
		return nil, err
	}
	return compiler.Compile(address + "#/" + body)
}

// checkUUID asks for the usual form and the version that all our ids have.
func checkUUID(value any) error {
	const usualForm, ours = 36, 7
	text, isText := value.(string)
	if !isText {
		return nil // that is for the type to refuse
	}
	id, err := uuid.Parse(text)
	if err != nil || len(text) != usualForm || id.Version() != ours {
		return fmt.Errorf("%q is no UUID of version 7", text)
	}
	return nil
}
