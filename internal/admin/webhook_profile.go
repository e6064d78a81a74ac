package admin

import (
	"net/http"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
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
	profile, err := a.replaceSecret(r, "")
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, rotatedBody{
		ID: profile.ID, SigningSecret: profile.SigningSecret.Reveal(), PreviousSecretUntil: instantText(profile.PreviousSecretUntil),
	})
	return nil
}

// profileBody is a webhook profile without its secrets.
type profileBody struct {
	ID                  uuid.UUID           `json:"id"`
	Name                string              `json:"name"`
	URL                 string              `json:"url"`
	Events              []payment.EventKind `json:"events"`
	Default             bool                `json:"default"`
	Active              bool                `json:"active"`
	PreviousSecretUntil string              `json:"previous_secret_until"`
}

// changeProfile answers PATCH …/webhook-profiles/{id}/ with a signing secret that
// the merchant chose.
func (a *Admin) changeProfile(w http.ResponseWriter, r *http.Request) error {
	object, err := web.DecodeObject(w, r)
	if err != nil {
		return err
	}
	bad := payment.Fields{}
	secret := web.NewReader(object, bad).Text("signing_secret", web.Required)
	if problem := merchant.SigningSecretProblem(secret, a.Checkout.Environment); problem != "" {
		bad.Add("signing_secret", problem)
	}
	if err := bad.Err(); err != nil {
		return err
	}
	p, err := a.replaceSecret(r, merchant.Secret(secret))
	if err != nil {
		return err
	}
	web.WriteJSON(w, r, http.StatusOK, profileBody{
		p.ID, p.Name, p.URL, p.Events, p.Default, p.Active, instantText(p.PreviousSecretUntil),
	})
	return nil
}

// replaceSecret gives the profile of the path another secret, a random one for "".
func (a *Admin) replaceSecret(r *http.Request, secret merchant.Secret) (merchant.WebhookProfile, error) {
	tenantID, err := pathID(r, "tenant_id", setup.ErrNoProfile)
	if err != nil {
		return merchant.WebhookProfile{}, err
	}
	id, err := pathID(r, "id", setup.ErrNoProfile)
	if err != nil {
		return merchant.WebhookProfile{}, err
	}
	return setup.RotateSecret(r.Context(), a.Store, tenantID, id, secret, a.Real.Now())
}
