package people

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"sepad/internal/limit"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/sepa"
	"sepad/internal/store"
)

const (
	// idleLife ends a session that nobody uses, wholeLife any, halfLife one whose second
	// factor does not come.
	idleLife  = 2 * time.Hour
	wholeLife = 12 * time.Hour
	halfLife  = 10 * time.Minute
)

// WaitError is the answer to somebody who has guessed too often.
type WaitError struct{ For time.Duration }

func (e *WaitError) Error() string { return "There were too many tries. Wait a moment." }

var (
	errWrongPassword = payment.Fields{"password": "Email or password is wrong."}.Err()
	errWrongCode     = payment.Fields{"code": "The code is wrong, or was used already. Take the next one."}.Err()
)

// Cookie is what a browser is signed in by.
type Cookie struct {
	Text merchant.Secret
	// IsWhole tells that nothing more is asked for.
	IsWhole bool
}

// newSession makes a session and what its cookie carries. Somebody was made sure of since, which may be before now.
func newSession(o store.Operator, address string, isWhole bool, since, now time.Time) (store.OperatorSession, Cookie) {
	life := halfLife
	if isWhole {
		life = wholeLife
	}
	text := newSecret()
	return store.OperatorSession{
		Hash: hashSecret(text), OperatorID: o.ID, IsWhole: isWhole, Address: address, CreatedAt: since, SeenAt: now, EndsAt: now.Add(life),
	}, Cookie{merchant.Secret(text), isWhole}
}

// SignIn is the first step: address and password. Whoever is not there gets the answer
// of whoever mistypes, and waits as long for it.
func (p *People) SignIn(ctx context.Context, email string, password merchant.Secret, address string) (Cookie, error) {
	now := p.Clock.Now()
	email = strings.TrimSpace(email)
	from, _ := netip.ParseAddr(address) // none is somebody as well
	// Its hash, since what strangers type has any length.
	pair := hashSecret(limit.NameOf(from) + "\n" + store.Operator{Email: email}.EmailKey())
	if wait := p.Passwords.Attempt(ctx, pair, now); wait > 0 {
		return Cookie{}, &WaitError{wait}
	}
	o, err := p.Store.OperatorByEmail(ctx, email)
	if err != nil && payment.KindOf(err) != payment.NotFound {
		return Cookie{}, err
	}
	isRight, err := isPassword(ctx, password, o.PasswordHash)
	if err != nil {
		return Cookie{}, err
	}
	if !isRight {
		return Cookie{}, errWrongPassword
	}
	p.Passwords.Forget(ctx, pair, now)
	session, cookie := newSession(o, address, false, now, now)
	return cookie, p.Store.Write(ctx, now, func(tx *store.Tx) error {
		tx.AddSignIn(session)
		return nil
	})
}

// Confirm is the second step: a code of the authenticator app. It gives the browser
// another cookie. Only who knows the password comes here, so that wrong codes may hold
// up everybody who tries them for this operator.
func (p *People) Confirm(ctx context.Context, half merchant.Secret, code, address string) (Cookie, error) {
	session, was, err := p.half(ctx, half)
	if err != nil {
		return Cookie{}, err
	}
	now := p.Clock.Now()
	if wait := p.Codes.Attempt(ctx, was.ID.String(), now); wait > 0 {
		return Cookie{}, &WaitError{wait}
	}
	o, err := p.spendCode(was, code, now)
	if err != nil {
		return Cookie{}, err
	}
	p.Codes.Forget(ctx, was.ID.String(), now)
	return p.begin(ctx, o, address, now, "operator.sign_in", func(tx *store.Tx) {
		tx.EndSignIn(session.Hash)
		tx.ChangeOperator(was, o)
	})
}

// spendCode is the operator after a code that was right.
func (p *People) spendCode(o store.Operator, code string, now time.Time) (store.Operator, error) {
	if o.SealedTOTP == "" {
		return o, errWrongCode // passkeys are the only second factor
	}
	secret, err := p.Store.OpenTOTP(o)
	if err != nil {
		return o, err
	}
	step, isRight := totpMatch(secret, strings.ReplaceAll(strings.TrimSpace(code), " ", ""), o.TOTPStep, now)
	if !isRight {
		return o, errWrongCode
	}
	o.TOTPStep = step
	return o, nil
}

