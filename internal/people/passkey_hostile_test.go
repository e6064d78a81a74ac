package people

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"testing"

	"sepad/internal/payment"
	"sepad/internal/store"
)

// device is a security key that does what a test wants.
type device struct {
	key     *ecdsa.PrivateKey
	id      []byte
	counter uint32
}

func newDevice(t *testing.T) *device {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id := make([]byte, 16)
	rand.Read(id)
	return &device{key: key, id: id}
}

// lie is in what an answer differs from that of an honest device in an honest browser.
type lie struct {
	origin, host, kind string
	challenge          []byte
	flags              byte
	handle             []byte
	// bySignature is another key's.
	bySignature *ecdsa.PrivateKey
}

const (
	isPresent, isVerified, hasKey = 0x01, 0x04, 0x40
	honestOrigin, honestHost      = "https://counter.example", "counter.example"
)

// head is what a device says of itself and of where it is.
func (d *device) head(l lie, flags byte) []byte {
	d.counter++
	host := sha256.Sum256([]byte(l.host))
	return binary.BigEndian.AppendUint32(append(host[:], flags&^l.flags), d.counter)
}

func browserSays(l lie) []byte {
	text, _ := json.Marshal(map[string]any{"type": l.kind, "challenge": text64(l.challenge), "origin": l.origin, "crossOrigin": false})
	return text
}

