package store

import (
	"context"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/payment"
)

const pauseColumns = `tenant_id, gateway_id, reason, reason_code, since, paused_until`

// PauseRebills holds the rebills of a gateway account back. A pause that a person
// must end stays as it is; one for a gateway that is away goes on since its start.
func (tx *Tx) PauseRebills(p payment.RebillPause) {
	if p.Reason != payment.PausedAway {
		tx.auditPause(p)
	}
	tx.Then(`
		INSERT INTO rebill_pauses (`+pauseColumns+`) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (tenant_id, gateway_id) DO UPDATE SET reason = excluded.reason, reason_code = excluded.reason_code,
			since = CASE WHEN rebill_pauses.reason = excluded.reason THEN rebill_pauses.since ELSE excluded.since END,
			paused_until = excluded.paused_until
		WHERE rebill_pauses.reason = 'away'`,
		p.TenantID, p.GatewayID, string(p.Reason), p.Code, db.Micros(p.Since), db.Micros(p.Until))
}

// auditPause tells of a pause that a person must end, once: every further rebill that is
// refused for it asks for it again.
func (tx *Tx) auditPause(p payment.RebillPause) {
	pause := Deed{
		Action: "gateway.pause", ObjectType: "gateway", ObjectID: p.GatewayID.String(), TenantID: p.TenantID,
		After: map[string]any{"reason": p.Reason, "reason_code": p.Code, "since": p.Since},
	}
	values := tx.entryValues(pause)
	tx.Then(insertEntry+` SELECT `+entryPlaces+` WHERE NOT EXISTS (
		SELECT 1 FROM rebill_pauses WHERE tenant_id = `+db.Place(len(values)+1)+` AND gateway_id = `+db.Place(len(values)+2)+` AND reason <> 'away')`,
		append(values, p.TenantID, p.GatewayID)...)
}

// ResumeRebills ends a pause for a reason, if there is one.
func (tx *Tx) ResumeRebills(tenantID, gatewayID uuid.UUID, reason payment.PauseReason) {
	tx.Then(`DELETE FROM rebill_pauses WHERE tenant_id = $1 AND gateway_id = $2 AND reason = $3`,
		tenantID, gatewayID, string(reason))
}

func scanPause(r db.Rows) (p payment.RebillPause, err error) {
	return p, r.Scan(&p.TenantID, &p.GatewayID, &p.Reason, &p.Code, db.Instant{To: &p.Since}, db.Instant{To: &p.Until})
}

// RebillPauses reads the pauses of a tenant's gateway accounts.
func (t Tenant) RebillPauses(ctx context.Context) ([]payment.RebillPause, error) {
	result, err := t.Query(ctx, `SELECT `+pauseColumns+` FROM rebill_pauses WHERE tenant_id = $1 ORDER BY since, gateway_id`)
	return db.Collect(result, err, scanPause)
}
