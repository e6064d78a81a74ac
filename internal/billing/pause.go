package billing

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
)

// ErrNotPaused is the answer for a gateway account through which rebills go.
var ErrNotPaused = payment.Conflicting("The rebills of this gateway account are not paused.")

// Resume lets the rebills of a gateway account go on, once whatever held them
// back is mended. What fell due meanwhile is billed by the next run. Should a bank
// blame us again, they are paused again.
func (b *Billing) Resume(ctx context.Context, tenantID, gatewayID uuid.UUID) (payment.RebillPause, error) {
	pauses, err := b.Checkout.Store.Tenant(tenantID).RebillPauses(ctx)
	if err != nil {
		return payment.RebillPause{}, err
	}
	at := slices.IndexFunc(pauses, func(p payment.RebillPause) bool { return p.GatewayID == gatewayID })
	if at < 0 {
		return payment.RebillPause{}, ErrNotPaused
	}
	ended := pauses[at]
	err = b.Checkout.Store.Write(ctx, b.Checkout.Clock.Now(), func(tx *store.Tx) error {
		tx.ResumeRebills(tenantID, gatewayID, ended.Reason)
		tx.Audit(store.Deed{
			Action: "gateway.resume", ObjectType: "gateway", ObjectID: gatewayID.String(), TenantID: tenantID,
			Before: map[string]any{"reason": ended.Reason, "reason_code": ended.Code, "since": ended.Since},
		})
		return nil
	})
	if err == nil {
		b.Checkout.Logger.InfoContext(ctx, "the rebills of a gateway account go on",
			"tenant_id", tenantID, "gateway_id", gatewayID, "reason", ended.Reason, "reason_code", ended.Code, "since", ended.Since)
	}
	return ended, err
}
