package sepad_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"sepad"
	"sepad/internal/merchant"
	"sepad/internal/people"
)

func load(t *testing.T) *openapi3.T {
	t.Helper()
	document, err := openapi3.NewLoader().LoadFromData(sepad.OpenAPI)
	if err != nil {
		t.Fatalf("load openapi.yaml: %v", err)
	}
	return document
}

// documents are those of both APIs.
func documents(t *testing.T) map[string]*openapi3.T {
	t.Helper()
	operators, err := openapi3.NewLoader().LoadFromData(sepad.AdminAPI)
	if err != nil {
		t.Fatalf("load openapi-admin.yaml: %v", err)
	}
	return map[string]*openapi3.T{"openapi.yaml": load(t), "openapi-admin.yaml": operators}
}

func TestTheDocumentIsValidOpenAPI(t *testing.T) {
	t.Parallel()
	for name, document := range documents(t) {
		if err := document.Validate(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEveryExampleFitsItsSchema(t *testing.T) {
	t.Parallel()
	for name, document := range documents(t) {
		checked := 0
		for place, content := range contents(document) {
			media := content.Get("application/json")
			if media == nil && name == "openapi-admin.yaml" {
				continue // a file or a form
			}
			if media == nil || len(media.Examples) == 0 {
				t.Errorf("%s: %s has no JSON example", name, place)
				continue
			}
			for title, example := range media.Examples {
				checked++
				if err := document.ValidateSchemaJSON(media.Schema.Value, example.Value.Value, openapi3.EnableJSONSchema2020()); err != nil {
					t.Errorf("%s: %s, example %s: %v", name, place, title, err)
				}
			}
		}
		if checked < 40 {
			t.Errorf("%s: only %d examples were checked: the walk has lost its way", name, checked)
		}
	}
}

// contents gives every request and response body of the document by its place.
func contents(document *openapi3.T) map[string]openapi3.Content {
	found := map[string]openapi3.Content{}
	collect := func(path string, item *openapi3.PathItem) {
		for method, operation := range item.Operations() {
			if operation.RequestBody != nil {
				found[method+" "+path+" request"] = operation.RequestBody.Value.Content
			}
			for status, response := range operation.Responses.Map() {
				if response.Value.Content != nil {
					found[method+" "+path+" "+status] = response.Value.Content
				}
			}
		}
	}
	for path, item := range document.Paths.Map() {
		collect(path, item)
	}
	for name, item := range document.Webhooks {
		collect(name, item)
	}
	return found
}

func TestResponsesAreStrict(t *testing.T) {
	t.Parallel()
	document := load(t)

	t.Run("no operation documents a default response", func(t *testing.T) {
		t.Parallel()
		for path, item := range document.Paths.Map() {
			for method, operation := range item.Operations() {
				if operation.Responses.Default() != nil {
					t.Errorf("%s %s has a default response, which admits anything", method, path)
				}
			}
		}
	})

	t.Run("every object that is answered refuses unknown keys", func(t *testing.T) {
		t.Parallel()
		open := map[string]bool{"SessionCreate": true, "LeadInput": true, "PayRequest": true, "VerifyRequest": true, "IbanRequest": true, "FieldMessages": true,
			"RefundRequest": true, "SubscriptionCancel": true, "SubscriptionChange": true, "NewMandateRequest": true, "Metadata": true}
		for name, schema := range document.Components.Schemas {
			if !schema.Value.Type.Is("object") || open[name] {
				continue
			}
			if extra := schema.Value.AdditionalProperties.Has; extra == nil || *extra {
				t.Errorf("schema %s lets undocumented keys through", name)
			}
		}
	})

	t.Run("the result has every key on every outcome", func(t *testing.T) {
		t.Parallel()
		result := document.Components.Schemas["PaymentResult"].Value
		if len(result.Required) != 21 || len(result.Properties) != 21 {
			t.Errorf("PaymentResult has %d required of %d keys, the contract has 21", len(result.Required), len(result.Properties))
		}
	})
}

func TestTheResultSchemaKnowsItsOutcomes(t *testing.T) {
	t.Parallel()
	document := load(t)
	schema := document.Components.Schemas["PaymentResult"].Value
	for _, test := range []struct {
		name, example, key string
		value              any
	}{
		{"a completed result carries no error", "ResultCompleted", "error", "no"},
		{"a completed result says nothing of retries", "ResultCompleted", "retry_allowed", true},
		{"an awaiting result names its address", "ResultAwaitingVerification", "verification_url", nil},
		{"a declined result allows a retry", "ResultDeclined", "retry_allowed", false},
		{"a declined result explains itself", "ResultDeclined", "error_details", nil},
		{"a failed result has no subscription", "ResultFailed", "subscription", map[string]any{}},
		{"a test gateway is never live", "ResultCompleted", "livemode", true},
		{"an undocumented key is refused", "ResultCompleted", "iban", "DE89370400440532013000"},
		{"the reserved creditor identifier is null", "ResultCompleted", "sepa", map[string]any{"mandate_reference": nil, "sequence_type": nil, "creditor_identifier": "DE98ZZZ09999999999"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := map[string]any{}
			for key, value := range document.Components.Examples[test.example].Value.Value.(map[string]any) {
				result[key] = value
			}
			result[test.key] = test.value
			if err := document.ValidateSchemaJSON(schema, result, openapi3.EnableJSONSchema2020()); err == nil {
				t.Errorf("%s = %v was accepted", test.key, test.value)
			}
		})
	}
}

func TestTheCreateRequestKnowsItsModes(t *testing.T) {
	t.Parallel()
	document := load(t)
	schema := document.Components.Schemas["SessionCreate"].Value
	lead := map[string]any{"first_name": "Ada", "last_name": "Keller", "email": "ada@shop.example", "country": "de"}
	const id = "019cac80-1c00-7a10-8000-0000000000c1"
	for _, test := range []struct {
		name  string
		body  map[string]any
		valid bool
	}{
		{"a campaign and a lead are enough", map[string]any{"campaign_id": id, "lead": lead}, true},
		{"a null campaign is direct mode", map[string]any{"campaign_id": nil, "lead": lead}, false},
		{"direct mode takes a number", map[string]any{"gateway_id": id, "amount": 10.5, "currency": "eur", "billing_type": "ONE_OFF", "lead": lead}, true},
		{"direct mode takes a string", map[string]any{"gateway_id": id, "amount": "10.5", "currency": "EUR", "billing_type": "ONE_OFF", "lead": lead}, true},
		{"direct mode needs a gateway", map[string]any{"amount": "10.50", "currency": "EUR", "billing_type": "ONE_OFF", "lead": lead}, false},
		{"null counts as absent", map[string]any{"campaign_id": id, "lead": lead, "amount": nil, "trial_period": nil, "billing_type": nil, "customer_ip": nil}, true},
		{"unknown fields are let through", map[string]any{"campaign_id": id, "lead": lead, "colour": "blue"}, true},
		{"a lead is always needed", map[string]any{"campaign_id": id}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := document.ValidateSchemaJSON(schema, test.body, openapi3.EnableJSONSchema2020())
			if (err == nil) != test.valid {
				t.Errorf("valid = %v, want %v: %v", err == nil, test.valid, err)
			}
		})
	}
}

func TestPathsAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	for path := range load(t).Paths.Map() {
		if !strings.HasPrefix(path, "/api/v1/") || !strings.HasSuffix(path, "/") {
			t.Errorf("path %s must begin with /api/v1/ and end with a slash (contract 4, 9)", path)
		}
	}
}

// TestTheDocumentServesGeneratorsAndReaders holds what client generators and people who paste examples stumble over.
func TestTheDocumentServesGeneratorsAndReaders(t *testing.T) {
	t.Parallel()
	document := load(t)
	if len(document.Servers) != 1 {
		t.Errorf("%d servers are named", len(document.Servers))
	}
	text := string(sepad.OpenAPI)
	webhooks, components := strings.Index(text, "\nwebhooks:\n"), strings.Index(text, "\ncomponents:\n")
	if strings.Contains(text[webhooks:components], "#/components/parameters/") {
		t.Error("a webhook refers to a parameter, which generators prune")
	}
	for _, example := range regexp.MustCompile(`campaign_id: ([0-9a-f-]{36})`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(string(merchant.DemoFile), "id: "+example[1]) {
			t.Errorf("an example names campaign %s, which sepad dev does not have", example[1])
		}
	}
	if strings.Contains(text, "format: email") {
		t.Error("international addresses are taken, and format: email has none")
	}
}

// TestTheOperatorsDocumentNamesEveryRoute holds openapi-admin.yaml to the table that the
// router reads, in both directions, the least role included.
func TestTheOperatorsDocumentNamesEveryRoute(t *testing.T) {
	t.Parallel()
	documented := map[string]string{}
	for path, item := range documents(t)["openapi-admin.yaml"].Paths.Map() {
		for method, operation := range item.Operations() {
			role, _ := operation.Extensions["x-least-role"].(string)
			documented[method+" "+path] = role
		}
	}
	for _, right := range people.Rights {
		if strings.Contains(right.Route, " /dashboard/") {
			continue
		}
		want := string(right.Least)
		if right.Everywhere {
			want += ", for all tenants"
		}
		if got, known := documented[right.Route]; !known {
			t.Errorf("openapi-admin.yaml does not know %s: describe it there, with a schema of its answer", right.Route)
		} else if got != want {
			t.Errorf("openapi-admin.yaml says x-least-role %q of %s, and it is %q", got, right.Route, want)
		}
		delete(documented, right.Route)
	}
	for route := range documented {
		t.Errorf("openapi-admin.yaml names %s, and there is no such route", route)
	}
}

// TestTheOperatorsDocumentSpeaksOfItsOwnFields: what a merchant's request takes says nothing of a field of the same name in
// what an operator is shown.
func TestTheOperatorsDocumentSpeaksOfItsOwnFields(t *testing.T) {
	t.Parallel()
	for _, foreign := range []string{
		"A new session is always pending", "Required in direct mode", "Selects campaign mode", "Wins over", "the same in every delivery",
		"An addition to the contract: the hosted page", "description: ''",
	} {
		if strings.Contains(string(sepad.AdminAPI), foreign) {
			t.Errorf("openapi-admin.yaml says %q", foreign)
		}
	}
}
