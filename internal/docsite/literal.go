package docsite

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// notation is how a language writes values of JSON.
type notation struct {
	key   func(string) string
	words map[string]string
}

var (
	scriptNotation = notation{key: func(name string) string { return name }, words: map[string]string{"true": "true", "false": "false", "null": "null"}}
	pythonNotation = notation{key: quote, words: map[string]string{"true": "True", "false": "False", "null": "None"}}
)

// writeLiteral writes a value in a language's notation.
func writeLiteral(value node, depth int, in notation) string {
	switch {
	case !value.exists() || value.isNull():
		return in.words["null"]
	case value.yaml.Kind == yaml.MappingNode:
		var members []string
		for key, member := range value.pairs() {
			members = append(members, in.key(key)+": "+writeLiteral(member, depth+1, in))
		}
		return enclose("{", "}", members, depth)
	case value.yaml.Kind == yaml.SequenceNode:
		var members []string
		for _, member := range value.items() {
			members = append(members, writeLiteral(member, depth+1, in))
		}
		return enclose("[", "]", members, depth)
	case value.yaml.Tag == "!!bool":
		return in.words[value.value()]
	case value.yaml.Tag == "!!int" || value.yaml.Tag == "!!float":
		return value.value()
	default:
		return quote(value.value())
	}
}

var (
	// numbers are the fields that the library for Go has as numbers.
	numbers = []string{"trial_period", "max_payment_attempts"}
	// options are the fields of what a request of that library embeds.
	options = []string{
		"tenant_reference_id", "return_url", "success_redirect_url", "failure_redirect_url", "product_name", "product_description",
		"language", "metadata",
	}
	initialisms = strings.NewReplacer("Id", "ID", "Url", "URL", "Ip", "IP", "Iban", "IBAN")
)

// goName is the name of a field in the library for Go.
func goName(field string) string {
	if field == "iban_holder_name" {
		return "HolderName"
	}
	var name strings.Builder
	for word := range strings.SplitSeq(field, "_") {
		name.WriteString(initialisms.Replace(strings.ToUpper(word[:1]) + word[1:]))
	}
	return name.String()
}

// goLiteral writes a body as a value of the library for Go.
func goLiteral(kind string, body node, depth int) string {
	var lines, embedded []string
	tabs := strings.Repeat("\t", depth+1)
	for field, value := range body.pairs() {
		line := goName(field) + ": " + goValue(field, value, depth+1) + ","
		if kind == "SessionRequest" && slices.Contains(options, field) {
			embedded = append(embedded, line)
			continue
		}
		lines = append(lines, tabs+line)
	}
	if len(embedded) > 0 {
		lines = append(lines, tabs+"SessionOptions: sepad.SessionOptions{\n"+tabs+"\t"+strings.Join(embedded, "\n"+tabs+"\t")+"\n"+tabs+"},")
	}
	if len(lines) == 0 {
		return "sepad." + kind + "{}"
	}
	return "sepad." + kind + "{\n" + strings.Join(lines, "\n") + "\n" + tabs[1:] + "}"
}

func goValue(field string, value node, depth int) string {
	switch {
	case field == "lead":
		return goLiteral("Lead", value, depth)
	case field == "metadata":
		var pairs []string
		for key, text := range value.pairs() {
			pairs = append(pairs, quote(key)+": "+quote(text.value()))
		}
		return "map[string]string{" + strings.Join(pairs, ", ") + "}"
	case slices.Contains(numbers, field):
		return value.value()
	default:
		return quote(value.value())
	}
}

// python is a call by what the language brings along.
func python(publicURL string, op operation, body node) string {
	text := "import json\nimport os\nimport urllib.request\n\n"
	prefix := ""
	path := pathParameter.ReplaceAllStringFunc(op.Path, func(parameter string) string {
		prefix = "f"
		return "{" + strings.Trim(parameter, "{}") + "}"
	})
	if len(op.query) > 0 {
		path += "?" + op.query.Encode()
	}
	text += "request = urllib.request.Request(\n    " + prefix + quote(publicURL+path) + ",\n    method=" + quote(op.Method) + ",\n"
	var headers []string
	if op.NeedsKey {
		headers = append(headers, `"Authorization": "Bearer " + os.environ["API_KEY"]`)
	}
	if body.exists() {
		headers = append(headers, `"Content-Type": "application/json"`)
		literal := strings.ReplaceAll(writeLiteral(body, 0, pythonNotation), "\n", "\n    ")
		text += "    data=json.dumps(" + literal + ").encode(),\n"
	}
	if len(headers) > 0 {
		text += "    headers={" + strings.Join(headers, ", ") + "},\n"
	}
	return text + ")\nwith urllib.request.urlopen(request) as response:\n    print(json.load(response))"
}
