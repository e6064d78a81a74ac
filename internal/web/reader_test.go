package web

import (
	"maps"
	"strings"
	"testing"

	"sepad/internal/payment"
)

// read parses a body and lets a test read it, and gives what was bad.
func read(t *testing.T, body string, fields func(*Reader)) payment.Fields {
	t.Helper()
	object, err := ParseObject(body)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	bad := payment.Fields{}
	fields(NewReader(object, bad))
	return bad
}

func mustSay(t *testing.T, body string, got, want payment.Fields) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("%s\n got %v\nwant %v", body, got, want)
	}
}

func TestEveryBadFieldIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	const body = `{"campaign_id":"x","amount":"1e3","max_payment_attempts":11,"customer_ip":"1.2.3","billing_type":"one_off",
		"currency":"EURO","lead":{"first_name":7,"last_name":" ","email":"nobody","country":"XX","phone":null}}`
	bad := read(t, body, func(r *Reader) {
		r.UUID("campaign_id")
		r.Amount("amount")
		r.Integer("max_payment_attempts", 1, 10)
		r.IP("customer_ip")
		r.Currency("currency")
		Enum(r, "billing_type", payment.BillingTypes)
		lead := r.Object("lead", Required)
		lead.Text("first_name", Required, MaxLength(255))
		lead.Text("last_name", Required, MaxLength(255))
		lead.Email("email", Required)
		lead.Country("country", Required)
		lead.Text("phone", MaxLength(50))
		lead.Text("city", Required)
	})
	mustSay(t, body, bad, payment.Fields{
		"campaign_id":          "campaign_id must be a UUID.",
		"amount":               "Enter an amount as digits with at most 2 decimals, such as 29.99.",
		"max_payment_attempts": "max_payment_attempts must be from 1 to 10.",
		"customer_ip":          "customer_ip must be an IPv4 or IPv6 address.",
		"currency":             "currency must be an ISO 4217 currency code of three letters.",
		"billing_type":         "billing_type must be one of ONE_OFF, RECURRING, TRIAL_RECURRING.",
		"lead.first_name":      "lead.first_name must be a string.",
		"lead.last_name":       "lead.last_name may not be blank.",
		"lead.email":           "lead.email must be an email address.",
		"lead.country":         "lead.country must be an ISO 3166-1 country code of two letters.",
		"lead.city":            "lead.city is required.",
	})
}

func TestAMissingObjectIsSaidOnceOfTheObject(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]payment.Fields{
		`{}`:            {"lead": "lead is required."},
		`{"lead":null}`: {"lead": "lead is required."},
		`{"Lead":{}}`:   {"lead": "lead is required."},
		`{"lead":[]}`:   {"lead": "lead must be an object."},
		`{"lead":"x"}`:  {"lead": "lead must be an object."},
		`{"lead":{}}`:   {"lead.email": "lead.email is required."},
	} {
		bad := read(t, body, func(r *Reader) { r.Object("lead", Required).Email("email", Required) })
		mustSay(t, body, bad, want)
	}
	bad := read(t, `{}`, func(r *Reader) { r.Object("optional").Text("name", Required) })
	mustSay(t, "an optional object that is not there", bad, payment.Fields{})
}

