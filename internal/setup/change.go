package setup

import (
	"github.com/google/uuid"

	"sepad/internal/merchant"
)

// KindAPIKey stands beside the kinds of records: no record refers to a key.
const KindAPIKey merchant.RecordKind = "api key"

// Action is what became of a record.
type Action string

const (
	Created   Action = "created"
	Changed   Action = "changed"
	Unchanged Action = "unchanged"
)

// Change tells what became of one record of a file.
type Change struct {
	Action Action
	Kind   merchant.RecordKind
	Name   string
	ID     uuid.UUID
	// Secret is a key or signing secret that was made just now. It is to be
	// shown once and cannot be read again.
	Secret merchant.Secret
	// Note is a sentence that an operator should read, "" for none.
	Note string
}

// AnyChange tells whether something was written.
func AnyChange(changes []Change) bool {
	for _, c := range changes {
		if c.Action != Unchanged {
			return true
		}
	}
	return false
}
