// Package payment is the domain of sepad: what a session, an attempt, an order,
// a transaction and a subscription are, and every change of state they can go
// through. It is pure: no clock, no SQL, no HTTP. Time comes in as a value,
// and what must be written or told to somebody comes out as one.
//
// The flow it describes is that of a payment. Begin takes a payable session and
// an instrument and gives the attempt that is recorded before the gateway is
// called. Settle takes the recorded facts and the gateway's outcome and gives
// the new states, the subscription that a recurring purchase starts, and the
// events to report. Expire and Cancel end a session that was not paid.
//
// The package is one, and cut by noun, because one answer of a gateway changes
// session, order, transaction and subscription at once (docs/adr/0001).
// Which states follow which is written in tables, in transition.go; nobody
// outside compares statuses to decide.
package payment

//go:generate go run ./statesdoc
