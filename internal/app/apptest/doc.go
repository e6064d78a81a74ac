// Package apptest runs the whole service for black-box tests and holds every
// exchange with it against the API's document.
//
//	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
//		token := s.Create(t, apptest.InCampaign(apptest.ServerCampaign))
//		s.Pay(t, token, apptest.Approved).Want(t, 200, apptest.Fields{"status": "completed"})
//	})
//
// A Server is the real app on a fresh database with the shop of shop.yaml set
// up, listening on a port of its own. Tests speak HTTP with it; what no answer
// shows (events, the sandbox's ledger, how many rows there are) is read from
// the database (rows.go). Two things are checked without being asked for: each
// answer, and each request that was accepted, fits openapi.yaml (witness.go),
// and nothing personal and no secret stands in the log (log.go). Main fails a
// package whose tests have not seen everything that the document promises.
package apptest
