package apptest

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Request is one call. The zero Method is POST where there is a body, else GET.
type Request struct {
	Method string
	Path   string
	// Key is sent as a bearer credential; "" sends none.
	Key string
	// Body is a Body, or a string that is sent as it is; nil sends none.
	Body   any
	Header map[string]string
	// Server is asked instead, where a test has two.
	Server *Server
	// Undocumented marks a request that is accepted although openapi.yaml does
	// not promise it.
	Undocumented bool
}

// Do makes a call and gives its answer.
func (s *Server) Do(t testing.TB, r Request) Answer {
	t.Helper()
	answer, err := s.TryDo(t, r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.Path, err)
	}
	return answer
}

// TryDo is Do for goroutines and for calls that may break off.
func (s *Server) TryDo(t testing.TB, r Request) (Answer, error) {
	t.Helper()
	if r.Server != nil {
		s = r.Server
	}
	request, err := s.request(t, r)
	if err != nil {
		return Answer{}, err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	return Answer{Status: response.StatusCode, Header: response.Header, Raw: raw}, err
}

func (s *Server) request(t testing.TB, r Request) (*http.Request, error) {
	t.Helper()
	method, body := r.Method, bodyOf(t, r.Body)
	if method == "" {
		method = http.MethodGet
		if r.Body != nil {
			method = http.MethodPost
		}
	}
	request, err := http.NewRequestWithContext(withExchange(exchange{t, r.Undocumented}), method, s.URL+r.Path, body)
	if err != nil {
		return nil, err
	}
	if r.Body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if r.Key != "" {
		request.Header.Set("Authorization", "Bearer "+r.Key)
	}
	for name, value := range r.Header {
		request.Header.Set(name, value)
	}
	return request, nil
}

func bodyOf(t testing.TB, body any) io.Reader {
	t.Helper()
	switch body := body.(type) {
	case nil:
		return nil
	case string:
		return strings.NewReader(body)
	default:
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.NewReader(text)
	}
}

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Raw    []byte
}

// Fields are expected values by their path, with dots between the keys
// and places in lists. nil
// expects null; Any expects whatever is there.
type Fields map[string]any

// Any is a value that is there and not null.
const Any = "\x00any"

// Object is the body.
func (a Answer) Object(t testing.TB) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(a.Raw, &object); err != nil {
		t.Fatalf("%d with a body that is no object: %s", a.Status, a.Raw)
	}
	return object
}

// Get gives the value at a path.
func (a Answer) Get(t testing.TB, path string) any {
	t.Helper()
	value, found := lookup(a.Object(t), path)
	if !found {
		t.Fatalf("the answer has no %s: %s", path, a.Raw)
	}
	return value
}

// Text gives the text at a path.
func (a Answer) Text(t testing.TB, path string) string {
	t.Helper()
	text, ok := a.Get(t, path).(string)
	if !ok {
		t.Fatalf("%s is no text: %s", path, a.Raw)
	}
	return text
}

func lookup(object map[string]any, path string) (any, bool) {
	var value any = object
	for key := range strings.SplitSeq(path, ".") {
		if list, ok := value.([]any); ok {
			at, err := strconv.Atoi(key)
			if err != nil || at < 0 || at >= len(list) {
				return nil, false
			}
			value = list[at]
			continue
		}
		nested, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, ok = nested[key]; !ok {
			return nil, false
		}
	}
	return value, true
}

// Want expects a status and values; it gives the answer for further questions.
func (a Answer) Want(t testing.TB, status int, fields Fields) Answer {
	t.Helper()
	if a.Status != status {
		t.Fatalf("the status is %d, want %d: %s", a.Status, status, a.Raw)
	}
	for _, path := range slices.Sorted(maps.Keys(fields)) {
		got, want := a.Get(t, path), fields[path]
		if want == Any && got != nil {
			continue
		}
		if text, wanted := compact(t, got), compact(t, want); text != wanted {
			t.Errorf("%s is %s, want %s", path, text, wanted)
		}
	}
	return a
}

// WantDetail expects a refusal with one sentence.
func (a Answer) WantDetail(t testing.TB, status int, detail string) Answer {
	t.Helper()
	return a.Want(t, status, Fields{"detail": detail, "status_code": status})
}

// WantBad expects a 400 that names exactly these fields, with these sentences
// where they are not "".
func (a Answer) WantBad(t testing.TB, fields map[string]string) {
	t.Helper()
	a.Want(t, http.StatusBadRequest, Fields{"status_code": http.StatusBadRequest})
	detail, ok := a.Get(t, "detail").(map[string]any)
	if !ok {
		t.Fatalf("detail names no fields: %s", a.Raw)
	}
	for name, want := range fields {
		if got, named := detail[name]; !named || want != "" && got != want {
			t.Errorf("%s is answered %q, want %q", name, got, want)
		}
		delete(detail, name)
	}
	for name, sentence := range detail {
		t.Errorf("%s is refused too: %v", name, sentence)
	}
}

func compact(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
