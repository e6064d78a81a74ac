package sdk_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"sepad"
)

// Types of the libraries, and the schemas of openapi.yaml whose fields they have. A
// name with a dot is an event. Several schemas are one type where some fields are only
// there sometimes.
var (
	goTypes = map[string][]string{
		"SessionRequest": {"SessionCreate"}, "SessionOptions": {"SessionCreate"}, "Lead": {"LeadInput"}, "CreatedSession": {"SessionCreated"},
		"Session": {"Session"}, "Offer": {"OfferDisplay"}, "Result": {"SessionResult"}, "Payment": {"Transaction"}, "Order": {"Order"},
		"Billing": {"Subscription"}, "PaymentMethod": {"PaymentMethod"}, "Decline": {"ErrorDetails"}, "PayRequest": {"PayRequest"},
		"IBANCheck": {"IbanValid", "IbanInvalid"}, "Transaction": {"TransactionDetail", "transaction.status_changed"},
		"RefundRequest": {"RefundRequest"}, "Chargeback": {"ChargebackRecord"}, "Subscription": {"SubscriptionDetail", "subscription.renewed"},
		"Terms": {"SubscriptionChange"}, "Mandate": {"Mandate"}, "Acceptance": {"MandateAcceptance"}, "Event": {"Event"},
		"SessionEvent": {"payment_session.completed"}, "ListedSession": {"ListedSession"},
	}
	scriptTypes = map[string][]string{
		"SessionRequest": {"SessionCreate"}, "SessionOptions": {"SessionCreate"}, "Lead": {"LeadInput"}, "CreatedSession": {"SessionCreated"},
		"Session": {"Session"}, "Order": {"Order"}, "Decline": {"ErrorDetails"}, "PaymentResult": {"PaymentResult"}, "SessionResult": {"SessionResult"},
		"ListedSession": {"ListedSession"}, "Transaction": {"TransactionRecord"}, "TransactionDetail": {"TransactionDetail"},
		"Chargeback": {"ChargebackRecord"}, "Subscription": {"SubscriptionRecord"}, "SubscriptionDetail": {"SubscriptionDetail"},
		"Mandate": {"Mandate"}, "SessionEvent": {"payment_session.completed"}, "Full": {"payment_session.completed"},
	}
)

// propertiesOf are the fields of schemas together.
func propertiesOf(t *testing.T, document *openapi3.T, names []string) map[string]bool {
	t.Helper()
	fields := map[string]bool{}
	for _, name := range names {
		var schema *openapi3.Schema
		if item := document.Webhooks[name]; item != nil {
			schema = item.Post.RequestBody.Value.Content.Get("application/json").Schema.Value
		} else if named := document.Components.Schemas[name]; named != nil {
			schema = named.Value
		} else {
			t.Fatalf("openapi.yaml has no %s", name)
		}
		for field := range schema.Properties {
			fields[field] = true
		}
	}
	return fields
}

func loadDocument(t *testing.T) *openapi3.T {
	t.Helper()
	document, err := openapi3.NewLoader().LoadFromData(sepad.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// goFields are the fields of the exported types of the library for Go, by their names
// in JSON.
func goFields(t *testing.T) map[string][]string {
	t.Helper()
	packages, err := parser.ParseDir(token.NewFileSet(), "go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string][]string{}
	ast.Inspect(packages["sepad"], func(n ast.Node) bool {
		spec, isType := n.(*ast.TypeSpec)
		if !isType {
			return true
		}
		body, isStruct := spec.Type.(*ast.StructType)
		if !isStruct || !spec.Name.IsExported() {
			return false
		}
		for _, field := range body.Fields.List {
			if field.Tag == nil {
				continue
			}
			tag, err := strconv.Unquote(field.Tag.Value)
			if err != nil {
				t.Fatal(err)
			}
			if name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ","); name != "-" {
				fields[spec.Name.Name] = append(fields[spec.Name.Name], name)
			}
		}
		return false
	})
	return fields
}

// scriptFields are those of the interfaces of the library for TypeScript that stand for
// schemas, but for what is nested in a line.
func scriptFields(t *testing.T) map[string][]string {
	t.Helper()
	types, err := os.ReadFile("typescript/sepad.d.ts")
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string][]string{}
	for _, found := range regexp.MustCompile(`(?s)export interface (\w+)[^{]*\{\n(.*?)\n\}`).FindAllStringSubmatch(string(types), -1) {
		for _, field := range regexp.MustCompile(`(?m)^  (\w+)\??:`).FindAllStringSubmatch(found[2], -1) {
			fields[found[1]] = append(fields[found[1]], field[1])
		}
	}
	return fields
}

// TestTheLibrariesFitTheDocument: a field that the document does not know is never
// there, and one that a library does not name differently is spelt wrong.
func TestTheLibrariesFitTheDocument(t *testing.T) {
	t.Parallel()
	document := loadDocument(t)
	for _, library := range []struct {
		name   string
		types  map[string][]string
		fields map[string][]string
	}{{"Go", goTypes, goFields(t)}, {"TypeScript", scriptTypes, scriptFields(t)}} {
		for name, schemas := range library.types {
			known := propertiesOf(t, document, schemas)
			if len(library.fields[name]) == 0 {
				t.Errorf("%s: %s has no fields, or is gone", library.name, name)
			}
			for _, field := range library.fields[name] {
				if !known[field] {
					t.Errorf("%s: %s has %s, which %s does not", library.name, name, field, strings.Join(schemas, " and "))
				}
			}
		}
		for name, fields := range library.fields {
			if library.types[name] == nil && len(fields) > 0 && library.name == "Go" {
				t.Errorf("%s: %s is held to no schema", library.name, name)
			}
		}
	}
}

// TestTypesOfTypeScriptAreWhole: what the document promises of every record, the types
// for TypeScript have.
func TestTypesOfTypeScriptAreWhole(t *testing.T) {
	t.Parallel()
	document, fields := loadDocument(t), scriptFields(t)
	for _, name := range []string{"Transaction", "Subscription"} {
		have := map[string]bool{}
		for _, field := range fields[name] {
			have[field] = true
		}
		for field := range propertiesOf(t, document, scriptTypes[name]) {
			if !have[field] {
				t.Errorf("%s has no %s", name, field)
			}
		}
	}
}
