package payment

import (
	"strings"

	"github.com/google/uuid"
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
}

// EmailKey is the form in which addresses are compared.
func (l Lead) EmailKey() string { return strings.ToLower(l.Email) }

// String keeps a person out of logs.
func (l Lead) String() string { return "lead " + l.ID.String() }
