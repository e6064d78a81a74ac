package people

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // RFC 6238 as authenticator apps know it; HMAC does not rest on what SHA-1 has lost
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/url"
	"time"
)

const (
	totpBytes  = 20
	totpDigits = 6
	totpStep   = 30 * time.Second
	// totpDrift is how many steps a phone's clock may be off.
	totpDrift = 1
)

func newTOTP() []byte {
	secret := make([]byte, totpBytes)
	rand.Read(secret)
	return secret
}

// totpText is how a secret is typed by hand.
func totpText(secret []byte) string {
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret)
}

// totpURL is what an authenticator app reads from a picture.
func totpURL(secret []byte, issuer, email string) string {
	query := url.Values{"secret": {totpText(secret)}, "issuer": {issuer}}
	return (&url.URL{Scheme: "otpauth", Host: "totp", Path: "/" + issuer + ":" + email, RawQuery: query.Encode()}).String()
}

// totpCode is the code of a step (RFC 6238, RFC 4226).
func totpCode(secret []byte, step int64) string {
	var counter [8]byte
	binary.BigEndian.PutUint64(counter[:], uint64(step))
	mac := hmac.New(sha1.New, secret)
	mac.Write(counter[:])
	sum := mac.Sum(nil)
	offset := sum[len(sum)-1] & 0x0f
	number := binary.BigEndian.Uint32(sum[offset:offset+4]) & 0x7fffffff
	const million = 1_000_000
	return fmt.Sprintf("%0*d", totpDigits, number%million)
}

// totpMatch finds the step of a code that is good now and was not used before.
func totpMatch(secret []byte, code string, used int64, now time.Time) (step int64, found bool) {
	present := now.Unix() / int64(totpStep/time.Second)
	for at := present - totpDrift; at <= present+totpDrift; at++ {
		if subtle.ConstantTimeCompare([]byte(totpCode(secret, at)), []byte(code)) == 1 && at > used {
			step, found = at, true
		}
	}
	return step, found
}
