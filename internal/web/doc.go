// Package web is the HTTP plumbing that the merchant API, the admin API and the
// hosted page share. It knows requests and answers, not payments.
//
// A request passes the Front, which finds out the client's address, gives the
// request an id, and writes the access line when it is over. The Mux finds the
// route and answers for itself whatever has none: unknown paths, wrong methods,
// missing slashes, panics. A route's Handler reads the body with DecodeObject
// and its fields with a Reader, which collects a sentence for every bad one,
// and returns an error or answers with WriteJSON. WriteError is the only place
// that turns errors into statuses (contract 7).
//
// Nothing here writes a path, a query, a token or a body to the log.
package web
