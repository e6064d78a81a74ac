// Package admin serves the operator's API, /admin/v1. Every call carries a person's
// token, or the admin token of the settings; which role a route is for stands in the
// rights table (people.Rights), which every route passes.
//
//	operator.go operator_token.go  people, and their tokens
//	search.go   the lists in which operators look for something: sessions, leads,
//	            transactions, chargebacks, subscriptions (session.go, lead.go, …
//	            show one of them); page.go: cursors and addresses of pages
//	tenant.go api_key.go record.go what tenants set up
//	transaction.go chargeback.go   money that goes back
//	import.go reconciliation.go    processors' files
//	bank.go bank_body.go           files for merchants' banks, and what banks answer;
//	bank_restored.go               what they were sent before a restore
//	mandate.go                     what payers agreed to
//	privacy.go                     what a person may ask for
//	subscription.go                billing
//	webhook_*.go                   deliveries, and the secrets of profiles
//	clock.go                       the sandbox's time
package admin
