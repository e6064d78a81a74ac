package payment

import (
	"time"

	"github.com/google/uuid"
)

// SessionStatus is where a session stands. A payment in flight is no status:
// the open attempt marks it, and readers see PENDING.
type SessionStatus string

const (
	SessionPending   SessionStatus = "PENDING"
	SessionAwaiting  SessionStatus = "AWAITING_VERIFICATION"
	SessionCompleted SessionStatus = "COMPLETED"
	SessionFailed    SessionStatus = "FAILED"
	SessionExpired   SessionStatus = "EXPIRED"
)

// SessionStatuses lists every status.
var SessionStatuses = []SessionStatus{SessionPending, SessionAwaiting, SessionCompleted, SessionFailed, SessionExpired}

// Limits on attempts (contract 8.2).
const (
	MaxPaymentAttempts     = 10
	DefaultPaymentAttempts = 3
)

// AcceptanceMode says how the payer agrees to the mandate.
type AcceptanceMode string

const (
	AcceptCheckbox AcceptanceMode = "checkbox"
	AcceptImplicit AcceptanceMode = "IMPLICIT"
)

// Session is one customer's way through one purchase.
type Session struct {
	ID       uuid.UUID
	TenantID uuid.UUID
	LeadID   uuid.UUID
	Token    string
	Status   SessionStatus
	Terms    Terms

	GatewayID        uuid.UUID
	CampaignID       *uuid.UUID // nil in direct mode
	OfferID          *uuid.UUID
	HostedPageID     *uuid.UUID // nil in S2S mode
	WebhookProfileID *uuid.UUID // nil: the tenant's default

	// RenewsID names the subscription to which the session's payer gives another
	// mandate, nil for a purchase.
	RenewsID *uuid.UUID

	// TenantReferenceID is the merchant's name for the purchase, which attempts have
	// that come without one of their own.
	TenantReferenceID *string
	Options           SessionOptions

	AcceptanceMode   AcceptanceMode
	MandateReference string
	CustomerIP       string

	MaxAttempts  int
	AttemptsUsed int
	// OpenTransactionID names the attempt whose answer is outstanding.
	OpenTransactionID *uuid.UUID
	// LastTransactionID names the latest attempt: the one that awaits
	// verification, or that ended the session.
	LastTransactionID *uuid.UUID
	// HoldsLead keeps another session of the lead from being made.
	HoldsLead bool

	ExpiresAt time.Time
	CreatedAt time.Time
	UpdatedAt time.Time
}

// AttemptsRemaining is how often the customer may still try.
func (s Session) AttemptsRemaining() int {
	if s.Status == SessionFailed {
		return 0
	}
	return max(0, s.MaxAttempts-s.AttemptsUsed)
}

// InFlight tells that a gateway's answer is outstanding.
func (s Session) InFlight() bool { return s.OpenTransactionID != nil }

// StatusAt is the status that readers see: a session whose time has run out is
// expired at that moment, whether or not the sweep has come by. One that awaits
// verification or has a payment in flight waits for the gateway's word.
func (s Session) StatusAt(now time.Time) SessionStatus {
	if s.Status == SessionPending && !s.InFlight() && s.overdue(now) {
		return SessionExpired
	}
	return s.Status
}

// overdue tells that the session's time has run out.
func (s Session) overdue(now time.Time) bool { return !s.ExpiresAt.After(now) }

// AwaitsVerification tells that the payer must confirm the mandate.
func (s Session) AwaitsVerification() bool { return s.Status == SessionAwaiting }

// IsOver tells that nothing more comes of the session.
func (s Session) IsOver() bool {
	return s.Status == SessionCompleted || s.Status == SessionFailed || s.Status == SessionExpired
}

// HasFailed tells that the last attempt was refused and no other is allowed.
func (s Session) HasFailed() bool { return s.Status == SessionFailed }

// ranOutUnverified tells that nobody verified the mandate in time, and that the
// gateway is not being asked about it.
func (s Session) ranOutUnverified(now time.Time) bool {
	return s.AwaitsVerification() && !s.InFlight() && s.overdue(now)
}

// CheckPayable refuses a session that cannot take a payment now.
func (s Session) CheckPayable(now time.Time) error {
	if err := s.checkLive(now); err != nil {
		return err
	}
	if s.InFlight() {
		return Conflicting("A payment for this session is being processed.")
	}
	if s.Status != SessionPending {
		return Conflicting("The session awaits verification of the mandate.")
	}
	return nil
}

// CheckVerifiable refuses a session whose mandate cannot be verified now.
func (s Session) CheckVerifiable(now time.Time) error {
	if err := s.checkLive(now); err != nil {
		return err
	}
	if s.Status != SessionAwaiting {
		return Conflicting("The session does not await verification.")
	}
	if s.InFlight() {
		return Conflicting("The verification is being processed.")
	}
	if s.overdue(now) {
		return Conflicting("The session's time has run out and its outcome is being settled.")
	}
	return nil
}

// CheckCancellable refuses a session that cannot be cancelled now.
func (s Session) CheckCancellable(now time.Time) error {
	if err := s.checkLive(now); err != nil {
		return err
	}
	if s.InFlight() || s.Status != SessionPending {
		return Conflicting("Only a pending session without a payment under way can be cancelled.")
	}
	return nil
}

// checkLive refuses a session that has ended.
func (s Session) checkLive(now time.Time) error {
	switch s.StatusAt(now) {
	case SessionPending, SessionAwaiting:
		return nil
	default:
		return ErrGone
	}
}

// Active tells that the session may still be paid: what a session token needs
// to be good for more than its own session.
func (s Session) Active(now time.Time) bool {
	return s.checkLive(now) == nil && !s.overdue(now)
}
