package door

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

const plainPay = "POST /api/v1/payment-sessions/ps_1/pay/ HTTP/1.1\r\nHost: pay.example\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"

// requests are what callers and those who want two readers to disagree send, and whether it is plain.
var requests = map[string]struct {
	text    string
	isWhole bool
}{
	"a call":                        {plainPay, true},
	"without a body":                {"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", true},
	"with a query":                  {"GET /a/?b=c HTTP/1.1\r\nHost: a\r\n\r\n", true},
	"kept open":                     {"GET /a/ HTTP/1.1\r\nConnection: Keep-Alive\r\n\r\n", true},
	"a body of another length":      {"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\n{}", false},
	"two at once":                   {plainPay + plainPay, false},
	"one and a byte":                {plainPay + "P", false},
	"two lengths":                   {"POST / HTTP/1.1\r\nContent-Length: 2\r\ncontent-length: 0\r\n\r\n{}", false},
	"two lengths that agree":        {"POST / HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}", false},
	"a list of lengths":             {"POST / HTTP/1.1\r\nContent-Length: 2, 2\r\n\r\n{}", false},
	"a length with a sign":          {"POST / HTTP/1.1\r\nContent-Length: +2\r\n\r\n{}", false},
	"a length without digits":       {"POST / HTTP/1.1\r\nContent-Length:\r\n\r\n", false},
	"a length beyond all":           {"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n{}", false},
	"chunks":                        {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false},
	"chunks and a length":           {"POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false},
	"a name before its colon":       {"POST / HTTP/1.1\r\nContent-Length : 2\r\n\r\n{}", false},
	"a name after a space":          {"POST / HTTP/1.1\r\nHost: a\r\n Content-Length: 2\r\n\r\n{}", false},
	"a line that goes on":           {"POST / HTTP/1.1\r\nX: a\r\n\tContent-Length: 2\r\n\r\n{}", false},
	"a line that ends with a feed":  {"POST / HTTP/1.1\r\nX: a\nContent-Length: 2\r\n\r\n{}", false},
	"a head that ends with feeds":   {"POST / HTTP/1.1\nContent-Length: 2\n\n{}", false},
	"a value with a return":         {"POST / HTTP/1.1\r\nX: a\rContent-Length: 2\r\n\r\n", false},
	"a value with a zero":           {"POST / HTTP/1.1\r\nX: a\x00\r\n\r\n", false},
	"a value beyond ASCII":          {"POST / HTTP/1.1\r\nX: ä\r\n\r\n", false},
	"a line without a colon":        {"POST / HTTP/1.1\r\nX\r\n\r\n", false},
	"who waits to be asked":         {"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n", false},
	"who wants to close":            {"POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", false},
	"who wants something else":      {"GET / HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n", false},
	"an old version":                {"GET / HTTP/1.0\r\n\r\n", false},
	"another protocol":              {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", false},
	"a whole address":               {"GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", false},
	"two spaces":                    {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", false},
	"a path with a space":           {"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", false},
	"a method in small letters":     {"get / HTTP/1.1\r\nHost: a\r\n\r\n", false},
	"an empty line before it":       {"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", false},
	"a head and the next one's end": {"GET / HTTP/1.1\r\n\r\n\r\n\r\n", false},
}

func TestWhatIsPlain(t *testing.T) {
	t.Parallel()
	for name, c := range requests {
		if _, isWhole := new(framing).follow([]byte(c.text)); isWhole != c.isWhole {
			t.Errorf("%s: it is whole: %v", name, isWhole)
		}
	}
}

func TestWhatIsKnownOfARequest(t *testing.T) {
	t.Parallel()
	text := "POST /a/ HTTP/1.1\r\nX-Request-ID:  first \r\nORIGIN: https://shop.example\r\nx-request-id: second\r\nContent-Length: 0\r\n\r\n"
	r, isWhole := new(framing).follow([]byte(text))
	if !isWhole || string(r.Method) != "POST" || string(r.Path) != "/a/" || string(r.ID) != "first" || !r.FromPage {
		t.Errorf("it is %q %q %q %v, whole: %v", r.Method, r.Path, r.ID, r.FromPage, isWhole)
	}
}

// TestPiecesAreFollowed has a request come in two pieces, cut at every byte: it is never one to be answered here, and the
// next one is.
func TestPiecesAreFollowed(t *testing.T) {
	t.Parallel()
	for cut := 1; cut < len(plainPay); cut++ {
		var f framing
		for _, piece := range []string{plainPay[:cut], plainPay[cut:]} {
			if _, isWhole := f.follow([]byte(piece)); isWhole {
				t.Fatalf("cut after %d bytes it is whole at %q", cut, piece)
			}
		}
		if _, isWhole := f.follow([]byte(plainPay)); !isWhole {
			t.Fatalf("after one that was cut after %d bytes the next is not seen", cut)
		}
	}
}

func TestAHeadWithoutEndIsNotKept(t *testing.T) {
	t.Parallel()
	var f framing
	for range 3 * longestHead {
		f.follow([]byte("a"))
	}
	if !f.isLost || f.head != nil {
		t.Errorf("%d bytes are kept, lost: %v", len(f.head), f.isLost)
	}
}

func TestWhoIsLostStaysSo(t *testing.T) {
	t.Parallel()
	var f framing
	f.follow([]byte("GET / HTTP/1.0\r\n\r\n"))
	if _, isWhole := f.follow([]byte(plainPay)); isWhole {
		t.Error("a request is taken out of a connection that is net/http's")
	}
}

// FuzzAgreesWithNetHTTP sends anything in two pieces. Wherever a request is taken to end here, net/http must have read
// requests up to that very byte.
func FuzzAgreesWithNetHTTP(f *testing.F) {
	for _, c := range requests {
		f.Add([]byte(c.text), uint(0))
		f.Add([]byte(c.text+plainPay), uint(len(c.text)))
		f.Add([]byte(plainPay+c.text), uint(len(plainPay)))
	}
	f.Fuzz(func(t *testing.T, sent []byte, cut uint) {
		at := int(cut % uint(len(sent)+1))
		var frames framing
		for _, end := range []int{at, len(sent)} {
			begin := 0
			if end == len(sent) {
				begin = at
			}
			if begin == end {
				continue
			}
			r, isWhole := frames.follow(sent[begin:end])
			if isWhole {
				wantSameRequest(t, sent[begin:end], r)
			}
			if !frames.isLost && frames.missing == 0 && len(frames.head) == 0 {
				wantRequestsOnly(t, sent[:end])
			}
		}
	})
}

// wantSameRequest has net/http read what was taken for a request.
func wantSameRequest(t *testing.T, text []byte, r Request) {
	t.Helper()
	theirs, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(text)))
	if err != nil {
		return // net/http would refuse it and close the connection: nothing can come after it
	}
	if theirs.Method != string(r.Method) || theirs.RequestURI != string(r.Path) || (theirs.Header.Get("Origin") != "") && !r.FromPage {
		t.Fatalf("%q is %s %s to net/http, and %s %s here", text, theirs.Method, theirs.RequestURI, r.Method, r.Path)
	}
}

// wantRequestsOnly has net/http read everything: it must end with a request.
func wantRequestsOnly(t *testing.T, text []byte) {
	t.Helper()
	reader := bufio.NewReader(bytes.NewReader(text))
	for {
		if _, err := reader.Peek(1); errors.Is(err, io.EOF) {
			return
		}
		request, err := http.ReadRequest(reader)
		if err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("net/http waits for more after %q", text)
			}
			return // it would close the connection
		}
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			t.Fatalf("net/http waits for more of a body after %q: %v", text, err)
		}
		if request.Close || strings.EqualFold(request.Header.Get("Connection"), "upgrade") {
			t.Fatalf("the connection is done with after %q", text)
		}
	}
}
