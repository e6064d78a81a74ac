package setup_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"sepad/internal/clock"
	"sepad/internal/merchant"
	"sepad/internal/setup"
	"sepad/internal/webhook"
)

// The guide has a secret handed to a library of Standard Webhooks as it is.
func TestASecretThatIsMadeIsOneOfTheStandard(t *testing.T) {
	t.Parallel()
	for range 20 { // letters that only some secrets have
		id, body := uuid.New(), []byte(`{"amount":"29.99"}`)
		shop := &merchant.Setup{WebhookProfiles: map[uuid.UUID]merchant.WebhookProfile{id: {ID: id}}}
		setup.RotateSecret(shop, id)
		secret := string(shop.WebhookProfiles[id].SigningSecret)
		receiver, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatalf("%s: %v", secret, err)
		}
		stamp, header := strconv.FormatInt(clock.Real{}.Now().Unix(), 10), http.Header{}
		header.Set("webhook-id", "msg_1")
		header.Set("webhook-timestamp", stamp)
		header.Set("webhook-signature", webhook.SignStandard(secret, "msg_1", stamp, body))
		if err := receiver.Verify(body, header); err != nil {
			t.Fatalf("%s: %v", secret, err)
		}
	}
}
