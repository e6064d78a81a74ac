// Package people is who works behind the counter: operators and their roles, how they
// sign in, the tokens of their programs, what each may do, and the record of what was
// done.
//
//	operator.go   adding, changing, resetting and removing somebody
//	sign_in.go    password and second factor; sessions of browsers
//	provider.go   what an OpenID provider says of somebody; provider_sign_in.go: what follows
//	passkey.go    passkeys as second factor
//	token.go      personal tokens
//	password.go totp.go secret.go patience.go  what these stand on
//	principal.go  who is asking, whichever way they came
//	rights.go     THE table: which role each route of the operators' API and of the
//	              dashboard is for
//
// Whoever lets somebody in takes a Principal, asks the rights table, and goes on with
// Principal.Enter: from then on the context says who acts, for the audit trail, and which
// tenants there are, for every read (store.Within).
package people
