package web

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"sepad/internal/payment"
)

// Reader reads the fields of an Object and collects one sentence for each that
// cannot be taken, so that a caller learns of all of them at once.
//
// A field that is absent, null or bad reads as nothing: "", nil or the zero
// address. Whether something was bad is known at the end, from the Fields.
type Reader struct {
	object *Object // nil: an object that is not there; nothing is said of its fields
	prefix string
	bad    payment.Fields
}

// NewReader reads from object and says what is wrong in bad.
func NewReader(object *Object, bad payment.Fields) *Reader {
	return &Reader{object: object, bad: bad}
}

// Rule is something that a field must fulfil.
type Rule struct {
	required  bool
	notBlank  bool
	joinLines bool
	zero      bool
	maxLength int
}

var (
	// Required refuses a field that is absent or blank.
	Required = Rule{required: true, notBlank: true}
	// NotBlank refuses a text that is given and blank.
	NotBlank = Rule{notBlank: true}
	// JoinLines turns line breaks and tabs into spaces instead of refusing them.
	JoinLines = Rule{joinLines: true}
	// AllowZero takes an amount of 0.
	AllowZero = Rule{zero: true}
)

// MaxLength bounds a text's code points.
func MaxLength(n int) Rule { return Rule{maxLength: n} }

func combine(rules []Rule) Rule {
	var all Rule
	for _, r := range rules {
		all.required = all.required || r.required
		all.notBlank = all.notBlank || r.notBlank
		all.joinLines = all.joinLines || r.joinLines
		all.zero = all.zero || r.zero
		all.maxLength = max(all.maxLength, r.maxLength)
	}
	return all
}

// say records a sentence that begins with the field's key.
func (r *Reader) say(name, sentence string) {
	key := r.prefix + name
	r.bad.Add(key, key+" "+sentence)
}

// find gives a field's value and whether there is one; a missing one that is
// required is said.
func (r *Reader) find(name string, rule Rule) (value, bool) {
	if r.object == nil {
		return value{}, false
	}
	v := r.object.find(name)
	if v.kind == kindNull {
		if rule.required {
			r.say(name, "is required.")
		}
		return value{}, false
	}
	return v, true
}

// Has tells whether a field is given at all, good or bad.
func (r *Reader) Has(name string) bool {
	return r.object != nil && r.object.find(name).kind != kindNull
}

// text is what every field written as a string has in common.
func (r *Reader) text(name string, rule Rule) (string, bool) {
	v, given := r.find(name, rule)
	if !given {
		return "", false
	}
	if v.kind != kindString {
		r.say(name, "must be a string.")
		return "", false
	}
	text := trim(v.text)
	if rule.joinLines {
		text = joinLines.Replace(text)
	}
	switch {
	case IsBlank(text):
		if rule.notBlank {
			r.say(name, "may not be blank.")
		}
		return "", false
	case strings.ContainsFunc(text, unicode.IsControl):
		r.say(name, "may not contain control characters.")
		return "", false
	case strings.ContainsFunc(text, TurnsText):
		r.say(name, "may not contain characters that turn the direction of text.")
		return "", false
	case rule.maxLength > 0 && utf8.RuneCountInString(text) > rule.maxLength:
		r.say(name, "may have at most "+strconv.Itoa(rule.maxLength)+" characters.")
		return "", false
	}
	return text, true
}

// Verbatim gives a string as it was sent, whatever it holds, for a field about
// which the answer itself says what is wrong.
func (r *Reader) Verbatim(name string) string {
	v, given := r.find(name, Rule{})
	if given && v.kind != kindString {
		r.say(name, "must be a string.")
		return ""
	}
	return v.text
}

var joinLines = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ")

// typed is text for fields whose content has a form: blank is never one.
func (r *Reader) typed(name string, rules []Rule) (string, bool) {
	rule := combine(rules)
	rule.notBlank = true
	return r.text(name, rule)
}

// Text reads a string without the white space around it.
func (r *Reader) Text(name string, rules ...Rule) string {
	text, _ := r.text(name, combine(rules))
	return text
}

// Texts is a list of strings; absent or null it is empty.
func (r *Reader) Texts(name string) (texts []string) {
	v, given := r.find(name, Rule{})
	if !given {
		return nil
	}
	if v.kind != kindArray {
		r.say(name, "must be a list of strings.")
		return nil
	}
	for _, item := range v.items {
		if item.kind != kindString {
			r.say(name, "must be a list of strings.")
			return nil
		}
		texts = append(texts, item.text)
	}
	return texts
}

