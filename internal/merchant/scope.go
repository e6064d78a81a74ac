package merchant

import (
	"slices"
	"strings"
)

// Scope is a part of the API that a key opens.
type Scope string

const (
	ScopePayments      Scope = "payments"      // sessions: create, find, cancel, their results
	ScopeRefunds       Scope = "refunds"       // give money back
	ScopeSubscriptions Scope = "subscriptions" // cancel and change subscriptions
	ScopeReports       Scope = "reports"       // read transactions, subscriptions, mandates, events
)

// AllScopes lists every scope.
var AllScopes = []Scope{ScopePayments, ScopeRefunds, ScopeSubscriptions, ScopeReports}

// Scopes are those of one key, in the order of AllScopes with a space between:
// that is how they are stored and compared.
type Scopes string

// DefaultScopes are those of a key that was made without saying: what the
// specification has.
const DefaultScopes = Scopes(ScopePayments + " " + ScopeReports)

// NewScopes puts scopes together; none are the default. It gives what is no scope.
func NewScopes(names []string) (scopes Scopes, unknown []string) {
	if len(names) == 0 {
		return DefaultScopes, nil
	}
	var known []string
	for _, scope := range AllScopes {
		if slices.Contains(names, string(scope)) {
			known = append(known, string(scope))
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	return Scopes(strings.Join(known, " ")), unknown
}

// Has tells whether a key may do what the scope stands for.
func (s Scopes) Has(scope Scope) bool { return slices.Contains(s.List(), string(scope)) }

// List is the scopes one by one.
func (s Scopes) List() []string { return strings.Fields(string(s)) }

// UnknownScopes says what is wrong with names that are no scopes.
func UnknownScopes(names []string) string {
	return strings.Join(names, ", ") + ": no such scope. There are payments, refunds, subscriptions and reports."
}
