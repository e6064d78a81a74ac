package store

// ForgettingStatements are those that find what has had its time, with the index
// that each is to use.
var ForgettingStatements = map[string]string{
	forgetSessions(""): "sessions_unpaid_idx",
	forgetEvents:       "events_id_key",
}