func TestTexts(t *testing.T) {
	t.Parallel()
	const (
		control = "x may not contain control characters."
		turning = "x may not contain characters that turn the direction of text."
	)
	for _, c := range []struct {
		name, body, want, said string
		rules                  []Rule
	}{
		{"white space around it is dropped", `{"x":" \u00a0a b\n"}`, "a b", "", nil},
		{"null counts as absent", `{"x":null}`, "", "", nil},
		{"an optional text may be blank", `{"x":"  "}`, "", "", []Rule{MaxLength(3)}},
		{"a text that may be absent need not be allowed blank", `{"x":"  "}`, "", "x may not be blank.", []Rule{NotBlank}},
		{"such a text may be absent", `{}`, "", "", []Rule{NotBlank}},
		{"the length counts code points", `{"x":"äöü"}`, "äöü", "", []Rule{MaxLength(3)}},
		{"the length is counted after trimming", `{"x":"  abc  "}`, "abc", "", []Rule{MaxLength(3)}},
		{"one code point too many", `{"x":"äöüß"}`, "", "x may have at most 3 characters.", []Rule{MaxLength(3)}},
		{"a line break within", `{"x":"a\nb"}`, "", control, nil},
		{"NUL", `{"x":"a\u0000"}`, "", control, nil},
		{"DEL", `{"x":"a\u007fb"}`, "", control, nil},
		{"C1", `{"x":"a\u0090b"}`, "", control, nil},
		{"U+0085 at an end is a control character too", `{"x":"a\u0085"}`, "", control, nil},
		{"U+0085 alone is no blank", `{"x":"\u0085"}`, "", control, nil},
		{"zero-width characters alone are blank", `{"x":"\u200b\u2060\ufeff\u00ad"}`, "", "x may not be blank.", []Rule{NotBlank}},
		{"so are other characters without a shape", `{"x":"\u3164\u115f\u034f\ufe0f\u2800 \u3000"}`, "", "x may not be blank.", []Rule{Required}},
		{"a name may hold a joiner and a mark of direction", `{"x":"ن\u200cا\u200f"}`, "ن\u200cا\u200f", "", []Rule{Required}},
		{"an override of direction", `{"x":"a\u202eb"}`, "", turning, nil},
		{"an isolate of direction", `{"x":"\u2067ab"}`, "", turning, nil},
		{"lines are joined where that is allowed", `{"x":"a\r\nb\nc\rd\te"}`, "a b c d e", "", []Rule{JoinLines}},
		{"other controls are refused there too", `{"x":"a\u000bb"}`, "", control, []Rule{JoinLines}},
		{"a number is no text", `{"x":1}`, "", "x must be a string.", nil},
		{"nor is an array", `{"x":["a"]}`, "", "x must be a string.", nil},
		{"nor is a truth", `{"x":true}`, "", "x must be a string.", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got string
			bad := read(t, c.body, func(r *Reader) { got = r.Text("x", c.rules...) })
			if got != c.want || bad["x"] != c.said {
				t.Errorf("got %q and %q, want %q and %q", got, bad["x"], c.want, c.said)
			}
		})
	}
}

func TestAmountsAreReadFromTheirLiteralText(t *testing.T) {
	t.Parallel()
	for literal, want := range map[string]payment.Minor{
		`29.99`: 2999, `"29.99"`: 2999, `0.1`: 10, `" 5 "`: 500, `99999999.99`: payment.MaxMinor, `0.01`: 1, `"007.50"`: 750,
	} {
		var got *payment.Minor
		bad := read(t, `{"x":`+literal+`}`, func(r *Reader) { got = r.Amount("x") })
		if got == nil || *got != want {
			t.Errorf("%s: got %v, %v", literal, got, bad)
		}
	}
	for _, literal := range []string{
		`1e3`, `1E3`, `0.001`, `-1`, `-0`, `99999999999.99`, `0`, `0.00`, `"0"`, `""`, `" "`, `"+1"`, `"1,5"`, `"0x10"`, `"1_000"`,
		`"١"`, `true`, `[]`, `{}`, `"1\u0000"`, `".5"`, `"5."`, `123456789`,
	} {
		var got *payment.Minor
		bad := read(t, `{"x":`+literal+`}`, func(r *Reader) { got = r.Amount("x") })
		if got != nil || bad["x"] == "" {
			t.Errorf("%s was taken as %v", literal, got)
		}
	}
}

func TestAnAmountOfZeroIsTakenWhereAllowed(t *testing.T) {
	t.Parallel()
	var got *payment.Minor
	bad := read(t, `{"x":0.00}`, func(r *Reader) { got = r.Amount("x", AllowZero) })
	if got == nil || *got != 0 || len(bad) != 0 {
		t.Errorf("got %v, %v", got, bad)
	}
	bad = read(t, `{}`, func(r *Reader) { got = r.Amount("x", AllowZero) })
	if got != nil || len(bad) != 0 {
		t.Errorf("an absent amount: got %v, %v", got, bad)
	}
}

func TestIntegers(t *testing.T) {
	t.Parallel()
	const whole, within = "x must be a whole number.", "x must be from 1 to 10."
	for literal, said := range map[string]string{
		`1`: "", `10`: "", `0`: within, `11`: within, `-1`: within, `99999999999999999999`: within,
		`1.0`: whole, `1e0`: whole, `"1"`: whole, `true`: whole, `{}`: whole, `null`: "",
	} {
		bad := read(t, `{"x":`+literal+`}`, func(r *Reader) { r.Integer("x", 1, 10) })
		if bad["x"] != said {
			t.Errorf("%s: got %q, want %q", literal, bad["x"], said)
		}
	}
}

