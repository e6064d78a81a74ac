package setup

import (
	"context"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// ErrNoProfile is the answer for a webhook profile that the tenant does not have.
var ErrNoProfile = &payment.Error{Kind: payment.NotFound, Detail: "Webhook profile not found"}

// RotateSecret gives a profile another signing secret. The old one signs too for
// a day of real time.
func RotateSecret(ctx context.Context, st *store.Store, tenantID, profileID uuid.UUID, now time.Time) (merchant.WebhookProfile, error) {
	version, err := st.SetupVersion(ctx, tenantID)
	if store.IsNotFound(err) {
		return merchant.WebhookProfile{}, ErrNoProfile
	}
	if err != nil {
		return merchant.WebhookProfile{}, err
	}
	stored, err := st.Setup(ctx, tenantID, version)
	if err != nil {
		return merchant.WebhookProfile{}, err
	}
	profile, found := stored.WebhookProfiles[profileID]
	if !found {
		return merchant.WebhookProfile{}, ErrNoProfile
	}
	profile.PreviousSecret, profile.PreviousSecretUntil = profile.SigningSecret, now.Add(secretOverlap)
	profile.SigningSecret = newSigningSecret()
	return profile, st.Write(ctx, now, func(tx *store.Tx) error { return st.PutWebhookProfile(tx, tenantID, profile) })
}