// create answers the question for a new passkey.
func (d *device) create(l lie) string {
	head := append(d.head(l, isPresent|isVerified|hasKey), make([]byte, 16)...)
	head = append(binary.BigEndian.AppendUint16(head, uint16(len(d.id))), d.id...)
	point, _ := d.key.PublicKey.Bytes() // 4, then both coordinates
	head = append(head, 0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 32)
	head = append(append(head, point[1:33]...), 0x22, 0x58, 32)
	head = append(head, point[33:]...)
	object := append([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59"), byte(len(head)>>8), byte(len(head)))
	return d.answer(map[string]string{"clientDataJSON": text64(browserSays(l)), "attestationObject": text64(append(object, head...))})
}

// sign answers the question of a sign-in.
func (d *device) sign(l lie) string {
	head, said := d.head(l, isPresent|isVerified), browserSays(l)
	digest := sha256.Sum256(said)
	digest = sha256.Sum256(append(append([]byte{}, head...), digest[:]...))
	key := d.key
	if l.bySignature != nil {
		key = l.bySignature
	}
	signature, _ := ecdsa.SignASN1(rand.Reader, key, digest[:])
	return d.answer(map[string]string{
		"clientDataJSON": text64(said), "authenticatorData": text64(head), "signature": text64(signature), "userHandle": text64(l.handle),
	})
}

func (d *device) answer(response map[string]string) string {
	text, _ := json.Marshal(map[string]any{"id": text64(d.id), "rawId": text64(d.id), "type": "public-key", "response": response})
	return string(text)
}

// register adds a device to an operator, if the lie is believed.
func (c *counter) register(t *testing.T, o store.Operator, cookie Cookie, d *device, change func(*lie)) error {
	t.Helper()
	question, err := c.AskNewPasskey(t.Context(), o, cookie.Text)
	if err != nil {
		t.Fatal(err)
	}
	l := lie{origin: honestOrigin, host: honestHost, kind: "webauthn.create", challenge: question.Response.Challenge}
	change(&l)
	return c.AddPasskey(t.Context(), o, cookie.Text, "Key ring", d.create(l))
}

// firstStep gives the password.
func (c *counter) firstStep(t *testing.T) Cookie {
	t.Helper()
	half, err := c.SignIn(t.Context(), email, password, home)
	if err != nil {
		t.Fatal(err)
	}
	return half
}

// confirm takes the second step with a device.
func (c *counter) confirm(t *testing.T, half Cookie, d *device, change func(*lie)) error {
	t.Helper()
	question, err := c.AskPasskey(t.Context(), half.Text)
	if err != nil {
		t.Fatal(err)
	}
	l := lie{origin: honestOrigin, host: honestHost, kind: "webauthn.get", challenge: question.Response.Challenge, handle: c.ada.ID[:]}
	change(&l)
	_, err = c.ConfirmByPasskey(t.Context(), half.Text, d.sign(l), home)
	return err
}

func honest(*lie) {}

// TestAPasskeyThatIsNone has whoever knows a password, or sits between a browser and us, play
// the second factor.
func TestAPasskeyThatIsNone(t *testing.T) {
	t.Parallel()
	lies := map[string]func(*lie){
		"from another site":                    func(l *lie) { l.origin = "https://counter.example.evil.example" },
		"from the same site over http":         func(l *lie) { l.origin = "http://counter.example" },
		"from another port":                    func(l *lie) { l.origin = "https://counter.example:8443" },
		"for another site":                     func(l *lie) { l.host = "evil.example" },
		"to another question":                  func(l *lie) { l.challenge = make([]byte, 32) },
		"to no question":                       func(l *lie) { l.challenge = nil },
		"of a device that nobody has touched":  func(l *lie) { l.flags = isPresent },
		"of a device that knows not its owner": func(l *lie) { l.flags = isVerified },
		"to the other kind of question":        func(l *lie) { l.kind = "webauthn.other" },
	}
	each(t, map[string]func(*testing.T, *counter){
		"what is no passkey is not kept": func(t *testing.T, c *counter) {
			cookie := c.welcomed(t)
			for name, change := range lies {
				if err := c.register(t, c.ada, cookie, newDevice(t), change); !errors.Is(err, errPasskeyFailed) {
					t.Errorf("an answer %s: %v", name, err)
				}
			}
			if keys, err := c.Store.Passkeys(t.Context(), c.ada.ID); err != nil || len(keys) != 0 {
				t.Errorf("%d are kept, %v", len(keys), err)
			}
		},
		"a lie does not let in, and the truth still does": func(t *testing.T, c *counter) {
			d, other := newDevice(t), newDevice(t)
			if err := c.register(t, c.ada, c.welcomed(t), d, honest); err != nil {
				t.Fatal(err)
			}
			more := maps.Clone(lies)
			more["of somebody else"] = func(l *lie) { l.handle = []byte("0123456789abcdef") }
			more["signed with another key"] = func(l *lie) { l.bySignature = other.key }
			half := c.firstStep(t)
			for name, change := range more {
				if err := c.confirm(t, half, d, change); !errors.Is(err, errPasskeyFailed) {
					t.Errorf("an answer %s: %v", name, err)
				}
			}
			if err := c.confirm(t, half, other, honest); !errors.Is(err, errPasskeyFailed) {
				t.Errorf("a device that is not theirs: %v", err)
			}
			if err := c.confirm(t, half, d, honest); err != nil {
				t.Error(err)
			}
			d.counter, half = 0, c.firstStep(t)
			if err := c.confirm(t, half, d, honest); !errors.Is(err, errPasskeyCopied) {
				t.Errorf("a copy: %v", err)
			}
			d.counter = 1000
			if err := c.confirm(t, half, d, honest); !errors.Is(err, errPasskeyCopied) {
				t.Errorf("a copy that counts on: %v", err)
			}
		},
	})
}

// TestAPasskeyThatIsAnothers takes answers and devices to where they do not belong.
func TestAPasskeyThatIsAnothers(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(*testing.T, *counter){
		"an answer is good once, and in its own browser": func(t *testing.T, c *counter) {
			d := newDevice(t)
			if err := c.register(t, c.ada, c.welcomed(t), d, honest); err != nil {
				t.Fatal(err)
			}
			half, another := c.firstStep(t), c.firstStep(t)
			question, err := c.AskPasskey(t.Context(), half.Text)
			if err != nil {
				t.Fatal(err)
			}
			answer := d.sign(lie{origin: honestOrigin, host: honestHost, kind: "webauthn.get", challenge: question.Response.Challenge, handle: c.ada.ID[:]})
			if _, err := c.ConfirmByPasskey(t.Context(), another.Text, answer, home); !errors.Is(err, store.ErrNoChallenge) {
				t.Errorf("in a browser that was not asked: %v", err)
			}
			if _, err := c.ConfirmByPasskey(t.Context(), half.Text, answer, home); err != nil {
				t.Fatal(err)
			}
			if _, err := c.ConfirmByPasskey(t.Context(), half.Text, answer, home); err == nil {
				t.Error("it lets in twice")
			}
		},
		"somebody's device is not another's": func(t *testing.T, c *counter) {
			cookie, d := c.welcomed(t), newDevice(t)
			if err := c.register(t, c.ada, cookie, d, honest); err != nil {
				t.Fatal(err)
			}
			if err := c.register(t, c.ada, cookie, d, honest); payment.KindOf(err) != payment.Invalid {
				t.Errorf("twice: %v", err)
			}
			eve, link, err := c.Add(t.Context(), "eve@office.example", store.Viewer, store.TenantSet{All: true})
			if err != nil {
				t.Fatal(err)
			}
			q, err := c.AskWelcomePasskey(t.Context(), link.ticket(t))
			if err != nil {
				t.Fatal(err)
			}
			answer := newDevice(t).create(lie{origin: honestOrigin, host: honestHost, kind: "webauthn.create", challenge: q.Response.Challenge})
			if err := c.AddPasskey(t.Context(), c.ada, cookie.Text, "Eve's", answer); err == nil {
				t.Error("what Eve was asked is kept as Ada's")
			}
			taken := d.create(lie{origin: honestOrigin, host: honestHost, kind: "webauthn.create", challenge: q.Response.Challenge})
			if _, err := c.AcceptByPasskey(t.Context(), link.ticket(t), password, q.Asked, taken, home); !errors.Is(err, errPasskeyKnown) {
				t.Errorf("Ada's device as Eve's: %v", err)
			}
			if keys, err := c.Store.Passkeys(t.Context(), eve.ID); err != nil || len(keys) != 0 {
				t.Errorf("Eve has %d, %v", len(keys), err)
			}
		},
	})
}
