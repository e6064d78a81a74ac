package apptest

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sepad/internal/payment"
)

// Sessions is where sessions are made; Path leads to one of them.
const Sessions = "/api/v1/payment-sessions/"

// Path is the address of a session, or of something that can be done with it.
func Path(token string, verb ...string) string {
	path := Sessions + token + "/"
	for _, v := range verb {
		path += v + "/"
	}
	return path
}

// TryCreate asks for a session of the shop.
func (s *Server) TryCreate(t testing.TB, body Body) Answer {
	t.Helper()
	return s.Do(t, Request{Path: Sessions, Key: s.Key, Body: body})
}

// Create makes a session of the shop and gives its token.
func (s *Server) Create(t testing.TB, body Body) string {
	t.Helper()
	return s.TryCreate(t, body).Want(t, http.StatusCreated, Fields{"status": "PENDING"}).Text(t, "session_token")
}

// Retrieve reads a session.
func (s *Server) Retrieve(t testing.TB, token string) Answer {
	t.Helper()
	return s.Do(t, Request{Path: Path(token)})
}

// WantStatus expects a session to stand somewhere.
func (s *Server) WantStatus(t testing.TB, token, status string) {
	t.Helper()
	s.Retrieve(t, token).Want(t, http.StatusOK, Fields{"status": status})
}

// PayRequest is a payment from an account.
func PayRequest(token, iban string, more ...Body) Request {
	body := Body{"iban": iban, "iban_holder_name": HolderName}
	for _, fields := range more {
		body = body.With(fields)
	}
	return Request{Path: Path(token, "pay"), Body: body}
}

// Pay pays a session from an account.
func (s *Server) Pay(t testing.TB, token, iban string, more ...Body) Answer {
	t.Helper()
	return s.Do(t, PayRequest(token, iban, more...))
}

// Completed makes a session and pays it.
func (s *Server) Completed(t testing.TB, body Body) (token string, result Answer) {
	t.Helper()
	token = s.Create(t, body)
	return token, s.Pay(t, token, Approved).Want(t, http.StatusOK, Fields{"status": "completed"})
}

// Awaiting makes a session whose payer has to verify the mandate.
func (s *Server) Awaiting(t testing.TB, body Body, iban string) (token string, result Answer) {
	t.Helper()
	token = s.Create(t, body)
	return token, s.Pay(t, token, iban).Want(t, http.StatusOK, Fields{"status": "awaiting_verification"})
}

// Verify verifies a session's mandate without a body.
func (s *Server) Verify(t testing.TB, token string) Answer {
	t.Helper()
	return s.Do(t, Request{Method: http.MethodPost, Path: Path(token, "verify")})
}

// Cancel cancels a session of the shop.
func (s *Server) Cancel(t testing.TB, token string) Answer {
	t.Helper()
	return s.Do(t, Request{Method: http.MethodPost, Path: Path(token, "cancel"), Key: s.Key})
}

// Decide is the payer on the simulated bank's page, whose address a result gave.
func (s *Server) Decide(t testing.TB, page, decision string) Answer {
	t.Helper()
	return s.Do(t, Request{
		Path: strings.TrimPrefix(page, s.URL), Body: url.Values{"decision": {decision}}.Encode(),
		Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
	})
}

