// Package api serves the merchant API, /api/v1 (contract 4).
//
// routes.go lists every path with its handler; each endpoint has a file of its
// own that decodes, calls one use case and writes the answer. access.go says who
// calls and how often they may: an API key is looked up on every call, and a
// call is counted by key, or by address where the token in the path is the only
// credential. Bodies and their field names live here and nowhere else; result.go
// is the envelope that pay and verify share.
package api
