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
	// reportsAtOnce and tenantReports are those of Comparing: a file of two lines may be held against all that a tenant has.
	reportsAtOnce, tenantReports = 1, 2
	// filesAtOnce and tenantFiles are those of TakingIn: some ten megabytes of a file are held at a time, for as long as its
	// sender likes.
	filesAtOnce, tenantFiles = 2, 4
	// readPatience is how long somebody waits for both turns, and readLater what whoever has waited in vain is told to wait.
	readPatience, readLater = 30 * time.Second, 5 * time.Second
)

// Reading is how somebody reads, which decides how much of it there may be at once. Each kind has turns of its own.
type Reading int8

const (
	// Looking is at a list or a screen.
	Looking Reading = iota
	// GoingOn goes on for long, as slowly as its reader likes.
	GoingOn
	// Comparing holds a file against all there is.
	Comparing
	// TakingIn reads what somebody sends, and writes it down.
	TakingIn
)

// places are what one person and all people of a tenant may do at once.
type places struct {
	mark            string
	ofOne, ofTenant int
}

var placesFor = map[Reading]places{
	Looking: {"", readsAtOnce, tenantReads}, GoingOn: {" goes on", readsAtOnce, tenantReadsThatGoOn}, Comparing: {" compares", reportsAtOnce, tenantReports},
	TakingIn: {" takes in", filesAtOnce, tenantFiles},
}

// InTurn has whoever reads do so a few times at once, and wait beyond that, as a person and among the people of a tenant.
// Each kind of reading has turns of its own, so that the others go on beside it. Who has no name is not held up, nor is
// whatever else changes something. Who had to wait is asked again what they may: that is long enough for a right to be taken away.
func InTurn(taken *turn.Turns[string], whoReads func(context.Context) (person, tenant string), route Route, how Reading) Handler {
	if route.Method != http.MethodGet && how != Comparing && how != TakingIn {
		return route.Handler
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		person, tenant := whoReads(r.Context())
		if person == "" {
			return route.Handler(w, r)
		}
		own := placesFor[how]
		patient, cancel := context.WithTimeout(r.Context(), readPatience)
		defer cancel()
		leave, hasWaited, err := taken.Take(patient, person+own.mark, own.ofOne)
		if err != nil {
			return Throttled(readLater)
		}
		defer leave()
		if tenant != "" {
			leave, alsoWaited, err := taken.Take(patient, tenant+own.mark, own.ofTenant)
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
