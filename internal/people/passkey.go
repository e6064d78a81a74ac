package people

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
)

const (
	maxPasskeyName = 100
	// maxPasskeys is how many devices somebody may have.
	maxPasskeys = 20
	// ceremonyLife is how long a person may take at the device.
	ceremonyLife = 5 * time.Minute
)

var (
	errPasskeyFailed = payment.Fields{"passkey": "The passkey was not accepted. Try again, or use a code."}.Err()
	errPasskeyKnown  = payment.Fields{"passkey": "This passkey is known already."}.Err()
	// errNoHome is the answer where browsers let nobody use passkeys.
	errNoHome = &payment.Error{Kind: payment.Conflict, Detail: "Passkeys need a name and https: the dashboard's address has neither."}
	// errPasskeyCopied is the answer to a passkey whose counter goes back: there are two of it.
	errPasskeyCopied = payment.Fields{"passkey": "This passkey may have been copied, and opens nothing any more. Type a code, then remove it from your account."}.Err()
)

// PasskeyHome is the address at which browsers let passkeys be used, "" where they let
// nobody: they want a name, and take localhost for this machine.
func (p *People) PasskeyHome() string {
	_, origin := passkeyHome(p.URL)
	return origin
}

// passkeyHome is the name that passkeys are bound to, and the origin they are used from.
func passkeyHome(address string) (name, origin string) {
	at, err := url.Parse(address)
	if err != nil || at.Hostname() == "" {
		return "", ""
	}
	name = at.Hostname()
	if ip := net.ParseIP(name); ip != nil {
		if !ip.IsLoopback() {
			return "", ""
		}
		name = "localhost"
	}
	if at.Scheme != "https" && name != "localhost" {
		return "", ""
	}
	host := name
	if port := at.Port(); port != "" {
		host = net.JoinHostPort(name, port)
	}
	return name, at.Scheme + "://" + host
}

// ceremonies are what browsers and devices are asked by. Whoever holds the device has to
// show it that it is them.
func (p *People) ceremonies() (*webauthn.WebAuthn, error) {
	name, origin := passkeyHome(p.URL)
	if name == "" {
		return nil, errNoHome
	}
	life := webauthn.TimeoutConfig{Enforce: true, Timeout: ceremonyLife, TimeoutUVD: ceremonyLife}
	return webauthn.New(&webauthn.Config{
		RPID: name, RPDisplayName: issuer, RPOrigins: []string{origin},
		AuthenticatorSelection: protocol.AuthenticatorSelection{UserVerification: protocol.VerificationRequired, ResidentKey: protocol.ResidentKeyRequirementDiscouraged},
		AttestationPreference:  protocol.PreferNoAttestation,
		Timeouts:               webauthn.TimeoutsConfig{Login: life, Registration: life},
	})
}

// holder is an operator as the ceremonies know them.
type holder struct {
	store.Operator
	keys        []store.Passkey
	credentials []webauthn.Credential
}

func (h holder) WebAuthnID() []byte                         { return h.ID[:] }
func (h holder) WebAuthnName() string                       { return h.Email }
func (h holder) WebAuthnDisplayName() string                { return h.Email }
func (h holder) WebAuthnCredentials() []webauthn.Credential { return h.credentials }

func (h holder) descriptors() []protocol.CredentialDescriptor {
	return webauthn.Credentials(h.credentials).CredentialDescriptors()
}

func (p *People) holder(ctx context.Context, o store.Operator) (h holder, err error) {
	h.Operator = o
	if h.keys, err = p.Store.Passkeys(ctx, o.ID); err != nil {
		return h, err
	}
	h.credentials = make([]webauthn.Credential, len(h.keys))
	for i, key := range h.keys {
		if err := json.Unmarshal([]byte(key.Credential), &h.credentials[i]); err != nil {
			return h, err
		}
	}
	return h, nil
}

// ask keeps what a device is asked with the browser's session.
func (p *People) ask(ctx context.Context, sessionHash string, asked *webauthn.SessionData) error {
	text, err := json.Marshal(asked)
	if err != nil {
		return err
	}
	return p.Store.Write(ctx, p.Clock.Now(), func(tx *store.Tx) error {
		tx.AskPasskey(sessionHash, string(text))
		return nil
	})
}

// asked is what a device was asked in a session.
func asked(session store.OperatorSession) (data webauthn.SessionData, err error) {
	if session.Challenge == "" {
		return data, store.ErrNoChallenge
	}
	return data, json.Unmarshal([]byte(session.Challenge), &data)
}

