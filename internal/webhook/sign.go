package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// Sign is the signature of a body: HMAC-SHA256 as a hex digest (contract 6.3).
func Sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// secretPrefix marks secrets that are written in base64, as Standard Webhooks has them.
const secretPrefix = "whsec_"

// SignStandard is the signature of a delivery by the rules of Standard Webhooks.
// It covers id and time, so that receivers can refuse what is sent to them again.
func SignStandard(secret, id, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, standardKey(secret))
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// standardKey is the key that libraries of the standard make of a secret. One that
// only looks like theirs is taken as it is.
func standardKey(secret string) []byte {
	if encoded, marked := strings.CutPrefix(secret, secretPrefix); marked {
		if key, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			return key
		}
	}
	return []byte(secret)
}
