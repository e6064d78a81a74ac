package payment

import "testing"

func TestEmailKey(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, one, other string }{
		{"case does not count", "Ada@Example.ORG", "ada@example.org"},
		{"nor how accents are composed", "jose\u0301@example.org", "jos\u00e9@example.org"},
		{"nor in the domain", "a@bu\u0308cher.example", "a@b\u00fccher.example"},
		{"nor the form of an international domain", "a@xn--bcher-kva.example", "a@b\u00fccher.example"},
		{"nor its case", "a@XN--Bcher-KVA.example", "a@B\u00dcCHER.example"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			one, other := Lead{Email: test.one}.EmailKey(), Lead{Email: test.other}.EmailKey()
			if one != other {
				t.Errorf("%q and %q are two people: %q, %q", test.one, test.other, one, other)
			}
		})
	}
	for _, email := range []string{"xn--bcher-kva@example.org", "a@xn--99999999999.example"} {
		if key := (Lead{Email: email}).EmailKey(); key != email {
			t.Errorf("%q became %q", email, key)
		}
	}
}
