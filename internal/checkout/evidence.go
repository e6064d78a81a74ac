package checkout

import (
	"context"

	"github.com/google/uuid"

	"sepad/internal/payment"
	"sepad/internal/store"
)

// Reader is by which way somebody looks at evidence.
type Reader string

const (
	AdminAPI    Reader = "admin_api"
	Dashboard   Reader = "dashboard"
	Command     Reader = "command"
	MerchantAPI Reader = "merchant_api"
)

// ErrNoEvidence is the answer to a reference under which nobody agreed to anything.
var ErrNoEvidence = &payment.Error{Kind: payment.NotFound, Detail: "No mandate with this reference was accepted on the payment page"}

// Evidence gives what payers agreed to under a mandate's reference, the newest
// first. It names people and where they were, so that each look is logged.
func (c *Checkout) Evidence(ctx context.Context, reference string, by Reader) ([]store.Evidence, error) {
	return c.evidence(ctx, reference, by, c.Store.MandateEvidence)
}

// EvidenceOf is Evidence for a merchant, who sees its own mandates alone.
func (c *Checkout) EvidenceOf(ctx context.Context, tenantID uuid.UUID, reference string) ([]store.Evidence, error) {
	return c.evidence(ctx, reference, MerchantAPI, c.Store.Tenant(tenantID).MandateEvidence)
}

func (c *Checkout) evidence(ctx context.Context, reference string, by Reader, read func(context.Context, string) ([]store.Evidence, error)) ([]store.Evidence, error) {
	if !payment.IsReference(reference) {
		return nil, ErrNoEvidence
	}
	found, err := read(ctx, reference)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, ErrNoEvidence
	}
	seen := map[string]bool{}
	for _, e := range found {
		if tenant := e.Transaction.TenantID.String(); !seen[tenant] {
			seen[tenant] = true
			err := c.Store.Note(ctx, store.Deed{Action: "mandate.view", ObjectType: "mandate", ObjectID: reference, TenantID: e.Transaction.TenantID})
			if err != nil {
				return nil, err // nobody looks unseen
			}
			c.Logger.InfoContext(ctx, "evidence of a mandate was read", "reader", by, "mandate_reference", reference, "tenant_id", tenant)
		}
	}
	return found, nil
}
