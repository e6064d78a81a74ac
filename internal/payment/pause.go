package payment

import (
	"time"

	"github.com/google/uuid"
)

// PauseReason says why nothing is billed through a gateway account for now.
type PauseReason string

const (
	// PausedByCreditorCode: a bank blamed us (our identifier, our account, our
	// file). Every further debit would come back too, so that a person mends it
	// first and resumes.
	PausedByCreditorCode PauseReason = "creditor"
	// PausedAway: nothing could be sent. It is tried again by itself.
	PausedAway PauseReason = "away"
)

const (
	// An account that was away is tried again after as long as it has been away,
	// within these bounds.
	shortestAway, longestAway = 10 * time.Minute, time.Hour
	// awayTooLong is when that needs a person.
	awayTooLong = 24 * time.Hour
)

// RebillPause holds the rebills of a gateway account back. What is due stays due:
// it costs a subscription nothing but time.
type RebillPause struct {
	TenantID  uuid.UUID
	GatewayID uuid.UUID
	Reason    PauseReason
	Code      string    // the bank's, "" for none
	Since     time.Time // when the first try failed
	Until     time.Time // zero: until a person resumes
}

// PauseAway is the pause after a rebill that could not be sent, since when the
// account has been away, or zero when that is new.
func PauseAway(t Transaction, since, now time.Time) RebillPause {
	if since.IsZero() {
		since = now
	}
	wait := min(max(now.Sub(since), shortestAway), longestAway)
	return RebillPause{
		TenantID: t.TenantID, GatewayID: t.GatewayID, Reason: PausedAway, Since: since, Until: now.Add(wait),
	}
}

// NeedsPerson tells that waiting will not help.
func (p RebillPause) NeedsPerson(now time.Time) bool {
	return p.Reason == PausedByCreditorCode || now.Sub(p.Since) > awayTooLong
}

// Pause is the pause that a change leads to, nil for none.
func (c Change) Pause(now time.Time) *RebillPause {
	if c.PausesRebills == "" {
		return nil
	}
	return &RebillPause{
		TenantID: c.Transaction.TenantID, GatewayID: c.Transaction.GatewayID,
		Reason: PausedByCreditorCode, Code: c.PausesRebills, Since: now,
	}
}
