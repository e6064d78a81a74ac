// Package store holds the nouns of sepad as they lie in the database: how each is
// read, and the units of work that change them. Lists and searches stand beside
// it in listing; the engines below it in db.
//
// Whoever wants to change something calls Write and gets a Tx: rows, events and
// jobs that go through it commit together or not at all. Tenant data is reached
// through Tenant(id), so that a query without a tenant cannot be written by
// accident; the few look-ups that start without one (a token, an API key, work
// that is due) stand in lookup.go.
package store
