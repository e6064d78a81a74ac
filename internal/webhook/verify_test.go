package webhook

import (
	"strings"
	"testing"
)

func TestVerify(t *testing.T) {
	t.Parallel()
	const body = `{"a":"ü & <b>","b":1}`
	right := Sign(secret, []byte(body))
	for _, c := range []struct {
		name, body, signature string
		want                  Match
	}{
		{"the body as it was sent", body, right, MatchBody},
		{"a line break at its end", body + "\n", right, MatchTrimmed},
		{"written anew by another program", "{ \"b\": 1.0,\n \"a\": \"\\u00fc \\u0026 \\u003cb>\" }", right, MatchCanonical},
		{"a signature in capitals with blanks", body, " " + strings.ToUpper(right) + " ", MatchBody},
		{"another body", `{"a":"u & <b>","b":1}`, right, MatchNone},
		{"no JSON at all", "hello", right, MatchNone},
		{"no signature", body, "", MatchNone},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Verify(secret, []byte(c.body), c.signature); got != c.want {
				t.Errorf("it fits %q, want %q", got, c.want)
			}
		})
	}
	if Verify("another", []byte(body), right) != MatchNone {
		t.Error("another secret fits")
	}
}
