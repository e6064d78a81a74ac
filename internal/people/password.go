package people

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"sepad/internal/merchant"
)

const (
	minPassword = 12
	maxPassword = 200

	// What one guess costs: 19 MiB and two passes, as OWASP advises for argon2id.
	argonMemory = 19 * 1024
	argonPasses = 2
	argonLanes  = 1
	argonKey    = 32
	argonSalt   = 16
)

// hashers bound how many passwords are hashed at a time, and so the memory and the
// processors that strangers can ask for.
type hashers chan struct{}

// hashing leaves half of the processors to payments.
var hashing = make(hashers, max(1, runtime.GOMAXPROCS(0)/2))

// hashingPatience is how long a password waits for those before it. Strangers who send
// many at once are turned away, instead of being worked off one after the other.
const hashingPatience = 2 * time.Second

// checkPassword says what is wrong with a password, "" for nothing. Length is what
// counts; what everybody would try first is ruled out.
func checkPassword(password merchant.Secret, email string) string {
	switch length := utf8.RuneCountInString(password.Reveal()); {
	case length < minPassword:
		return fmt.Sprintf("A password has at least %d characters.", minPassword)
	case length > maxPassword:
		return fmt.Sprintf("A password has at most %d characters.", maxPassword)
	case isCommon(password, email):
		return "This password is among the first that others would try. A few words that do not belong together are better."
	}
	return ""
}

// hashPassword is what is kept of a password, in the usual form of argon2id.
func hashPassword(ctx context.Context, password merchant.Secret) (string, error) {
	salt := make([]byte, argonSalt)
	rand.Read(salt)
	key, err := hashing.stretch(ctx, password, salt, argonPasses, argonMemory, argonLanes)
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonPasses, argonLanes, encode(salt), encode(key)), err
}

// stretch makes a key of a password, which takes as long as a guess shall cost.
func (h hashers) stretch(ctx context.Context, password merchant.Secret, salt []byte, passes, memory uint32, lanes uint8) ([]byte, error) {
	waiting, cancel := context.WithTimeout(ctx, hashingPatience)
	defer cancel()
	select {
	case h <- struct{}{}:
		defer func() { <-h }()
		return argon2.IDKey([]byte(password.Reveal()), salt, passes, memory, lanes, argonKey), nil
	case <-waiting.Done():
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return nil, &WaitError{hashingPatience}
	}
}

// nobody is held against passwords of those who are not there, so that the answer takes
// as long as for everybody.
var nobody = fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonPasses, argonLanes,
	strings.Repeat("A", base64.RawStdEncoding.EncodedLen(argonSalt)), strings.Repeat("A", base64.RawStdEncoding.EncodedLen(argonKey)))

// isPassword tells whether a password is the one that was hashed.
func isPassword(ctx context.Context, password merchant.Secret, hash string) (bool, error) {
	isThere := hash != ""
	if !isThere {
		hash = nobody
	}
	parts := strings.Split(hash, "$")
	const version, costs, salted, keyed, all = 2, 3, 4, 5, 6
	var v int
	var memory, passes uint32
	var lanes uint8
	if len(parts) != all {
		return false, nil
	}
	if _, err := fmt.Sscanf(parts[version]+" "+parts[costs], "v=%d m=%d,t=%d,p=%d", &v, &memory, &passes, &lanes); err != nil || v != argon2.Version {
		return false, nil
	}
	salt, saltErr := base64.RawStdEncoding.DecodeString(parts[salted])
	want, keyErr := base64.RawStdEncoding.DecodeString(parts[keyed])
	if saltErr != nil || keyErr != nil {
		return false, nil
	}
	key, err := hashing.stretch(ctx, password, salt, passes, memory, lanes)
	return err == nil && subtle.ConstantTimeCompare(key, want) == 1 && isThere, err
}
