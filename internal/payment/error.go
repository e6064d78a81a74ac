package payment

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// Kind says what sort of refusal an Error is. The kinds are few: each has one
// HTTP status, given in one place (web/error.go).
type Kind int

const (
	// Invalid is bad input: Fields, or Detail when no field can be named.
	Invalid Kind = iota + 1
	// NotFound is an unknown token or id, or one of another tenant.
	NotFound
	// Conflict is a state that does not fit the call now but may later.
	Conflict
	// Gone is a session that has ended for good.
	Gone
	// OutcomeUnknown is a payment that may or may not have been taken: the
	// gateway is being asked, and nothing is to be tried again.
	OutcomeUnknown
)

// Details that the contract fixes word by word (contract 4.3, 7.2).
const (
	DetailConflict       = "Conflict"
	DetailGone           = "Session expired or completed"
	DetailReferenceInUse = "tenant_reference_id already in use for this tenant"
)

// Error is a refusal that a caller may see: its text names nothing internal.
type Error struct {
	Kind   Kind
	Detail string
	Fields Fields
}

// Fields holds one sentence per bad field, keyed as in the request with a dot
// for nesting ("lead.email").
type Fields map[string]string

func (e *Error) Error() string {
	if len(e.Fields) == 0 {
		return e.Detail
	}
	var b strings.Builder
	for i, name := range slices.Sorted(maps.Keys(e.Fields)) {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(name + ": " + e.Fields[name])
	}
	return b.String()
}

// Add records a sentence for a field; the first one said of a field stays.
func (f Fields) Add(name, sentence string) {
	if _, said := f[name]; !said {
		f[name] = sentence
	}
}

// Err is nil when no field is bad.
func (f Fields) Err() error {
	if len(f) == 0 {
		return nil
	}
	return &Error{Kind: Invalid, Fields: f}
}

// ErrSessionNotFound is the answer for a token that no tenant has.
var ErrSessionNotFound = &Error{Kind: NotFound, Detail: "Session not found"}

// ErrGone is the answer for a session that has ended.
var ErrGone = &Error{Kind: Gone, Detail: DetailGone}

// ErrReferenceInUse is the answer for a merchant reference that another
// attempt has taken, declined or not (contract 4.3).
var ErrReferenceInUse = &Error{Kind: Conflict, Detail: DetailReferenceInUse}

// Conflicting is a Conflict with a sentence of its own.
func Conflicting(detail string) *Error { return &Error{Kind: Conflict, Detail: detail} }

// KindOf gives the kind of the refusal within err, or 0 when it holds none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return 0
}