// Pairs reads an object of texts, of bounded number and lengths.
func (r *Reader) Pairs(name string, most, longestName, longestText int) map[string]string {
	v, given := r.find(name, Rule{})
	if !given {
		return nil
	}
	if v.kind != kindObject {
		r.say(name, "must be an object of strings.")
		return nil
	}
	if len(v.object.members) > most {
		r.say(name, "may have at most "+strconv.Itoa(most)+" pairs.")
		return nil
	}
	pairs := map[string]string{}
	for _, m := range v.object.members {
		switch {
		case m.value.kind != kindString:
			r.say(name, "must be an object of strings.")
		case m.name == "" || utf8.RuneCountInString(m.name) > longestName || utf8.RuneCountInString(m.value.text) > longestText:
			r.say(name, "may have names of 1 to "+strconv.Itoa(longestName)+" and texts of at most "+strconv.Itoa(longestText)+" characters.")
		case strings.ContainsFunc(m.name+m.value.text, unicode.IsControl):
			r.say(name, "may not contain control characters.")
		}
		pairs[m.name] = m.value.text
	}
	return pairs
}

// Object reads a nested object. When it is missing or no object, that is said
// once, of the object; its fields then read as absent.
func (r *Reader) Object(name string, rules ...Rule) *Reader {
	nested := &Reader{prefix: r.prefix + name + ".", bad: r.bad}
	v, given := r.find(name, combine(rules))
	switch {
	case !given:
	case v.kind != kindObject:
		r.say(name, "must be an object.")
	default:
		nested.object = v.object
	}
	return nested
}

// UUID reads an id in its usual form of 36 characters.
func (r *Reader) UUID(name string, rules ...Rule) *uuid.UUID {
	text, given := r.typed(name, rules)
	if !given {
		return nil
	}
	id, err := uuid.Parse(text)
	// The library also takes forms with braces, without hyphens and as a URN.
	const usualForm = 36
	if err != nil || len(text) != usualForm {
		r.say(name, "must be a UUID.")
		return nil
	}
	return &id
}

// Amount reads money given as a number or a string, from its literal text.
func (r *Reader) Amount(name string, rules ...Rule) *payment.Minor {
	rule := combine(rules)
	v, given := r.find(name, rule)
	if !given {
		return nil
	}
	if v.kind != kindNumber && v.kind != kindString {
		r.say(name, "must be an amount, as a number or a string.")
		return nil
	}
	literal := strings.TrimSpace(v.text)
	if literal == "" {
		r.say(name, "may not be blank.")
		return nil
	}
	amount, err := payment.ParseMinor(literal)
	if err != nil {
		r.bad.Add(r.prefix+name, err.Error())
		return nil
	}
	if amount == 0 && !rule.zero {
		r.say(name, "must be more than 0.")
		return nil
	}
	return &amount
}

// Integer reads a whole number from lowest to highest.
func (r *Reader) Integer(name string, lowest, highest int, rules ...Rule) *int {
	v, given := r.find(name, combine(rules))
	if !given {
		return nil
	}
	if v.kind != kindNumber || strings.ContainsAny(v.text, ".eE") {
		r.say(name, "must be a whole number.")
		return nil
	}
	number, err := strconv.Atoi(v.text)
	if err != nil || number < lowest || number > highest {
		r.say(name, "must be from "+strconv.Itoa(lowest)+" to "+strconv.Itoa(highest)+".")
		return nil
	}
	return &number
}

// Enum reads one of the given values, with their case.
func Enum[T ~string](r *Reader, name string, values []T, rules ...Rule) T {
	text, given := r.typed(name, rules)
	if !given {
		return ""
	}
	words := make([]string, len(values))
	for i, v := range values {
		if string(v) == text {
			return v
		}
		words[i] = string(v)
	}
	r.say(name, "must be one of "+strings.Join(words, ", ")+".")
	return ""
}

// Date reads a day, YYYY-MM-DD.
func (r *Reader) Date(name string, rules ...Rule) payment.Date {
	text, given := r.typed(name, rules)
	if !given {
		return payment.Date{}
	}
	day, err := payment.ParseDate(text)
	if err != nil || day.IsZero() {
		r.say(name, "must be a date in the form YYYY-MM-DD.")
		return payment.Date{}
	}
	return day
}

// IP reads an IPv4 or IPv6 address.
func (r *Reader) IP(name string, rules ...Rule) netip.Addr {
	text, given := r.typed(name, rules)
	if !given {
		return netip.Addr{}
	}
	address, err := netip.ParseAddr(text)
	if err != nil || address.Zone() != "" {
		r.say(name, "must be an IPv4 or IPv6 address.")
		return netip.Addr{}
	}
	return address.Unmap()
}

// Country reads an ISO 3166-1 code in any case and gives it in upper case.
func (r *Reader) Country(name string, rules ...Rule) string {
	return r.code(name, "must be an ISO 3166-1 country code of two letters.", payment.KnownCountry, rules)
}

// Currency reads an ISO 4217 code in any case and gives it in upper case.
func (r *Reader) Currency(name string, rules ...Rule) string {
	return r.code(name, "must be an ISO 4217 currency code of three letters.", payment.KnownCurrency, rules)
}

func (r *Reader) code(name, sentence string, known func(string) bool, rules []Rule) string {
	text, given := r.typed(name, rules)
	if !given {
		return ""
	}
	code := strings.ToUpper(text)
	// Some letters outside ASCII have capitals within it.
	if len(code) != len(text) || !known(code) {
		r.say(name, sentence)
		return ""
	}
	return code
}
