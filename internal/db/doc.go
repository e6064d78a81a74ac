// Package db is the database without what lies in it: two engines, and units of
// work on them. It knows no table of ours but those that say how old a schema is.
//
// Whoever wants to change something calls Write and gets a Tx: statements and jobs
// that go through it commit together or not at all, and without one nothing can be
// changed.
//
// One SQL text serves two engines. postgres.go pipelines a unit of work over
// native pgx: its statements and the commit are one round trip, which units that
// say so share with others of the same time (postgres_group.go). sqlite.go has
// one writer that commits many concurrent units of work in one transaction, each
// under its own savepoint when one of them is refused. What differs between the engines is an engine
// method, never an if around a query.
//
// A unit rests on requirements: statements that must touch a row. Where one does
// not, because somebody was faster, the engine itself takes the whole unit back,
// also what was sent along behind the requirement. Reads are made before a unit;
// the requirement is where it is decided whether they still hold.
package db
