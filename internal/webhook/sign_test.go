package webhook

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"sepad/internal/clock"
)

// The signatures were made with openssl dgst -sha256 -hmac, so that they are
// not our own word for it.
func TestSign(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, secret, body, want string }{
		{"an empty object", "whsec_test", "{}", "46bdc2a2e83964bd2695acc6a1f97162d8bafc135a071aa5cd5c99aae5481440"},
		{"signs that HTML knows", "whsec_test", `{"name":"R&D <GmbH>"}`, "c2f08fe47f1f641ec8824c375d52199ca9e3aaade914b17e311d93ebda57751b"},
		{"a line separator", "whsec_test", "{\"name\":\"a\u2028b\"}", "94872392128a536ebac8f788c7c28e44936d959840a6ceca8680f389bb74bd7d"},
		{"an emoji and umlauts", "whsec_test", `{"name":"😀 Äöü ß"}`, "e7357ab44a67667eebb76672cb226ea58075e3c319c8771ae837f9c0a717b311"},
		{"another secret", "Schlüssel", "{}", "54381a2a18221f8974d94d4891ab11a643a9e743fb4d5d42cf2f9df3ed4b6726"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Sign(c.secret, []byte(c.body)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// wantStandard has the standard's own library verify a delivery.
func wantStandard(t *testing.T, c call, secret string) {
	t.Helper()
	receiver, err := standardwebhooks.NewWebhookRaw(standardKey(secret))
	if err != nil {
		t.Fatal(err)
	}
	if err := receiver.VerifyIgnoringTimestamp([]byte(c.body), c.header); err != nil {
		t.Errorf("the standard's library says: %v", err)
	}
}

func TestStandardSignatures(t *testing.T) {
	t.Parallel()
	body := []byte(`{"number":0}`)
	now := clock.Real{}.Now()
	timestamp := strconv.FormatInt(now.Unix(), 10)
	for _, secret := range []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_not base64", "any other"} {
		header := http.Header{}
		header.Set("webhook-id", "msg_1")
		header.Set("webhook-timestamp", timestamp)
		header.Set("webhook-signature", SignStandard(secret, "msg_1", timestamp, body))
		receiver, err := standardwebhooks.NewWebhook(secret)
		if secret != "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" {
			receiver, err = standardwebhooks.NewWebhookRaw([]byte(secret))
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := receiver.Verify(body, header); err != nil {
			t.Errorf("%s: %v", secret, err)
		}
		if err := receiver.Verify([]byte(`{"number":1}`), header); err == nil {
			t.Errorf("%s: another body is good as well", secret)
		}
		header.Set("webhook-timestamp", strconv.FormatInt(now.Add(time.Second).Unix(), 10))
		if err := receiver.Verify(body, header); err == nil {
			t.Errorf("%s: another time is good as well", secret)
		}
	}
}
