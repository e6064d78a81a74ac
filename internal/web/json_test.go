package web

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"sepad/internal/payment"
)

func detailOf(t *testing.T, err error) string {
	t.Helper()
	e, ok := errors.AsType[*payment.Error](err)
	if !ok || e.Kind != payment.Invalid {
		t.Fatalf("want a refusal of bad input, got %v", err)
	}
	return e.Detail
}

func TestBodiesThatAreNoObjectAreRefused(t *testing.T) {
	t.Parallel()
	const notJSON, notObject, twice = "not valid JSON", "must be a JSON object", "gives a field twice"
	const notUnicode, tooDeep = "not valid Unicode", "nested too deeply"
	deep := func(open, closing string, n int) string {
		return `{"a":` + strings.Repeat(open, n) + "1" + strings.Repeat(closing, n) + "}"
	}
	for name, c := range map[string]struct{ body, want string }{
		"nothing":                       {"", notJSON},
		"white space":                   {" \n", notJSON},
		"an array":                      {"[]", notObject},
		"a number":                      {"12", notObject},
		"null":                          {"null", notObject},
		"a string":                      {`"x"`, notObject},
		"an unfinished object":          {`{"a":1`, notJSON},
		"a comma too many":              {`{"a":1,}`, notJSON},
		"a comma too many in an array":  {`{"a":[1,]}`, notJSON},
		"a missing colon":               {`{"a" 1}`, notJSON},
		"a missing value":               {`{"a":}`, notJSON},
		"a name without quotes":         {`{a:1}`, notJSON},
		"single quotes":                 {`{'a':1}`, notJSON},
		"a comment":                     {`{/* */"a":1}`, notJSON},
		"a second object":               {`{} {}`, notJSON},
		"a bracket too many":            {`{}}`, notJSON},
		"a byte order mark":             {"\ufeff{}", notJSON},
		"a zero in front":               {`{"a":01}`, notJSON},
		"a number that ends in a point": {`{"a":1.}`, notJSON},
		"a number that begins with one": {`{"a":.5}`, notJSON},
		"a plus sign":                   {`{"a":+1}`, notJSON},
		"an empty exponent":             {`{"a":1e}`, notJSON},
		"not a number":                  {`{"a":NaN}`, notJSON},
		"half a word":                   {`{"a":tru}`, notJSON},
		"a raw line break":              {"{\"a\":\"x\ny\"}", notJSON},
		"a raw NUL":                     {"{\"a\":\"\x00\"}", notJSON},
		"a raw NUL after an escape":     {"{\"a\":\"\\n\x00\"}", notJSON},
		"an unknown escape":             {`{"a":"\x"}`, notJSON},
		"an unfinished escape":          {`{"a":"\`, notJSON},
		"an unfinished code":            {`{"a":"\u12`, notJSON},
		"a code with a sign":            {`{"a":"\u+123"}`, notJSON},
		"a broken byte":                 {"{\"a\":\"\xff\"}", notUnicode},
		"half a pair":                   {`{"a":"\ud83d"}`, notUnicode},
		"half a pair with another":      {`{"a":"\ud83d\ud83d"}`, notUnicode},
		"half a pair with a letter":     {`{"a":"\ud83d\u0041"}`, notUnicode},
		"a field twice":                 {`{"a":1,"a":1}`, twice + ": a."},
		"a field twice by its code":     {`{"a":1,"\u0061":1}`, twice + ": a."},
		"a nested field twice":          {`{"lead":{"b":1,"b":null}}`, twice + ": b."},
		"a field twice in an array":     {`{"x":[[{"b":1,"b":2}]]}`, twice + ": b."},
		"a long field twice":            {`{"` + strings.Repeat("a", 65) + `":1,"` + strings.Repeat("a", 65) + `":1}`, twice + "."},
		"deep arrays":                   {deep("[", "]", maxDepth), tooDeep},
		"deep objects":                  {deep(`{"a":`, "}", maxDepth), tooDeep},
		"deep and unfinished":           {strings.Repeat("[", 60000), tooDeep},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseObject(c.body)
			if detail := detailOf(t, err); !strings.Contains(detail, c.want) {
				t.Errorf("got %q, want %q", detail, c.want)
			}
		})
	}
}

