package merchant

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"sepad/internal/payment"
)

// Lengths of texts, in Unicode code points.
const (
	maxName        = 255
	maxDescription = 2000
	maxURL         = 2048
)

// literal is the text of a single value, as it was written, when its type is
// one of those wanted. An absent field is no mistake.
func (o object) literal(key, wanted string, kinds ...nodeKind) (string, bool) {
	field := o.fields[key]
	if field == nil {
		return "", false
	}
	if !slices.Contains(kinds, field.kind) {
		o.wrong(key, "Give %s, not %s.", wanted, field.kind.described())
		return "", false
	}
	return field.text, true
}

// text is a trimmed text of at most max characters, "" when it is absent.
func (o object) text(key string, max int) string {
	value, ok := o.literal(key, "a text", textNode, dateNode)
	if !ok {
		return ""
	}
	value = strings.TrimSpace(value)
	switch {
	case value == "":
		o.wrong(key, "This text must not be blank.")
	case utf8.RuneCountInString(value) > max:
		o.wrong(key, "This text is longer than %d characters.", max)
	case strings.ContainsFunc(value, unicode.IsControl):
		o.wrong(key, "This text holds a control character.")
	default:
		return value
	}
	return ""
}

// optional is nil where text is "".
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func (o object) boolean(key string, fallback bool) bool {
	text, ok := o.literal(key, "true or false", boolNode)
	if !ok {
		return fallback
	}
	return strings.EqualFold(text, "true")
}

func (o object) integer(key string, low, high, fallback int) int {
	text, ok := o.literal(key, "a whole number", wholeNode)
	if !ok {
		return fallback
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < low || number > high {
		o.wrong(key, "Give a whole number from %d to %d.", low, high)
		return fallback
	}
	return number
}

// amount reads money from the letters in the file, quoted or not, so that no
// float comes between.
func (o object) amount(key string, least payment.Minor) *payment.Minor {
	text, ok := o.literal(key, "an amount", textNode, wholeNode, fractionNode)
	if !ok {
		return nil
	}
	amount, err := payment.ParseMinor(text)
	if err != nil {
		o.wrong(key, "%s", err)
		return nil
	}
	if amount < least {
		o.wrong(key, "This amount must be more than 0.")
		return nil
	}
	return &amount
}

// oneOf takes a value exactly as it is listed.
func oneOf[T ~string](o object, key string, values []T, fallback T) T {
	text, ok := o.literal(key, "one of the listed values", textNode)
	if !ok {
		return fallback
	}
	if value := T(text); slices.Contains(values, value) {
		return value
	}
	o.wrong(key, "This must be one of %s.%s", listed(values), DidYouMean(text, asTexts(values)))
	return fallback
}

func listed[T ~string](values []T) string { return strings.Join(asTexts(values), ", ") }

func asTexts[T ~string](values []T) []string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = string(value)
	}
	return texts
}

var canonicalUUID = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// uuid takes the written-out form only, so that one id has one spelling.
func (o object) uuid(key string) (uuid.UUID, bool) {
	text, ok := o.literal(key, "a UUID", textNode, wholeNode, fractionNode)
	if !ok {
		return uuid.Nil, false
	}
	id, err := uuid.Parse(text)
	if err != nil || id == uuid.Nil || !canonicalUUID.MatchString(text) {
		o.wrong(key, "Give a UUID such as 018f0000-0000-7000-8000-000000000001.")
		return uuid.Nil, false
	}
	return id, true
}

// url is an address that a browser or we can call, "" when it is absent.
func (o object) url(key string) string {
	text := o.text(key, maxURL)
	if text == "" {
		return ""
	}
	if fault := AddressFault(text, o.r.rules.Environment); fault != "" {
		o.wrong(key, "%s", fault)
		return ""
	}
	return text
}

// AddressFault says what is wrong with an address that a browser or we are sent to,
// "" for nothing.
func AddressFault(text string, environment Environment) string {
	address, err := url.Parse(text)
	switch {
	case err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Hostname() == "":
		return "Give an address that begins with http:// or https://."
	case !isPort(address.Port()):
		return "The port of an address is a number from 1 to 65535."
	case address.Scheme == "http" && environment == Production:
		return "In production an address begins with https://."
	case address.User != nil:
		return "An address must not hold a user name or password."
	default:
		return ""
	}
}

// isPort holds for a port that can be dialled, and for "", the scheme's own.
func isPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && port > 0
}

var colorForm = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

func (o object) color(key, fallback string) string {
	text, ok := o.literal(key, `a colour in quotes, such as "#1a56db"`, textNode)
	if !ok {
		return fallback
	}
	if !colorForm.MatchString(text) {
		o.wrong(key, `Give a colour as six hexadecimal digits in quotes, such as "#1a56db".`)
		return fallback
	}
	return strings.ToLower(text)
}

func (o object) duration(key string, least, most time.Duration) time.Duration {
	text, ok := o.literal(key, "a duration such as 24h", textNode, wholeNode, fractionNode)
	if !ok {
		return 0
	}
	length, err := time.ParseDuration(text)
	if err != nil || length < least || length > most {
		o.wrong(key, "Give a duration with its unit, such as 24h or 90m, from %s to %s.", least, strings.TrimSuffix(most.String(), "0m0s"))
		return 0
	}
	return length
}
