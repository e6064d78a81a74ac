package payment

import (
	"strings"

	"github.com/google/uuid"
	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// Lead is a person within a tenant, known by the email address without regard
// to case. A later session for the same address updates the other fields.
type Lead struct {
	ID         uuid.UUID
	FirstName  string
	LastName   string
	Email      string
	Country    string
	Address    string
	City       string
	PostalCode string
	Phone      string

	// Unsaid are the optional fields that a create left out: what is known of them
	// stays. One that is given and empty is cleared.
	Unsaid struct{ Address, City, PostalCode, Phone bool }
}

// EmailKey is the form in which addresses are compared: without regard to case,
// to how accents are composed, and to whether an international domain is written
// in its own letters or for the wire (xn--…).
func (l Lead) EmailKey() string {
	key := strings.ToLower(l.Email)
	if local, domain, found := strings.Cut(key, "@"); found && strings.Contains(domain, wirePrefix) {
		if written, err := idna.Punycode.ToUnicode(domain); err == nil {
			key = local + "@" + strings.ToLower(written)
		}
	}
	return norm.NFC.String(key)
}

// wirePrefix begins a label of a domain that is written for the wire.
const wirePrefix = "xn--"
