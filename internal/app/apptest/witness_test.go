package apptest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// recorder is a test that notes its errors instead of failing.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

const someToken = "ps_c2FtcGxlLXRva2VuLWZvci10aGUtZG9jcy0wMDAAAAAB"

// observe has a server give an answer and says what the witness makes of it.
func observe(t *testing.T, request Request, status int, answer string) []string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		io.WriteString(w, answer)
	}))
	defer server.Close()
	notes := &recorder{TB: t}
	s := &Server{URL: server.URL, client: newClient(t)}
	if _, err := s.TryDo(notes, request); err != nil {
		t.Fatal(err)
	}
	return notes.errors
}

func TestTheWitness(t *testing.T) {
	t.Parallel()
	created := `{"session_token":"` + someToken + `","status":"PENDING","payment_url":"https://pay.example/x"}`
	create := Request{Path: Sessions, Key: "rk_test_x", Body: Direct()}
	unknown := `{"detail":"Session not found","status_code":404}`
	for _, test := range []struct {
		name    string
		request Request
		status  int
		answer  string
		fine    bool
	}{
		{"takes what is documented", create, 201, created, true},
		{"takes a documented refusal of any request", Request{Path: Sessions, Key: "rk_test_x", Body: "nonsense"}, 409, `{"detail":"Conflict","status_code":409}`, true},
		{"finds a key that is not documented", create, 201, strings.Replace(created, "{", `{"id":1,`, 1), false},
		{"finds a key that is missing", create, 201, strings.Replace(created, `"status":"PENDING",`, "", 1), false},
		{"finds a status that is not documented", create, 500, `{"detail":"x","status_code":500}`, false},
		{"finds a body that is no JSON", create, 201, "created", false},
		{"finds a 429 without Retry-After", create, 429, `{"detail":"x","status_code":429}`, false},
		{"finds a request that is accepted and not documented", Request{Path: Sessions, Key: "rk_test_x", Body: body{"lead": nil}}, 201, created, false},
		{"finds a request that is accepted without its credential", Request{Path: Sessions, Body: Direct()}, 201, created, false},
		{"lets such a request pass when the test says so", Request{Path: Sessions, Key: "rk_test_x", Body: Body{}, Undocumented: true}, 201, created, true},
		{"finds an error without status_code on an unknown path", Request{Path: "/api/v1/other/"}, 404, `{"detail":"Not found"}`, false},
		{"takes an error with it", Request{Path: "/api/v1/other/"}, 404, `{"detail":"Not found","status_code":404}`, true},
		{"knows paths with a token", Request{Path: Path(someToken)}, 404, unknown, true},
		{"finds a wrong status_code", Request{Path: Path(someToken)}, 404, strings.Replace(unknown, "404", "410", 1), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if errors := observe(t, test.request, test.status, test.answer); (len(errors) == 0) != test.fine {
				t.Errorf("the witness says %v", errors)
			}
		})
	}
}

type body = Body

func TestTheWitnessKnowsUUIDs(t *testing.T) {
	t.Parallel()
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	var example map[string]any
	text, err := json.Marshal(doc.Components.Examples["ResultCompleted"].Value.Value)
	if err != nil {
		t.Fatal(err)
	}
	content := doc.find(http.MethodPost, Path(someToken, "pay")).Responses.Value("200").Value.Content
	if err := doc.fits(content, text); err != nil {
		t.Fatalf("the document's own example: %v", err)
	}
	for _, id := range []string{"7d444840-9dc0-11d1-b245-5ffdce74fad2", "not-a-uuid", "019cac921c007a108000000000000001"} {
		if err := json.Unmarshal(text, &example); err != nil {
			t.Fatal(err)
		}
		example["lead"] = map[string]any{"id": id}
		changed, err := json.Marshal(example)
		if err != nil {
			t.Fatal(err)
		}
		if doc.fits(content, changed) == nil {
			t.Errorf("%q passes for an id", id)
		}
	}
}

func TestTheLogIsSearched(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`{"error":"account ` + Approved + `"}`, `{"to":"person1@kunde.example"}`, `{"name":"` + HolderName + `"}`, `{"path":"/pay/` + someToken + `/"}`,
		`{"key":"rk_test_abcdefghijkl"}`, `{"key":"rk_live_abcdefghijkl"}`, `{"token":"` + AdminToken + `"}`,
	} {
		notes, l := &recorder{TB: t}, &log{}
		io.WriteString(l, `{"msg":"fine","session":"ps_abcd","route":"/api/v1/payment-sessions/{token}/pay/"}`+"\n"+line+"\n")
		if l.check(notes); len(notes.errors) != 1 {
			t.Errorf("%s: %v", line, notes.errors)
		}
	}
}
