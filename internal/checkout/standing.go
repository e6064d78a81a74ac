package checkout

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// Standing is what has become of a session: what a merchant asks after an answer
// that was lost, or that did not know the outcome.
type Standing struct {
	// Result is that of the latest attempt. Its status is "" while the outcome is not
	// known, and its transaction is none before the first attempt.
	Result
	SessionStatus payment.SessionStatus
	// Attempts are all of them, oldest first.
	Attempts []payment.Transaction
}

// Standing finds what has become of a session that its merchant names by its token
// or its id.
func (c *Checkout) Standing(ctx context.Context, tenantID uuid.UUID, name string) (found Standing, err error) {
	setup, err := c.SetupOf(ctx, tenantID)
	if err != nil {
		return found, err
	}
	err = retry(func() error {
		session, err := c.named(ctx, tenantID, name)
		if err != nil {
			return err
		}
		found, err = c.standing(ctx, setup, session)
		return err
	})
	return found, err
}

// standing reads what belongs to a session. The reads do not see one moment: where
// they disagree about a payment under way, it gives store.ErrStale.
func (c *Checkout) standing(ctx context.Context, setup *merchant.Setup, s payment.Session) (Standing, error) {
	now, tenant := c.now(), c.Store.Tenant(s.TenantID)
	debit := payment.Debit{Session: &s}
	var attempts []payment.Transaction
	var status payment.ResultStatus
	var err error
	if s.LastTransactionID != nil {
		if attempts, err = tenant.AttemptsOf(ctx, s.ID); err != nil {
			return Standing{}, err
		}
		if debit, err = tenant.DebitOf(ctx, s, *s.LastTransactionID); err != nil {
			return Standing{}, err
		}
		underWay := slices.ContainsFunc(attempts, payment.Transaction.InFlight)
		if underWay != s.InFlight() || debit.Transaction.InFlight() != s.InFlight() {
			return Standing{}, store.ErrStale
		}
		if !underWay {
			if status, err = debit.ResultAt(now); err != nil {
				return Standing{}, err
			}
		}
	}
	result, err := c.dress(setup, debit, status, now)
	return Standing{Result: result, SessionStatus: s.StatusAt(now), Attempts: attempts}, err
}
