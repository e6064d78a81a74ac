// Package sepad is the client of a sepad service for a shop's server.
//
//	client := sepad.New("https://pay.shop.example", os.Getenv("SEPAD_API_KEY"))
//	created, err := client.CreateSession(ctx, sepad.SessionRequest{CampaignID: campaign, Lead: lead})
//
// What a call costs when it is repeated decides how it is repeated: reads are tried
// again, what makes a record carries an idempotency key and is tried again with the
// same one, and a payment is never sent twice: where its answer is lost, the service is
// asked what became of it (Client.Pay).
//
//	client.go     calls, retries, errors
//	session.go    payment sessions
//	money.go      transactions, refunds, subscriptions, mandates
//	page.go       lists as iterators
//	feed.go       the event feed: every event once, also after a day offline
//	webhook.go    verifying what the service sends
//	sepadtest/    test accounts, and deliveries for tests of a receiver
package sepad
