package webhook

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"sepad"
	"sepad/internal/payment"
	"sepad/internal/store/storetest"
)

const (
	guidePath     = "../../docs/guides/webhooks.md"
	cataloguePath = "../../docs/guides/events.md"
)

// readers run the guide's code in its language. The driver reads cases from
// standard input and writes, for each, what both ways of checking say.
var readers = []struct {
	language, fence, file string
	command               []string
	driver                string
}{
	{
		"Go", "go", "verify.go", []string{"go", "run"}, `
package main

import (
	"encoding/json"
	"os"
)

func main() {
	var cases []struct{ Secret, Body, Signature string }
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	var results [][2]bool
	for _, c := range cases {
		var payload map[string]any
		_ = json.Unmarshal([]byte(c.Body), &payload)
		anew, _ := json.MarshalIndent(payload, "", "  ")
		results = append(results, [2]bool{verify(c.Secret, []byte(c.Body), c.Signature), verifyParsed(c.Secret, anew, c.Signature)})
	}
	json.NewEncoder(os.Stdout).Encode(results)
}
`,
	},
	{
		"Python", "python", "verify.py", []string{"python3"}, `
import sys
cases = json.load(sys.stdin.buffer)
print(json.dumps([[verify(c["secret"], c["body"].encode(), c["signature"]),
                   verify_parsed(c["secret"], json.loads(c["body"]), c["signature"])] for c in cases]))
`,
	},
	{
		"Node.js", "js", "verify.cjs", []string{"node"}, `
const cases = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(cases.map((c) =>
  [verify(c.secret, c.body, c.signature), verifyParsed(c.secret, JSON.parse(c.body), c.signature)])));
`,
	},
	{
		"PHP", "php", "verify.php", []string{"php"}, `
$results = [];
foreach (json_decode(stream_get_contents(STDIN), true) as $c) {
    $results[] = [verify($c["secret"], $c["body"], $c["signature"]),
        verify_parsed($c["secret"], json_decode($c["body"], true), $c["signature"])];
}
echo json_encode($results);
`,
	},
}

// vector is a body with a signature that is right or not.
type vector struct {
	Secret    string `json:"secret"`
	Body      string `json:"body"`
	Signature string `json:"signature"`
	right     bool
}

func vectors(t *testing.T) (all []vector) {
	t.Helper()
	for _, text := range []string{
		"plain", "R&D", "<b>GmbH</b>", "a\u2028b\u2029c", "😀🏦", "Äöü ß é", "tab\tquote\"back\\slash/", "\x01\x1f\x7f", "𝔘nicode", "e\u0301",
	} {
		s := aSettlement(func(s *payment.Change) {
			s.Transaction.HolderName, s.Transaction.Email, s.Transaction.TenantReferenceID = text, text, &text
		})
		for _, kind := range []payment.EventKind{payment.EventSessionCompleted, payment.EventTransactionCreated} {
			body := payload(t, s, payment.Event{Kind: kind})
			signature := Sign("whsec_"+text, []byte(body))
			all = append(all,
				vector{"whsec_" + text, body, signature, true},
				vector{"whsec_other", body, signature, false},
				vector{"whsec_" + text, strings.Replace(body, "29.99", "0.01", 1), signature, false},
				vector{"whsec_" + text, body, signature[:62] + "00", signature[62:] == "00"})
		}
	}
	return all
}

func TestTheGuidesCode(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile(guidePath)
	if err != nil {
		t.Fatal(err)
	}
	cases := vectors(t)
	input, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range readers {
		t.Run(r.language, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(r.command[0]); err != nil {
				t.Skipf("%s is not installed here: the guide's code for it is not run", r.language)
			}
			// Other blocks are run by whoever pastes the guides.
			code := slices.DeleteFunc(blocks(string(guide), r.fence), func(text string) bool { return !checksParsed.MatchString(text) })
			if len(code) != 1 {
				t.Fatalf("the guide has %d blocks", len(code))
			}
			command := exec.CommandContext(t.Context(), r.command[0], append(r.command[1:], program(t, r.file, code[0], r.driver)...)...)
			command.Stdin = bytes.NewReader(input)
			command.Stderr = os.Stderr
			output, err := command.Output()
			if err != nil {
				t.Fatal(err)
			}
			var results [][2]bool
			if err := json.Unmarshal(output, &results); err != nil || len(results) != len(cases) {
				t.Fatalf("%d results of %d: %v", len(results), len(cases), err)
			}
			for i, got := range results {
				if want := cases[i].right; got != [2]bool{want, want} {
					t.Errorf("raw %v and written anew %v, want %v: %s", got[0], got[1], want, cases[i].Body)
				}
			}
		})
	}
}

// checksParsed finds the code that checks signatures by hand.
var checksParsed = regexp.MustCompile(`(?i)verify_?parsed`)

