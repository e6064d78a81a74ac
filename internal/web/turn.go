package web

import (
	"context"
	"net/http"
	"time"

	"sepad/internal/limit"
)

const (
	// readsAtOnce are what one person may read at a time in a process: an answer of a thousand records is some
	// thirty milliseconds of a processor, and hundreds that come at once would hold up payments of all tenants.
	readsAtOnce = 4
	// readLater is what whoever has waited in vain is told to wait.
	readLater = 5 * time.Second
)

// InTurn has whoever reads do so a few times at once, and wait beyond that. What goes on for long, as slowly as its reader
// likes, has turns of its own, so that the others go on beside it. Who has no name is not held up. Who had to wait is asked
// again what they may: half a minute is long enough for a right to be taken away.
func InTurn(turns *limit.Turns, nameOf func(context.Context) string, route Route, goesOn bool) Handler {
	if route.Method != http.MethodGet {
		return route.Handler
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		name := nameOf(r.Context())
		if name == "" {
			return route.Handler(w, r)
		}
		if goesOn {
			name += " goes on"
		}
		leave, taken := turns.TakeAtOnce(name, readsAtOnce)
		hasWaited := !taken
		if hasWaited {
			leave, taken = turns.Take(r.Context(), name, readsAtOnce)
		}
		if !taken {
			return Throttled(readLater)
		}
		defer leave()
		if hasWaited {
			if err := askAgain(r.Context()); err != nil {
				return err
			}
		}
		return route.Handler(w, r)
	}
}
