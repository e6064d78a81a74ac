// Package privacy is what a person may ask of whoever keeps data: to see all of it,
// and to have it erased.
//
//	export.go   everything about one person as JSON, a row at a time
//	erase.go    overwrites what names a person, and keeps what tells of money
//	again.go    erases again what came back: from a backup, or from a unit of work
//	            that had read the person before
//	list.go     who was erased, as a file that no restored backup can forget
//	retain.go   removes what is not needed any more
//
// Which columns of which tables are meant stands in one list, store.PersonalTables,
// which a test holds to the schema.
package privacy

import (
	"log/slog"
	"time"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/store"
)

// Privacy holds what the work needs.
type Privacy struct {
	Store  *store.Store
	Clock  clock.Clock // the service's time
	Logger *slog.Logger

	// Keep is how long data is kept, by the service's time and by the Real one.
	Keep Retention
	Real clock.Clock
	// Observe counts what was removed; nil for nobody.
	Observe func(kind string, rows int)
	// evidence is how far agreements were looked at, by tenant.
	evidence map[uuid.UUID]uuid.UUID
}

const (
	// lookAgainAfter is when what other units have written meanwhile is erased too: no
	// unit takes so long.
	lookAgainAfter = time.Hour
	// lookAgainEvery is how often an erased person is looked at further, and
	// lookAgainFor until when: a bank may give a debit back for thirteen months, and
	// names the payer when it does.
	lookAgainEvery = 30 * 24 * time.Hour
	lookAgainFor   = 14 * 31 * 24 * time.Hour
)
