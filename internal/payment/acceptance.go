package payment

import (
	"time"

	"github.com/google/uuid"
)

// Acceptance is the evidence that a payer agreed to a mandate: what was shown,
// in which language, how it was agreed to, when, and from where. It is written
// with the attempt that rests on it and never changed.
type Acceptance struct {
	TransactionID uuid.UUID
	SessionID     uuid.UUID
	Mode          AcceptanceMode
	Language      string
	// TextVersion tells which wording of ours was shown, or that it was the
	// merchant's own.
	TextVersion string
	// Text is the whole mandate as the payer read it, TextHash its SHA-256.
	Text       string
	TextHash   string
	ClientIP   string
	UserAgent  string
	AcceptedAt time.Time
}
