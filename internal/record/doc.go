// Package record is what outsiders see of transactions, chargebacks and
// subscriptions: one ordered table of columns each (contract 2.11 to 2.13).
//
// A column has a name, a kind and a function that takes its value from a row.
// Whoever writes a record, in whatever format, walks the table: exports write
// the values with Value.Append, events and JSON pages with Columns.AppendJSON.
// So that a page of a thousand records costs little, a Value is a small struct
// on the stack and everything is appended to the caller's buffer.
//
// A name that is not in a table is not exposed; a test holds the lists of names
// that must never be.
package record