// AskNewPasskey is what a browser asks a device that is to keep a passkey of an operator's.
func (p *People) AskNewPasskey(ctx context.Context, o store.Operator, cookie merchant.Secret) (*protocol.CredentialCreation, error) {
	if !p.IsFresh(ctx) {
		return nil, ErrNotFresh
	}
	of, err := p.holder(ctx, o)
	if err != nil {
		return nil, err
	}
	if len(of.keys) >= maxPasskeys {
		return nil, &payment.Error{Kind: payment.Conflict, Detail: "You have many passkeys. Remove one first."}
	}
	ceremonies, err := p.ceremonies()
	if err != nil {
		return nil, err
	}
	question, data, err := ceremonies.BeginRegistration(of, webauthn.WithExclusions(of.descriptors()))
	if err != nil {
		return nil, err
	}
	return question, p.ask(ctx, hashSecret(cookie.Reveal()), data)
}

// AddPasskey keeps the passkey that a device has made.
func (p *People) AddPasskey(ctx context.Context, o store.Operator, cookie merchant.Secret, name, answer string) error {
	if !p.IsFresh(ctx) {
		return ErrNotFresh
	}
	name = strings.TrimSpace(name)
	if name == "" || utf8.RuneCountInString(name) > maxPasskeyName || strings.ContainsFunc(name, unicode.IsControl) {
		return payment.Fields{"name": "A passkey's name has 1 to 100 characters, none of them a control character."}.Err()
	}
	session, _, err := p.Store.SignedIn(ctx, hashSecret(cookie.Reveal()))
	if err != nil {
		return err
	}
	data, err := asked(session)
	if err != nil {
		return err
	}
	key, err := p.made(o, data, name, answer)
	if err != nil {
		return err
	}
	err = p.Store.Write(ctx, key.CreatedAt, func(tx *store.Tx) error {
		tx.AnswerPasskey(session)
		tx.AddPasskey(key)
		tx.Audit(passkeyDeed("passkey.create", key, o))
		return nil
	})
	if store.IsPasskeyTaken(err) {
		err = errPasskeyKnown
	}
	return err
}

