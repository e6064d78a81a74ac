package web

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxEmail is the longest address that mail can be sent to.
const maxEmail = 254

// Email reads a mail address. It must look like one that can receive mail;
// whether it does, only a mail can tell. International ones are taken.
func (r *Reader) Email(name string, rules ...Rule) string {
	text, given := r.typed(name, append(rules, MaxLength(maxEmail)))
	if !given {
		return ""
	}
	if !plausibleEmail(text) {
		r.say(name, "must be an email address.")
		return ""
	}
	return text
}

// IsEmail tells whether a text may be a mail address.
func IsEmail(text string) bool {
	return utf8.RuneCountInString(text) <= maxEmail && plausibleEmail(text)
}

// plausibleEmail is stricter than the grammar of RFC 5322, whose quoted parts,
// comments and domains without a dot no customer has and no gateway takes.
func plausibleEmail(text string) bool {
	local, domain, found := strings.Cut(text, "@")
	return found && plausibleLocal(local) && plausibleDomain(domain)
}

func plausibleLocal(local string) bool {
	const longest = 64
	if local == "" || utf8.RuneCountInString(local) > longest || strings.ContainsFunc(local, notInLocal) {
		return false
	}
	return local[0] != '.' && local[len(local)-1] != '.' && !strings.Contains(local, "..")
}

func notInLocal(c rune) bool {
	return strings.ContainsRune(`"(),:;<>@[\] `, c) || !unicode.IsPrint(c)
}

func plausibleDomain(domain string) bool {
	labels := strings.Split(domain, ".")
	if len(labels) < 2 {
		return false
	}
	for _, label := range labels {
		if !plausibleLabel(label) {
			return false
		}
	}
	// The last label of an IP address is a number, that of a domain is not.
	return strings.ContainsFunc(labels[len(labels)-1], func(c rune) bool { return !unicode.IsDigit(c) })
}

func plausibleLabel(label string) bool {
	const longest = 63
	if label == "" || utf8.RuneCountInString(label) > longest || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	for _, c := range label {
		if c != '-' && !unicode.IsLetter(c) && !unicode.IsMark(c) && !unicode.IsDigit(c) {
			return false
		}
	}
	return true
}