// begin signs a browser in, with what goes along.
func (p *People) begin(ctx context.Context, o store.Operator, address string, now time.Time, action string, also func(*store.Tx)) (Cookie, error) {
	return p.beginSince(ctx, o, address, now, now, action, also)
}

// beginSince does so for somebody who was made sure of before.
func (p *People) beginSince(ctx context.Context, o store.Operator, address string, since, now time.Time, action string, also func(*store.Tx)) (Cookie, error) {
	session, cookie := newSession(o, address, true, since, now)
	return cookie, p.Store.Write(principalOf(o, nil).Enter(ctx, address), now, func(tx *store.Tx) error {
		also(tx)
		tx.AddSignIn(session)
		tx.Audit(deed(action, o, nil, nil))
		return nil
	})
}

// Welcome is what somebody with a link is shown.
type Welcome struct {
	sepa.Masked
	Email string
	// SignsIn tells that the link asks for nothing more.
	SignsIn bool
	// Secret is what an authenticator app is to know, URL the same for a picture.
	Secret, URL string
}

// issuer is how authenticator apps call us.
const issuer = "sepad"

// Open looks at a link without using it.
func (p *People) Open(ctx context.Context, ticket merchant.Secret) (Welcome, error) {
	_, o, kind, err := p.ticket(ctx, ticket)
	if err != nil {
		return Welcome{}, err
	}
	if kind == store.TicketSignIn {
		return Welcome{Email: o.Email, SignsIn: true}, nil
	}
	secret, err := p.Store.OpenTOTP(o)
	return Welcome{Email: o.Email, Secret: totpText(secret), URL: totpURL(secret, issuer, o.Email)}, err
}

// ticket finds a link and whose it is. One that signs in opens nothing outside of a
// sandbox.
func (p *People) ticket(ctx context.Context, text merchant.Secret) (t store.Ticket, o store.Operator, kind store.TicketKind, err error) {
	if t, err = p.Store.Ticket(ctx, hashSecret(text.Reveal()), p.Clock.Now()); err != nil {
		return t, o, "", err
	}
	if t.Kind == store.TicketSignIn && p.Environment != merchant.Sandbox {
		return t, o, "", store.ErrNoTicket
	}
	o, err = p.Store.Operator(ctx, t.OperatorID)
	return t, o, t.Kind, err
}

// SignInByLink signs in by a link that asks for nothing more.
func (p *People) SignInByLink(ctx context.Context, ticket merchant.Secret, address string) (Cookie, error) {
	t, o, kind, err := p.ticket(ctx, ticket)
	if err == nil && kind != store.TicketSignIn {
		err = store.ErrNoTicket
	}
	if err != nil {
		return Cookie{}, err
	}
	return p.begin(ctx, o, address, p.Clock.Now(), "operator.sign_in", func(tx *store.Tx) {
		tx.HoldOperator(o)
		tx.UseTicket(t)
	})
}

// welcome finds the link of somebody who is about to set a password.
func (p *People) welcome(ctx context.Context, ticket merchant.Secret) (store.Ticket, store.Operator, error) {
	t, o, kind, err := p.ticket(ctx, ticket)
	if err == nil && kind != store.TicketWelcome {
		err = store.ErrNoTicket
	}
	return t, o, err
}

// Accept sets password and second factor by a link, and signs in: the code of an app, or
// a passkey (AcceptByPasskey). Sessions from before end.
func (p *People) Accept(ctx context.Context, ticket, password merchant.Secret, code, address string) (Cookie, error) {
	t, was, err := p.welcome(ctx, ticket)
	if err != nil {
		return Cookie{}, err
	}
	now := p.Clock.Now()
	if fault := checkPassword(password, was.Email); fault != "" {
		return Cookie{}, payment.Fields{"password": fault}.Err()
	}
	if wait := p.Codes.Attempt(ctx, was.ID.String(), now); wait > 0 {
		return Cookie{}, &WaitError{wait}
	}
	o, err := p.spendCode(was, code, now)
	if err != nil {
		return Cookie{}, err
	}
	p.Codes.Forget(ctx, was.ID.String(), now)
	return p.settle(ctx, t, was, o, password, address, func(*store.Tx) {})
}

