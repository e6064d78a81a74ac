package webhook

import (
	"time"

	"sepad/internal/store"
)

const (
	// failuresToPause is how many attempts in a row must fail before an
	// endpoint is given a rest.
	failuresToPause = 10
	// maxPause bounds the rest: a receiver that comes back is found within it.
	maxPause = time.Minute
)

// isPaused tells that nothing is sent to the endpoint now.
func isPaused(s store.EndpointState, now time.Time) bool { return s.PausedUntil.After(now) }

// isProbing tells that the endpoint has had its rest and has to show with one
// delivery that it is back.
func isProbing(s store.EndpointState) bool { return s.PauseCount > 0 }

// afterAnswer is the state of an endpoint that works.
func afterAnswer() store.EndpointState { return store.EndpointState{} }

// afterFailure counts, and pauses an endpoint that fails all the time. Pauses
// grow as the waits of the schedule do.
func afterFailure(s store.EndpointState, schedule Schedule, now time.Time) store.EndpointState {
	s.FailureCount++
	if isPaused(s, now) || s.FailureCount < failuresToPause && !isProbing(s) {
		return s
	}
	s.PausedUntil = now.Add(pause(schedule, s.PauseCount))
	s.PauseCount++
	return s
}

func pause(schedule Schedule, count int) time.Duration {
	if len(schedule) == 0 {
		return maxPause
	}
	return min(maxPause, schedule[min(count, len(schedule)-1)])
}
