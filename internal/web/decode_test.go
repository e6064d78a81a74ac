package web

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func post(body, contentType string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return r
}

// statusOf is the status that an error is answered with, 200 for none.
func statusOf(err error) int {
	if err == nil {
		return http.StatusOK
	}
	answer := httptest.NewRecorder()
	WriteError(answer, httptest.NewRequest(http.MethodGet, "/", nil), err)
	return answer.Code
}

func TestBodies(t *testing.T) {
	t.Parallel()
	const plain = "application/json"
	fits := `{"a":"` + strings.Repeat("x", MaxBody-8) + `"}`
	for name, c := range map[string]struct {
		body, contentType  string
		required, optional int
	}{
		"an object":          {`{}`, plain, 200, 200},
		"an object in UTF-8": {`{}`, "application/json; charset=utf-8", 200, 200},
		"an object in UTF-8, written differently": {`{}`, `Application/JSON;charset="UTF-8"`, 200, 200},
		"an object in another encoding":           {`{}`, "application/json; charset=latin1", 415, 415},
		"a form":                                  {`a=b`, "application/x-www-form-urlencoded", 415, 415},
		"a broken media type":                     {`{}`, "application/json; charset", 415, 415},
		"a cousin of JSON":                        {`{}`, "application/ld+json", 415, 415},
		"no media type":                           {`{}`, "", 415, 415},
		"no body":                                 {``, plain, 400, 200},
		"no body and no media type":               {``, "", 400, 200},
		"no body of another type":                 {``, "application/x-www-form-urlencoded", 415, 200},
		"white space":                             {" \r\n", plain, 400, 200},
		"malformed":                               {`{`, plain, 400, 400},
		"no object":                               {`[]`, plain, 400, 400},
		"the largest body":                        {fits, plain, 200, 200},
		"one byte more":                           {fits + " ", plain, 413, 413},
		"far more":                                {strings.Repeat(" ", 1<<20), plain, 413, 413},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := DecodeObject(httptest.NewRecorder(), post(c.body, c.contentType))
			if got := statusOf(err); got != c.required {
				t.Errorf("where it is required: got %d (%v), want %d", got, err, c.required)
			}
			_, err = DecodeOptionalObject(httptest.NewRecorder(), post(c.body, c.contentType))
			if got := statusOf(err); got != c.optional {
				t.Errorf("where it is optional: got %d (%v), want %d", got, err, c.optional)
			}
		})
	}
}

func TestABodyOfUnknownLengthIsCutOffAtTheLimit(t *testing.T) {
	t.Parallel()
	r := post("", "application/json")
	endless := &countingReader{}
	r.Body, r.ContentLength = io.NopCloser(endless), -1
	_, err := DecodeObject(httptest.NewRecorder(), r)
	if got := statusOf(err); got != http.StatusRequestEntityTooLarge {
		t.Errorf("got %d, %v", got, err)
	}
	if endless.read > 2*MaxBody {
		t.Errorf("%d bytes were read", endless.read)
	}
}

type countingReader struct{ read int }

func (c *countingReader) Read(p []byte) (int, error) {
	c.read += len(p)
	return len(p), nil
}

func TestABodyThatBreaksOffIsBadInput(t *testing.T) {
	t.Parallel()
	r := post("", "application/json")
	r.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"a":1}`), failingReader{}))
	_, err := DecodeObject(httptest.NewRecorder(), r)
	if got := statusOf(err); got != http.StatusBadRequest {
		t.Errorf("got %d, %v", got, err)
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

func TestACompressedBodyIsRefused(t *testing.T) {
	t.Parallel()
	for coding, want := range map[string]int{"gzip": 415, "identity": 200} {
		r := post(`{}`, "application/json")
		r.Header.Set("Content-Encoding", coding)
		if _, err := DecodeObject(httptest.NewRecorder(), r); statusOf(err) != want {
			t.Errorf("%s: got %v", coding, err)
		}
	}
}

func TestTheSourceOutlivesTheBuffer(t *testing.T) {
	t.Parallel()
	const body = `{ "a" : "x" }`
	object, err := DecodeObject(httptest.NewRecorder(), post(body, "application/json"))
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		_, _ = DecodeObject(httptest.NewRecorder(), post(strings.Repeat("z", 100), "application/json"))
	}
	if object.Source() != body || object.find("a").text != "x" {
		t.Errorf("it now reads %q", object.Source())
	}
}
