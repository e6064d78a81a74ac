// Package store holds all SQL of sepad, and the only transaction.
//
// Whoever wants to change something calls Write and gets a Tx: rows, events and
// jobs that go through it commit together or not at all, and without one nothing
// can be changed. Tenant data is reached through Tenant(id), so that a query
// without a tenant cannot be written by accident; the few look-ups that start
// without one (a token, an API key, work that is due) stand in lookup.go.
//
// One SQL text serves two engines. postgres.go pipelines a unit of work over
// native pgx: its statements and the commit are one round trip, which creates
// that come at the same time share (postgres_group.go). sqlite.go has
// one writer that commits many concurrent units of work in one transaction,
// each under its own savepoint. What differs between the engines is an engine
// method, never an if around a query.
//
// A unit rests on requirements: statements that must touch a row. Where one does
// not, because somebody was faster, the engine itself takes the whole unit back,
// also what was sent along behind the requirement. Reads are made before a unit;
// the requirement is where it is decided whether they still hold.
package store