func TestWhatIsReadIsWhatWasWritten(t *testing.T) {
	t.Parallel()
	object, err := ParseObject(" {\"n\" : -0.50e+1 ,\t\"s\":\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\\uD83D\\ude00ü\", \"o\":{\"x\":[1,{}]},\"t\":true,\"f\":false,\"z\":null,\"N\":2,\"e\":\"\",\"a\":[ ]}\r\n")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]value{
		"n": {kind: kindNumber, text: "-0.50e+1"},
		"N": {kind: kindNumber, text: "2"},
		"s": {kind: kindString, text: "a\"\\/\b\f\n\r\tä😀ü"},
		"e": {kind: kindString},
		"t": {kind: kindBool}, "f": {kind: kindBool}, "z": {}, "missing": {},
		"a": {kind: kindArray},
	} {
		if got := object.find(name); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	if nested := object.find("o"); nested.kind != kindObject || nested.object.find("x").kind != kindArray {
		t.Errorf("the nested object reads as %+v", nested)
	}
}

func TestNestingUpToTheLimitIsTaken(t *testing.T) {
	t.Parallel()
	if _, err := ParseObject(`{"a":` + strings.Repeat("[", maxDepth-1) + strings.Repeat("]", maxDepth-1) + "}"); err != nil {
		t.Error(err)
	}
}

func TestAFieldGivenTwiceIsFoundAmongMany(t *testing.T) {
	t.Parallel()
	var body strings.Builder
	for i := range 5000 {
		body.WriteString(`"f` + strconv.Itoa(i) + `":1,`)
	}
	if _, err := ParseObject("{" + body.String() + `"other":1}`); err != nil {
		t.Errorf("5001 different fields: %v", err)
	}
	for _, again := range []string{"f0", "f31", "f32", "f4999"} {
		_, err := ParseObject("{" + body.String() + `"` + again + `":1}`)
		if detail := detailOf(t, err); !strings.Contains(detail, again+".") {
			t.Errorf("%s: got %q", again, detail)
		}
	}
}

// FuzzParseObject holds the parser against encoding/json: it takes nothing that
// is no JSON, and refuses JSON only for the reasons that it is stricter in.
func FuzzParseObject(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":1}`, `{"a":[1,2,{"b":null}],"c":"\u00e4\ud83d\ude00"}`, `{"a":1e3,"A":-0.0}`, `[]`, `{"a":"\ud800"}`,
		`{"a":1,"a":2}`, `{"lead":{"email":"x@y.de"}} `, "{\"a\":\"\x7f\"}", `{"a":tru}`, `{"":""}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		object, err := ParseObject(body)
		var standard map[string]any
		decoder := json.NewDecoder(strings.NewReader(body))
		decoder.UseNumber()
		valid := json.Valid([]byte(body)) && decoder.Decode(&standard) == nil && standard != nil
		if err != nil {
			stricter := errors.Is(err, errTooDeep) || errors.Is(err, errNotUnicode) || strings.Contains(err.Error(), "twice")
			if valid && !stricter {
				t.Fatalf("refused with %v what is a JSON object", err)
			}
			return
		}
		if !valid {
			t.Fatal("took what is no JSON object")
		}
		compare(t, object, standard)
	})
}

func compare(t *testing.T, object *Object, standard map[string]any) {
	t.Helper()
	if len(object.members) != len(standard) {
		t.Fatalf("%d members, want %d", len(object.members), len(standard))
	}
	for name, want := range standard {
		got := object.find(name)
		switch want := want.(type) {
		case string:
			if got.kind != kindString || got.text != want {
				t.Fatalf("%q: got %+v, want %q", name, got, want)
			}
		case json.Number:
			if got.kind != kindNumber || got.text != want.String() {
				t.Fatalf("%q: got %+v, want %s", name, got, want)
			}
		case map[string]any:
			if got.kind != kindObject {
				t.Fatalf("%q: got %+v, want an object", name, got)
			}
			compare(t, got.object, want)
		case nil:
			if got.kind != kindNull {
				t.Fatalf("%q: got %+v, want null", name, got)
			}
		}
	}
}

func BenchmarkParseObject(b *testing.B) {
	const body = `{"campaign_id":"018f0000-0000-7000-8000-000000000001","amount":"29.99","lead":{"first_name":"Anna",` +
		`"last_name":"Müller","email":"anna@example.com","country":"DE","address":"Hauptstr. 1","city":"Berlin","postal_code":"10115"}}`
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseObject(body); err != nil {
			b.Fatal(err)
		}
	}
}
