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

// RotateSecret gives a profile another signing secret, a random one where none
// is chosen. The old one signs too for a day of real time. A secret that is the
// present one changes nothing.
func RotateSecret(ctx context.Context, st *store.Store, tenantID, profileID uuid.UUID, chosen merchant.Secret, now time.Time) (merchant.WebhookProfile, error) {
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
	if chosen.IsZero() {
		chosen = newSigningSecret()
	}
	if chosen == profile.SigningSecret {
		return profile, nil
	}
	profile.PreviousSecret, profile.PreviousSecretUntil = profile.SigningSecret, now.Add(secretOverlap)
	profile.SigningSecret = chosen
	return profile, st.Write(ctx, now, func(tx *store.Tx) error { return st.PutWebhookProfile(tx, tenantID, profile) })
}