// Advance moves the sandbox's clock and gives what it shows then.
func (s *Server) Advance(t testing.TB, by time.Duration) time.Time {
	t.Helper()
	answer := s.Do(t, Request{Path: "/admin/v1/clock/", Key: AdminToken, Body: Body{"advance": by.String()}})
	now, err := time.Parse(time.RFC3339, answer.Want(t, http.StatusOK, nil).Text(t, "now"))
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// Now is what the service's clock shows.
func (s *Server) Now(t testing.TB) time.Time {
	t.Helper()
	answer := s.Do(t, Request{Path: "/admin/v1/clock/", Key: AdminToken})
	now, err := time.Parse(time.RFC3339, answer.Want(t, http.StatusOK, nil).Text(t, "now"))
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// LookUp asks the gateways about every payment whose outcome is not known, as if
// the wait before the next question were over.
func (s *Server) LookUp(t testing.TB) {
	t.Helper()
	s.Env.Exec(t, `UPDATE transactions SET next_lookup_at = 1 WHERE in_flight IS NOT NULL AND lookup_count > 0`)
	if _, err := s.App.Checkout.RunLookups(t.Context()); err != nil {
		t.Fatalf("look up unknown outcomes: %v", err)
	}
}

// MoveClock moves the sandbox's clock without doing what falls due, as it is
// for a moment when time passes by itself.
func (s *Server) MoveClock(t testing.TB, by time.Duration) {
	t.Helper()
	s.Env.Exec(t, `UPDATE service_clock SET offset_us = offset_us + $1`, by.Microseconds())
	if err := s.App.Movable.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// quietWeeks are as many as stories of a bank take, from a first payment to the rebill after the next.
const quietWeeks = 10

// MoveToQuietTuesday moves the clock to noon of the next Tuesday after which every weekday is one of the banks' for some weeks: a
// story that counts days is the same one on whatever day, and at whatever hour, it is told.
func (s *Server) MoveToQuietTuesday(t testing.TB) {
	t.Helper()
	now := s.Now(t)
	noon := payment.DateOf(now).Start().Add(12 * time.Hour)
	for noon.Before(now) || noon.Weekday() != time.Tuesday || !isQuietFrom(noon) {
		noon = noon.AddDate(0, 0, 1)
	}
	s.MoveClock(t, noon.Sub(now))
}

func isQuietFrom(day time.Time) bool {
	for ahead := range quietWeeks * 7 {
		d := day.AddDate(0, 0, ahead)
		isWeekend := d.Weekday() == time.Saturday || d.Weekday() == time.Sunday
		if date := payment.DateOf(d); !isWeekend && date.DueDate() != date {
			return false
		}
	}
	return true
}

// Eventually waits until something is so.
func Eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	const often = 20 * time.Millisecond
	ticker, limit := time.NewTicker(often), time.After(patience)
	defer ticker.Stop()
	for !so() {
		select {
		case <-ticker.C:
		case <-limit:
			t.Fatalf("not in time: %s", what)
		}
	}
}

// AtOnce makes calls at the same moment and gives their answers by status.
func (s *Server) AtOnce(t testing.TB, requests ...Request) map[int][]Answer {
	t.Helper()
	var mu sync.Mutex
	var callers sync.WaitGroup
	start, byStatus := make(chan struct{}), map[int][]Answer{}
	for _, r := range requests {
		callers.Go(func() {
			<-start
			answer, err := s.TryDo(t, r)
			if err != nil {
				t.Errorf("%s: %v", r.Path, err)
			}
			mu.Lock()
			defer mu.Unlock()
			byStatus[answer.Status] = append(byStatus[answer.Status], answer)
		})
	}
	close(start)
	callers.Wait()
	return byStatus
}

// Later makes a call that takes its time.
func (s *Server) Later(t testing.TB, r Request) <-chan Answer {
	t.Helper()
	answered := make(chan Answer, 1)
	go func() {
		answer, err := s.TryDo(t, r)
		if err != nil {
			t.Errorf("%s: %v", r.Path, err)
		}
		answered <- answer
	}()
	return answered
}

// Times is a request repeated.
func (r Request) Times(n int) []Request {
	all := make([]Request, n)
	for i := range all {
		all[i] = r
	}
	return all
}

// Token is the token of a session that is known by its id.
func (s *Server) Token(t testing.TB, sessionID string) string {
	t.Helper()
	id := uuid.MustParse(sessionID)
	tenantID, err := s.Env.Store.SessionOwner(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	session, err := s.Env.Store.Tenant(tenantID).Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return session.Token
}

// ShortToken is what of a token may be logged.
func ShortToken(token string) string { return payment.ShortToken(token) }