// program puts a block and its driver into files, one for Go's sake.
func program(t *testing.T, name, code, driver string) []string {
	t.Helper()
	folder := t.TempDir()
	files := map[string]string{name: code + driver}
	if strings.HasSuffix(name, ".go") {
		files = map[string]string{name: "package main\n\n" + code, "main.go": driver}
	}
	var paths []string
	for file, text := range files {
		path := filepath.Join(folder, file)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

// blocks gives the guide's code in a language.
func blocks(guide, fence string) (all []string) {
	for _, found := range regexp.MustCompile("(?s)```"+fence+"\n(.*?)```").FindAllStringSubmatch(guide, -1) {
		all = append(all, found[1])
	}
	return all
}

// TestTheGuidesExamples holds them against the API's document.
func TestTheGuidesExamples(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile(cataloguePath)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range payment.EventKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			_, section, found := strings.Cut(string(guide), "\n### "+string(kind)+"\n")
			if !found {
				t.Fatal("the guide says nothing of it")
			}
			section, _, _ = strings.Cut(section, "\n## ")
			examples := blocks(section, "json")
			if len(examples) == 0 {
				t.Fatal("there is no example")
			}
			fitsDocument(t, kind, examples[0])
		})
	}
}

func TestPayloadsFitTheDocument(t *testing.T) {
	t.Parallel()
	for _, kind := range []payment.EventKind{payment.EventSessionCompleted, payment.EventTransactionCreated, payment.EventTransactionStatusChanged} {
		s := aSettlement(func(s *payment.Change) { s.Session.Token = payment.NewToken(1) })
		fitsDocument(t, kind, payload(t, s, payment.Event{Kind: kind, PreviousStatus: payment.TransactionPending}))
	}
	announced := aSettlement(func(s *payment.Change) {
		s.Plan = payment.Plan{DueDate: payment.DateOf(storetest.Start), CreditorName: "R&D <Shop>", CreditorIdentifier: "DE98ZZZ09999999999"}
	})
	fitsDocument(t, payment.EventCollectionAnnounced, payload(t, announced, payment.Event{Kind: payment.EventCollectionAnnounced}))
	chargeback := payment.Chargeback{
		ID: payment.NewID(), GatewayID: payment.NewID(), MerchantTransactionID: "TXN-20260302-7K2M9QXA", AmountMinor: 2999,
		Currency: "EUR", ReportedAt: storetest.Start, TransactionAt: storetest.Start, Source: payment.ChargebackManual,
		CreatedAt: storetest.Start, UpdatedAt: storetest.Start,
	}
	body, err := Payload(payment.Change{Chargeback: &chargeback}, payment.Event{Kind: payment.EventChargebackCreated})
	if err != nil {
		t.Fatal(err)
	}
	fitsDocument(t, payment.EventChargebackCreated, body)
}

func TestFurtherPayloadsFitTheDocument(t *testing.T) {
	t.Parallel()
	sub := payment.Subscription{
		ID: payment.NewID(), SessionID: payment.NewID(), OrderID: payment.NewID(), LeadID: payment.NewID(), GatewayID: payment.NewID(),
		Status: payment.SubscriptionActive, AmountMinor: 2999, Currency: "EUR", Frequency: payment.Monthly, MandateReference: "MND-7K2M9QXA4TPL",
		StartedAt: storetest.Start, AnchorDate: payment.DateOf(storetest.Start), MandateUsedAt: storetest.Start, CreatedAt: storetest.Start, UpdatedAt: storetest.Start,
	}
	change := aSettlement(func(c *payment.Change) { c.Session.Token, c.Subscription = payment.NewToken(1), &sub })
	for _, kind := range payment.EventKinds {
		if kind.IsKept() {
			continue
		}
		event := payment.Event{Kind: kind, TransactionID: change.Transaction.ID}
		switch kind {
		case payment.EventSessionFailed:
			change.Session.Status = payment.SessionFailed
		case payment.EventSessionExpired:
			change.Session.Status, change.Order = payment.SessionExpired, nil
		}
		fitsDocument(t, kind, payload(t, change, event))
		full, err := FullPayload(change, event, payment.NewMetadata(map[string]string{"cart": "<4711>"}))
		if err != nil {
			t.Fatal(err)
		}
		fitsDocument(t, kind, full)
		if _, err := Payload(payment.Change{}, event); err == nil {
			t.Errorf("%s is told of nothing", kind)
		}
	}
}

var loadDocument = sync.OnceValues(func() (*openapi3.T, error) {
	return openapi3.NewLoader().LoadFromData(sepad.OpenAPI)
})

// fitsDocument holds a body against the schema of its kind.
func fitsDocument(t *testing.T, kind payment.EventKind, body string) {
	t.Helper()
	document, err := loadDocument()
	if err != nil {
		t.Fatal(err)
	}
	item := document.Webhooks[string(kind)]
	if item == nil {
		t.Fatalf("the document does not know %s", kind)
	}
	var value any
	if err := json.Unmarshal([]byte(body), &value); err != nil {
		t.Fatal(err)
	}
	schema := item.Post.RequestBody.Value.Content.Get("application/json").Schema.Value
	if err := document.ValidateSchemaJSON(schema, value, openapi3.EnableJSONSchema2020()); err != nil {
		t.Errorf("%s: %v", kind, err)
	}
}