func TestUUIDsHaveTheirUsualForm(t *testing.T) {
	t.Parallel()
	const id = "018f0000-0000-7000-8000-00000000000a"
	for text, good := range map[string]bool{
		id: true, strings.ToUpper(id): true, " " + id + " ": true,
		"": false, "{" + id + "}": false, "urn:uuid:" + id: false, strings.ReplaceAll(id, "-", ""): false,
		id[:35]: false, id + "0": false, strings.Replace(id, "a", "g", 1): false, strings.Replace(id, "-", "0", 1): false,
	} {
		bad := read(t, `{"x":"`+text+`"}`, func(r *Reader) {
			if got := r.UUID("x"); (got != nil) != good || good && got.String() != id {
				t.Errorf("%q was read as %v", text, got)
			}
		})
		if (len(bad) == 0) != good {
			t.Errorf("%q: %v", text, bad)
		}
	}
}

func TestCodesAreTakenInAnyCase(t *testing.T) {
	t.Parallel()
	read(t, `{"country":"de","currency":" eUr "}`, func(r *Reader) {
		if got := r.Country("country") + r.Currency("currency"); got != "DEEUR" {
			t.Errorf("got %q", got)
		}
	})
	for _, text := range []string{"", "D", "DEU", "XX", "ıS", "ſE", "D E", "12"} {
		if bad := read(t, `{"x":"`+text+`"}`, func(r *Reader) { r.Country("x") }); bad["x"] == "" {
			t.Errorf("%q was taken for a country", text)
		}
	}
}

func TestOtherEnumerationsAreExact(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]payment.TrialUnit{"day": payment.TrialDay, " week ": payment.TrialWeek, "Day": "", "days": "", "": ""} {
		bad := read(t, `{"x":"`+text+`"}`, func(r *Reader) {
			if got := Enum(r, "x", payment.TrialUnits); got != want {
				t.Errorf("%q was read as %q", text, got)
			}
		})
		if (len(bad) == 0) != (want != "") {
			t.Errorf("%q: %v", text, bad)
		}
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "2001:DB8::1": "2001:db8::1", "::ffff:192.0.2.1": "192.0.2.1",
		"192.0.2.1:80": "", "fe80::1%eth0": "", "localhost": "", "": "", "192.0.2.256": "", "[::1]": "", "192.0.2.0/24": "",
	} {
		bad := read(t, `{"x":"`+text+`"}`, func(r *Reader) {
			if got := r.IP("x"); got.IsValid() != (want != "") || got.IsValid() && got.String() != want {
				t.Errorf("%q was read as %s", text, got)
			}
		})
		if (len(bad) == 0) != (want != "") {
			t.Errorf("%q: %v", text, bad)
		}
	}
}

func TestEmailAddresses(t *testing.T) {
	t.Parallel()
	good := []string{
		"a@b.de", "first.last+tag@mail.example.co.uk", "o'neil_x-y@example.com", "jörg@müller.de", "用户@例子.公司",
		"a@xn--mller-kva.de", "A@B.DE", "a!#$%&*/=?^`{|}~@b.de", strings.Repeat("a", 64) + "@b.de",
		"a@" + strings.Repeat("b", 63) + ".de",
	}
	for _, text := range good {
		if !plausibleEmail(text) {
			t.Errorf("refused: %s", text)
		}
	}
	bad := []string{
		"", "a", "a@", "@b.de", "a@b", "a@@b.de", "a@b@c.de", "a b@c.de", "a@b c.de", "a@.de", "a@b.", "a@b..de", "a@-b.de", "a@b-.de",
		".a@b.de", "a.@b.de", "a..b@c.de", "a@1.2.3.4", "a@[1.2.3.4]", `"a"@b.de`, "a<b>@c.de", "a,b@c.de", "a;b@c.de", "Anna <a@b.de>",
		"a\u200b@b.de", "a\u202e@b.de", "a@b_c.de", "a@b\u00a0c.de", strings.Repeat("a", 65) + "@b.de", "a@" + strings.Repeat("b", 64) + ".de",
	}
	for _, text := range bad {
		if plausibleEmail(text) {
			t.Errorf("taken: %q", text)
		}
	}
	long := strings.Repeat("a", 60) + "@" + strings.Repeat(strings.Repeat("b", 60)+".", 3) + strings.Repeat("c", 10)
	for length, said := range map[int]string{254: "", 255: "x may have at most 254 characters."} {
		text := long + strings.Repeat("d", length-len(long))
		if got := read(t, `{"x":"`+text+`"}`, func(r *Reader) { r.Email("x") }); got["x"] != said {
			t.Errorf("%d characters: %q", length, got["x"])
		}
	}
}