// made is the passkey that a device has made of what it was asked.
func (p *People) made(o store.Operator, data webauthn.SessionData, name, answer string) (key store.Passkey, err error) {
	ceremonies, err := p.ceremonies()
	if err != nil {
		return key, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes([]byte(answer))
	if err != nil {
		return key, errPasskeyFailed
	}
	credential, err := ceremonies.CreateCredential(holder{Operator: o}, data, parsed)
	if err != nil {
		return key, errPasskeyFailed
	}
	text, err := json.Marshal(credential)
	return store.Passkey{
		ID: payment.NewID(), OperatorID: o.ID, Name: name, CredentialID: base64.RawURLEncoding.EncodeToString(credential.ID),
		Credential: string(text), CreatedAt: p.Clock.Now(),
	}, err
}

// WelcomeQuestion is what the device of somebody with a link is asked, and the same sealed,
// which comes back with the answer: nobody is signed in yet who could keep it.
type WelcomeQuestion struct {
	*protocol.CredentialCreation
	Asked string `json:"asked"`
}

// AskWelcomePasskey is what a browser asks a device that is to be the second factor of
// somebody with a link.
func (p *People) AskWelcomePasskey(ctx context.Context, ticket merchant.Secret) (q WelcomeQuestion, err error) {
	t, o, err := p.welcome(ctx, ticket)
	if err != nil {
		return q, err
	}
	ceremonies, err := p.ceremonies()
	if err != nil {
		return q, err
	}
	question, data, err := ceremonies.BeginRegistration(holder{Operator: o})
	if err != nil {
		return q, err
	}
	text, err := json.Marshal(data)
	if err != nil {
		return q, err
	}
	q.CredentialCreation = question
	q.Asked, err = p.Store.SealCeremony(t, text)
	return q, err
}

// AcceptByPasskey sets a password by a link, with a passkey as the second factor. The
// secret of the app that was offered beside it opens nothing any more.
func (p *People) AcceptByPasskey(ctx context.Context, ticket, password merchant.Secret, askedText, answer, address string) (Cookie, error) {
	t, was, err := p.welcome(ctx, ticket)
	if err != nil {
		return Cookie{}, err
	}
	if fault := checkPassword(password, was.Email); fault != "" {
		return Cookie{}, payment.Fields{"password": fault}.Err()
	}
	text, err := p.Store.OpenCeremony(t, askedText)
	if err != nil {
		return Cookie{}, errPasskeyFailed
	}
	var data webauthn.SessionData
	if err := json.Unmarshal(text, &data); err != nil {
		return Cookie{}, err
	}
	key, err := p.made(was, data, firstPasskey, answer)
	if err != nil {
		return Cookie{}, err
	}
	o := was
	o.SealedTOTP, o.TOTPStep = "", 0
	cookie, err := p.settle(ctx, t, was, o, password, address, func(tx *store.Tx) {
		tx.AddPasskey(key)
		tx.Audit(passkeyDeed("passkey.create", key, o))
	})
	if store.IsPasskeyTaken(err) {
		err = errPasskeyKnown
	}
	return cookie, err
}

// firstPasskey is what a passkey is called that came with a welcome.
const firstPasskey = "First passkey"

func passkeyDeed(action string, key store.Passkey, o store.Operator) store.Deed {
	return store.Deed{Action: action, ObjectType: "passkey", ObjectID: key.ID.String(), After: map[string]any{"name": key.Name, "operator": o.Email}}
}

// RemovePasskey takes one of an operator's passkeys away.
func (p *People) RemovePasskey(ctx context.Context, o store.Operator, id uuid.UUID) error {
	if !p.IsFresh(ctx) {
		return ErrNotFresh
	}
	return p.Store.Write(ctx, p.Clock.Now(), func(tx *store.Tx) error {
		tx.RemovePasskey(o, id)
		tx.Audit(store.Deed{Action: "passkey.remove", ObjectType: "passkey", ObjectID: id.String(), Before: map[string]any{"operator": o.Email}})
		return nil
	})
}

// half finds whose second step a browser is at.
func (p *People) half(ctx context.Context, cookie merchant.Secret) (store.OperatorSession, store.Operator, error) {
	session, o, err := p.Store.SignedIn(ctx, hashSecret(cookie.Reveal()))
	if err == nil && (session.IsWhole || !p.Clock.Now().Before(session.EndsAt)) {
		err = store.ErrNoSignIn
	}
	return session, o, err
}

// SecondFactors tells what somebody who is at the second step may use there.
func (p *People) SecondFactors(ctx context.Context, half merchant.Secret) (hasPasskeys, hasApp bool, err error) {
	_, o, err := p.half(ctx, half)
	if err != nil || p.PasskeyHome() == "" {
		return false, true, err
	}
	keys, err := p.Store.Passkeys(ctx, o.ID)
	return len(keys) > 0, o.SealedTOTP != "", err
}

// AskPasskey is what a browser asks a device at the second step.
func (p *People) AskPasskey(ctx context.Context, half merchant.Secret) (*protocol.CredentialAssertion, error) {
	session, o, err := p.half(ctx, half)
	if err != nil {
		return nil, err
	}
	of, err := p.holder(ctx, o)
	if err != nil {
		return nil, err
	}
	if len(of.keys) == 0 {
		return nil, store.ErrNoPasskey
	}
	ceremonies, err := p.ceremonies()
	if err != nil {
		return nil, err
	}
	question, data, err := ceremonies.BeginLogin(of)
	if err != nil {
		return nil, err
	}
	return question, p.ask(ctx, session.Hash, data)
}

// ConfirmByPasskey is the second step with a passkey in the place of a code.
func (p *People) ConfirmByPasskey(ctx context.Context, half merchant.Secret, answer, address string) (Cookie, error) {
	session, o, err := p.half(ctx, half)
	if err != nil {
		return Cookie{}, err
	}
	of, err := p.holder(ctx, o)
	if err != nil {
		return Cookie{}, err
	}
	used, err := p.judge(session, of, answer)
	if err != nil {
		return Cookie{}, err
	}
	text, err := json.Marshal(used)
	if err != nil {
		return Cookie{}, err
	}
	i := slices.IndexFunc(of.credentials, func(c webauthn.Credential) bool { return slices.Equal(c.ID, used.ID) })
	if used.Authenticator.CloneWarning {
		return Cookie{}, p.suspect(ctx, session, of.keys[i], string(text), o, address)
	}
	return p.begin(ctx, o, address, p.Clock.Now(), "operator.sign_in", func(tx *store.Tx) {
		tx.HoldOperator(o)
		tx.AnswerPasskey(session)
		tx.UsePasskey(of.keys[i], string(text))
		tx.EndSignIn(session.Hash)
	})
}

// judge says which passkey has answered what was asked, as it is afterwards.
func (p *People) judge(session store.OperatorSession, of holder, answer string) (*webauthn.Credential, error) {
	data, err := asked(session)
	if err != nil {
		return nil, err
	}
	ceremonies, err := p.ceremonies()
	if err != nil {
		return nil, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(answer))
	if err != nil {
		return nil, errPasskeyFailed
	}
	used, err := ceremonies.ValidateLogin(of, data, parsed)
	if err != nil {
		return nil, errPasskeyFailed
	}
	return used, nil
}

// suspect keeps that a passkey may have been copied: it opens nothing from then on.
func (p *People) suspect(ctx context.Context, session store.OperatorSession, key store.Passkey, credential string, o store.Operator, address string) error {
	err := p.Store.Write(principalOf(o, nil).Enter(ctx, address), p.Clock.Now(), func(tx *store.Tx) error {
		tx.AnswerPasskey(session)
		tx.UsePasskey(key, credential)
		tx.Audit(passkeyDeed("passkey.suspect", key, o))
		return nil
	})
	if err != nil {
		return err
	}
	return errPasskeyCopied
}

// IsSuspect tells that a passkey may have been copied.
func IsSuspect(key store.Passkey) bool {
	var credential webauthn.Credential
	return json.Unmarshal([]byte(key.Credential), &credential) == nil && credential.Authenticator.CloneWarning
}
