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
	tenantID, id, err := recordIDs(r, errNoProfile)
	if err != nil {
		return err
	}
	of, err := a.changeOne(r, tenantID, id, func(s *merchant.Setup) error {
		if _, found := s.WebhookProfiles[id]; !found {
			return errNoProfile
		}
		setup.RotateSecret(s, id)
		return nil
	})
	if err != nil {
		return err
	}
	profile := of.WebhookProfiles[id]
	w.Header().Set("ETag", entityTag(of.Versions[id]))
	web.WriteJSON(w, r, http.StatusOK, rotatedBody{
		ID: profile.ID, SigningSecret: profile.SigningSecret.Reveal(), PreviousSecretUntil: instantText(profile.PreviousSecretUntil),
	})
	return nil
}

// previousSecretUntil is how long a replaced secret goes on signing.
const previousSecretUntil = "previous_secret_until"

// profileFields are what is shown of a profile: its secrets never.
func profileFields(p merchant.WebhookProfile) merchant.Fields {
	fields := merchant.WebhookProfileFields(p)
	fields[previousSecretUntil] = instantOrNull(p.PreviousSecretUntil)
	return fields
}
