// Package webhook is how merchants are told of events (contract 6).
//
// It makes the body of an event from the settlement that caused it, in the
// canonical form that receivers check (payload.go), and signs it (sign.go). The
// body is made once, in the transaction that writes the event, and kept as
// text: what is signed and sent later is those very bytes, whatever becomes of
// the records meanwhile.
//
// The event is its own place in line (docs/adr/0010, 0051). Deliverer
// (deliverer.go) is told by the store when a committed unit has put an event
// into line, by the queue when a sweep found work that nobody does, and by
// timers of its own when a retry comes due. Each time it drains one endpoint
// (drain.go): it leases the endpoint in the database, so that one process works
// on it at a time, reads deliveries in order of creation, sends some at once
// (sender.go, through a transport that knows no private networks: guard.go),
// and writes the results many at a time (drain_record.go). What follows from an
// answer is decided in schedule.go for the delivery and in breaker.go for the
// endpoint. Everything here follows real time, wherever the sandbox's clock is.
package webhook
