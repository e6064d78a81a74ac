package payment

import (
	"testing"
	"time"
)

var sessionStatuses = []SessionStatus{SessionPending, SessionAwaiting, SessionCompleted, SessionFailed, SessionExpired}

// TestSessionChecks asks every question of a session in every state, in flight
// or not, in time or not.
func TestSessionChecks(t *testing.T) {
	t.Parallel()
	const ok = Kind(0)
	cases := []struct {
		status              SessionStatus
		inFlight, overdue   bool
		seen                SessionStatus
		pay, verify, cancel Kind
		active              bool
	}{
		{SessionPending, false, false, SessionPending, ok, Conflict, ok, true},
		{SessionPending, true, false, SessionPending, Conflict, Conflict, Conflict, true},
		{SessionPending, false, true, SessionExpired, Gone, Gone, Gone, false},
		{SessionPending, true, true, SessionPending, Conflict, Conflict, Conflict, false},
		{SessionAwaiting, false, false, SessionAwaiting, Conflict, ok, Conflict, true},
		{SessionAwaiting, true, false, SessionAwaiting, Conflict, Conflict, Conflict, true},
		{SessionAwaiting, false, true, SessionAwaiting, Conflict, Conflict, Conflict, false},
		{SessionAwaiting, true, true, SessionAwaiting, Conflict, Conflict, Conflict, false},
		{SessionCompleted, false, false, SessionCompleted, Gone, Gone, Gone, false},
		{SessionCompleted, false, true, SessionCompleted, Gone, Gone, Gone, false},
		{SessionFailed, false, false, SessionFailed, Gone, Gone, Gone, false},
		{SessionFailed, false, true, SessionFailed, Gone, Gone, Gone, false},
		{SessionExpired, false, false, SessionExpired, Gone, Gone, Gone, false},
		{SessionExpired, false, true, SessionExpired, Gone, Gone, Gone, false},
	}
	for _, c := range cases {
		name := string(c.status)
		s := aSession(func(s *Session) { s.Status = c.status })
		if c.inFlight {
			id := NewID()
			s.OpenTransactionID, name = &id, name+" in flight"
		}
		now := noon
		if c.overdue {
			now, name = s.ExpiresAt, name+" at its end"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := s.StatusAt(now); got != c.seen {
				t.Errorf("readers see %s, want %s", got, c.seen)
			}
			for question, check := range map[string]struct {
				err  error
				want Kind
			}{
				"pay": {s.CheckPayable(now), c.pay}, "verify": {s.CheckVerifiable(now), c.verify}, "cancel": {s.CheckCancellable(now), c.cancel},
			} {
				if KindOf(check.err) != check.want || (check.err == nil) != (check.want == ok) {
					t.Errorf("%s: got %v, want kind %d", question, check.err, check.want)
				}
			}
			if got := s.Active(now); got != c.active {
				t.Errorf("active is %t", got)
			}
			checkEnds(t, s, now, c.cancel == ok, c.status == SessionPending && c.seen == SessionExpired)
		})
	}
}

// checkEnds checks Cancel and Expire against what is allowed, and Withdraw, for which time does not run out.
func checkEnds(t *testing.T, s Session, now time.Time, cancellable, expirable bool) {
	t.Helper()
	for _, end := range []struct {
		name    string
		do      func(Session, time.Time) (Session, error)
		allowed bool
	}{{"cancel", Cancel, cancellable}, {"expire", Expire, expirable}, {"withdraw", Withdraw, s.Status == SessionPending && !s.InFlight()}} {
		after, err := end.do(s, now)
		if (err == nil) != end.allowed {
			t.Errorf("%s: got %v, allowed %t", end.name, err, end.allowed)
		}
		if err != nil {
			if after.Status != s.Status || after.HoldsLead != s.HoldsLead {
				t.Errorf("%s was refused but changed the session", end.name)
			}
			continue
		}
		if after.Status != SessionExpired || after.HoldsLead || !after.UpdatedAt.Equal(now) {
			t.Errorf("%s gives %s, holds the lead %t", end.name, after.Status, after.HoldsLead)
		}
	}
}

func TestStatusTurnsAtTheInstantOfExpiry(t *testing.T) {
	t.Parallel()
	s := aSession()
	if got := s.StatusAt(s.ExpiresAt.Add(-time.Nanosecond)); got != SessionPending {
		t.Errorf("just before: %s", got)
	}
	if got := s.StatusAt(s.ExpiresAt); got != SessionExpired {
		t.Errorf("at it: %s", got)
	}
}

func TestAttemptsRemaining(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		status    SessionStatus
		max, used int
		want      int
	}{
		{"none used", SessionPending, 3, 0, 3},
		{"one used", SessionPending, 3, 1, 2},
		{"all used", SessionPending, 3, 3, 0},
		{"never below none", SessionPending, 1, 2, 0},
		{"a failed session has none, whatever it used", SessionFailed, 3, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := Session{Status: c.status, MaxAttempts: c.max, AttemptsUsed: c.used}
			if got := s.AttemptsRemaining(); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestWhichSessionsAreOver(t *testing.T) {
	t.Parallel()
	for status, want := range map[SessionStatus]bool{
		SessionPending: false, SessionAwaiting: false, SessionCompleted: true, SessionFailed: true, SessionExpired: true,
	} {
		if got := (Session{Status: status}).IsOver(); got != want {
			t.Errorf("%s is over: %t", status, got)
		}
	}
}
