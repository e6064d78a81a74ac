package web

import (
	"context"
	"net/http"
	"time"

	"sepad/internal/turn"
)

const (
	// readsAtOnce are what one person may read at a time in a process: an answer of a thousand records is some
	// thirty milliseconds of a processor, and hundreds that come at once would hold up payments of all tenants.
	readsAtOnce = 4
	// tenantReads are what all people of one tenant may: its administrator may add as many as he likes. What goes on for
	// long is mostly waiting for its reader, so that there may be more of it.
	tenantReads, tenantReadsThatGoOn = 8, 16
	// readPatience is how long somebody waits for both turns, and readLater what whoever has waited in vain is told to wait.
	readPatience, readLater = 30 * time.Second, 5 * time.Second
)

// InTurn has whoever reads do so a few times at once, and wait beyond that, as a person and among the people of a tenant.
// What goes on for long, as slowly as its reader likes, has turns of its own, so that the others go on beside it. Who has
// no name is not held up. Who had to wait is asked again what they may: that is long enough for a right to be taken away.
func InTurn(turns *turn.Turns[string], whoReads func(context.Context) (person, tenant string), route Route, goesOn bool) Handler {
	if route.Method != http.MethodGet {
		return route.Handler
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		person, tenant := whoReads(r.Context())
		if person == "" {
			return route.Handler(w, r)
		}
		ofTenant := tenantReads
		isOfTenant := tenant != ""
		if goesOn {
			person, tenant, ofTenant = person+" goes on", tenant+" goes on", tenantReadsThatGoOn
		}
		patient, cancel := context.WithTimeout(r.Context(), readPatience)
		defer cancel()
		leave, hasWaited, err := turns.Take(patient, person, readsAtOnce)
		if err != nil {
			return Throttled(readLater)
		}
		defer leave()
		if isOfTenant {
			leave, alsoWaited, err := turns.Take(patient, tenant, ofTenant)
			if err != nil {
				return Throttled(readLater)
			}
			defer leave()
			hasWaited = hasWaited || alsoWaited
		}
		if hasWaited {
			if err := voucherOf(r.Context()).ask(); err != nil {
				return err
			}
		}
		return route.Handler(w, r)
	}
}
