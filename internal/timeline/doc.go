// Package timeline tells what happened to a session, a payment, a subscription, a
// chargeback, a mandate, a payer, an event or an import, in order and in words, for the
// admin API and the dashboard.
//
//	store/listing.ReadHistory   what is on record: rows, events, deliveries, the audit trail
//	entry.go                    the story: one entry for each thing that happened
//	words.go                    what an entry says
//
// Nothing is recorded for it: whatever it tells, the rows of the change have.
package timeline
