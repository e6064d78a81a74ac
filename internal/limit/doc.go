// Package limit holds callers to their rates (contract 8).
//
// A rate of N means exactly N calls in any window of one second, and the next
// one refused: the instants of the last N accepted calls are kept per scope
// and caller, and a call is accepted when the oldest of them is a second old.
// A token bucket, which needs less memory, lets more than N through.
//
// One process counts in memory. With a Redis address all processes count
// together, by Redis's own time. Whenever Redis does not answer, each process
// falls back to its memory: a limit that is a little too generous for a while
// is better than a payment that cannot be made.
package limit
