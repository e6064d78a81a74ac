package web

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// hand is a clock that a test moves.
type hand struct{ at time.Time }

func (h *hand) Now() time.Time { return h.at }

// TestABodyIsReadWhileItsSenderMay: what comes after a right was taken away is not passed on, at the end and on the way.
func TestABodyIsReadWhileItsSenderMay(t *testing.T) {
	t.Parallel()
	own, refusal := &hand{}, error(nil)
	asked := 0
	first, second, end := strings.NewReader("first "), strings.NewReader("second "), strings.NewReader("end")
	r := httptest.NewRequest(http.MethodPost, "/", io.MultiReader(first, second, end))
	body := Vouched(r, own, func() error { asked++; return refusal }).Body
	read := func(want string, wantAsked int) {
		t.Helper()
		into := make([]byte, 100)
		if n, err := body.Read(into); string(into[:n]) != want || asked != wantAsked || want == "" && !errors.Is(err, refusal) {
			t.Errorf("%q after asking %d times: %v", into[:n], asked, err)
		}
	}
	read("first ", 0)
	own.at = own.at.Add(vouchedFor)
	read("second ", 1)
	refusal = ErrNotFound
	read("end", 1) // a moment ago they still might
	read("", 2)
	if _, err := body.Read(make([]byte, 1)); BodyFault(err, errUnreadable) != ErrNotFound {
		t.Errorf("the answer is %v", err)
	}
	if err := BodyFault(io.ErrUnexpectedEOF, errUnreadable); err != errUnreadable {
		t.Errorf("a broken body is answered with %v", err)
	}
	none := httptest.NewRequest(http.MethodPost, "/", http.NoBody)
	if Vouched(none, own, func() error { return nil }).Body != http.NoBody {
		t.Error("there is a body where there was none")
	}
}

// handMoved is a clock of a process that a test moves; the world's stands still meanwhile.
type handMoved struct{ now time.Time }

func (c *handMoved) Now() time.Time { return c.now }

// TestADownloadEndsWithItsReadersRight: it goes on for hours, if its reader likes, whatever is done to the machine's clock; and
// its first byte may be long in coming.
func TestADownloadEndsWithItsReadersRight(t *testing.T) {
	t.Parallel()
	removed := errors.New("removed")
	type step struct {
		after   time.Duration
		refusal error
		want    error
	}
	for name, steps := range map[string][]step{
		"on its way":            {{0, nil, nil}, {time.Minute, nil, nil}, {vouchedFor / 2, removed, nil}, {vouchedFor, removed, removed}},
		"before its first byte": {{time.Minute, removed, removed}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var refusal error
			own := &handMoved{time.Unix(1, 0)}
			r := Vouched(httptest.NewRequest(http.MethodGet, "/", nil), own, func() error { return refusal })
			file := &Download{ResponseWriter: httptest.NewRecorder(), Request: r, Name: "list.csv"}
			for _, step := range steps {
				own.now, refusal = own.now.Add(step.after), step.refusal
				if _, err := file.Write([]byte("x")); !errors.Is(err, step.want) {
					t.Errorf("after %s, %v: %v, want %v", step.after, step.refusal, err, step.want)
				}
			}
		})
	}
}
