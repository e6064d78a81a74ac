package admin

import (
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/setup"
	"sepad/internal/web"
)

// rotatedBody shows a new secret, this once.
type rotatedBody struct {
	ID                  uuid.UUID `json:"id"`
	SigningSecret       string    `json:"signing_secret"`
	PreviousSecretUntil string    `json:"previous_secret_until"`
}

// rotateSecret answers POST …/webhook-profiles/{id}/rotate-secret/.
func (a *Admin) rotateSecret(w http.ResponseWriter, r *http.Request) error {
	tenantID, err := pathID(r, "tenant_id", setup.ErrNoProfile)
	if err != nil {
		return err
	}
	id, err := pathID(r, "id", setup.ErrNoProfile)
	if err != nil {
		return err
	}
	profile, err := setup.RotateSecret(r.Context(), a.Store, tenantID, id, a.Real.Now())
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, rotatedBody{
		ID: profile.ID, SigningSecret: profile.SigningSecret.Reveal(), PreviousSecretUntil: instantText(profile.PreviousSecretUntil),
	})
	return nil
}

// previousSecretUntil is how long a replaced secret goes on signing.
const previousSecretUntil = "previous_secret_until"

// profileFields are what is shown of a profile: its secrets never.
func profileFields(p merchant.WebhookProfile) setup.Fields {
	fields := setup.WebhookProfileFields(p)
	fields[previousSecretUntil] = instantOrNull(p.PreviousSecretUntil)
	return fields
}