// settle lets somebody in whose second factor is known, with what goes along.
func (p *People) settle(ctx context.Context, t store.Ticket, was, o store.Operator, password merchant.Secret, address string, also func(*store.Tx)) (_ Cookie, err error) {
	if o.PasswordHash, err = hashPassword(ctx, password); err != nil {
		return Cookie{}, err
	}
	o.Status = store.OperatorActive
	return p.begin(ctx, o, address, p.Clock.Now(), "operator.welcome", func(tx *store.Tx) {
		tx.UseTicket(t)
		tx.EndSignIns(o.ID)
		tx.ChangeOperator(was, o)
		also(tx)
	})
}

// SignedIn finds who a browser's cookie speaks for. A half session speaks for nobody.
func (p *People) SignedIn(ctx context.Context, cookie merchant.Secret) (Principal, error) {
	now := p.Clock.Now()
	session, o, err := p.Store.SignedIn(ctx, hashSecret(cookie.Reveal()))
	if err == nil && (!session.IsWhole || !now.Before(session.EndsAt) || now.Sub(session.SeenAt) >= idleLife) {
		err = store.ErrNoSignIn
	}
	if err != nil {
		return Principal{}, err
	}
	if now.Sub(session.SeenAt) > usedEvery {
		err = p.Store.Write(ctx, now, func(tx *store.Tx) error {
			tx.SeeSignIn(session.Hash)
			return nil
		})
	}
	who := principalOf(o, nil)
	who.SignedInAt = session.CreatedAt
	return who, err
}

// freshFor is how long after a sign-in somebody may change by what they or others are let
// in: whoever finds a browser that was left open must not make a way in of his own.
const freshFor = 15 * time.Minute

// ErrNotFresh is the answer to whoever has signed in too long ago for what is asked.
var ErrNotFresh = &payment.Error{
	Kind: payment.Conflict, Detail: "You signed in more than a quarter of an hour ago. Sign out and in again first, so that we know that it is you.",
}

// IsFresh tells that whoever asks has just signed in, or is in no browser. In a sandbox,
// into which a link leads once, everybody always has.
func (p *People) IsFresh(ctx context.Context) bool {
	who, _ := Who(ctx)
	return p.Environment == merchant.Sandbox || who.SignedInAt.IsZero() || p.Clock.Now().Sub(who.SignedInAt) <= freshFor
}

// RequireFresh refuses whoever has not just signed in what would outlast the session: to
// let somebody in, to make a key, or to say where money and events go.
func (p *People) RequireFresh(ctx context.Context) error {
	if !p.IsFresh(ctx) {
		return ErrNotFresh
	}
	return nil
}

// End ends a session of a browser in which somebody signs in anew.
func (p *People) End(ctx context.Context, cookie merchant.Secret) error {
	return p.Store.Write(ctx, p.Clock.Now(), func(tx *store.Tx) error {
		tx.EndSignIn(hashSecret(cookie.Reveal()))
		return nil
	})
}

// SignOut ends a browser's session.
func (p *People) SignOut(ctx context.Context, o store.Operator, cookie merchant.Secret) error {
	return p.Store.Write(ctx, p.Clock.Now(), func(tx *store.Tx) error {
		tx.EndSignIn(hashSecret(cookie.Reveal()))
		tx.Audit(deed("operator.sign_out", o, nil, nil))
		return nil
	})
}

// SignOutEverywhere ends all sessions of an operator. Tokens go on.
func (p *People) SignOutEverywhere(ctx context.Context, o store.Operator) error {
	return p.Store.Write(ctx, p.Clock.Now(), func(tx *store.Tx) error {
		tx.EndSignIns(o.ID)
		tx.Audit(deed("operator.sign_out_everywhere", o, nil, nil))
		return nil
	})
}
