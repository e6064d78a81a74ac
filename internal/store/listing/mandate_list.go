package listing

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/store"
)

// MandateSearch says which mandates are looked for.
type MandateSearch struct {
	Common
	AcceptanceMode payment.AcceptanceMode
}

// MandateRecord is a mandate that a payer gave by paying a session, with the payment
// that it was given for.
type MandateRecord struct {
	sepa.Masked
	TenantID, SessionID, TransactionID uuid.UUID
	LeadID                             uuid.UUID
	Reference                          string
	AcceptanceMode                     payment.AcceptanceMode
	MaskedIBAN, HolderName, Email      string
	GivenAt                            time.Time
}

var mandateSearch = searched[MandateRecord]{
	table: "sessions", name: "s", scan: scanMandate, id: func(m *MandateRecord) uuid.UUID { return m.SessionID },
	query: `SELECT s.tenant_id, s.id, t.id, s.lead_id, s.mandate_reference, s.acceptance_mode, t.iban_masked, t.holder_name, l.email, t.mandate_at FROM sessions s
		JOIN transactions t ON t.tenant_id = s.tenant_id AND t.id = s.last_transaction_id
		JOIN leads l ON l.tenant_id = s.tenant_id AND l.id = s.lead_id
		WHERE s.tenant_id = $1`,
}

func scanMandate(r db.Rows) (m MandateRecord, err error) {
	return m, r.Scan(&m.TenantID, &m.SessionID, &m.TransactionID, &m.LeadID, &m.Reference, &m.AcceptanceMode, &m.MaskedIBAN, &m.HolderName, &m.Email,
		db.Instant{To: &m.GivenAt})
}

func (f MandateSearch) ways() []conditions {
	given := condition{text: "s.status = 'COMPLETED'"}
	c := conditions{passing: slices.Concat([]condition{given}, when("s.acceptance_mode = $%d", string(f.AcceptanceMode)),
		period("s.created_at", f.CreatedFrom, f.CreatedBefore))}
	return waysOf(f.Text, c, sessionWays)
}

// SearchMandates lists mandates.
func SearchMandates(ctx context.Context, s *store.Store, f MandateSearch, at Paging) (Part[MandateRecord], error) {
	return mandateSearch.of(ctx, s, f.TenantID, at, f.ways()...)
}
