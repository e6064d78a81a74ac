package people

import (
	"context"
	"errors"
	"reflect"
	"time"

	"sepad/internal/payment"
	"sepad/internal/store"
)

// vouchedLife is how long the tokens of somebody are good for whom the provider has not
// vouched again: who has left signs in no more, and nobody tells us.
const vouchedLife = 30 * 24 * time.Hour

// RefusedError is the answer to somebody who is not let in though the provider knows them.
type RefusedError struct{ Sentence string }

func (e *RefusedError) Error() string { return e.Sentence }

var (
	errNoRole    = &RefusedError{"Your provider names no role for you here. Ask whoever administers it."}
	errNoTenants = &RefusedError{"None of the tenants that your provider names for you is known here."}
	errNoAddress = &RefusedError{"Your provider tells no email address of yours, or doubts it."}
	errNotYours  = &RefusedError{"Somebody has this email address here already, and your provider does not confirm that it is yours."}
)

// signInTries bounds how often somebody is let in anew whose other browsers come at the
// same moment.
const signInTries = 8

// SignInByProvider signs somebody in for whom the provider vouches, with the role and the
// tenants that it names now. Who is new is added, who has lost the role is removed.
func (p *People) SignInByProvider(ctx context.Context, v Vouched, address string) (cookie Cookie, err error) {
	for range signInTries {
		if cookie, err = p.letIn(ctx, v, address); !store.IsDuplicate(err) && !errors.Is(err, store.ErrOperatorChanged) {
			break
		}
	}
	return cookie, err
}

func (p *People) letIn(ctx context.Context, v Vouched, address string) (Cookie, error) {
	was, isKnown, err := p.vouchedFor(ctx, v)
	if err != nil {
		return Cookie{}, err
	}
	tenants, err := p.Store.Tenants(ctx)
	if err != nil {
		return Cookie{}, err
	}
	now := p.Clock.Now()
	o := was
	o.Role, o.Tenants = v.role(), v.tenants(tenants)
	var refusal error
	switch {
	case o.Role == "":
		refusal = errNoRole
	case !o.Tenants.All && len(o.Tenants.IDs) == 0:
		refusal = errNoTenants
	}
	if refusal != nil {
		return Cookie{}, p.shutOut(ctx, was, isKnown, address, refusal)
	}
	o.ProviderSubject, o.ProviderSeenAt = v.Subject, now.UTC().Truncate(time.Microsecond)
	// Who comes by the provider has no other way in: what it takes is taken.
	o.Status, o.PasswordHash, o.SealedTOTP, o.TOTPStep = store.OperatorActive, "", "", 0
	return p.beginSince(ctx, o, address, v.since(now), now, "operator.sign_in", func(tx *store.Tx) {
		switch {
		case !isKnown:
			tx.AddOperator(o)
			tx.Audit(deed("operator.create", o, nil, shown(o)))
		default:
			tx.ChangeOperator(was, o)
			if was.ProviderSubject == "" {
				tx.EndSignIns(o.ID)
				tx.EndTickets(o.ID) // by which a password would be set that the provider knows nothing of
			}
			if before, after := shown(was), shown(o); !reflect.DeepEqual(before, after) {
				tx.Audit(deed("operator.update", o, before, after))
			}
		}
	})
}

// since is when the provider made sure of somebody. One that remembers its people asks them nothing, so that whoever finds a browser
// that was left open would have signed in just now; one that does not say when is believed.
func (v Vouched) since(now time.Time) time.Time {
	if v.At.IsZero() || v.At.After(now) {
		return now
	}
	return v.At
}

// vouchedFor is who the provider means: somebody who came by it before, somebody who has
// the address here, or a new one.
func (p *People) vouchedFor(ctx context.Context, v Vouched) (o store.Operator, isKnown bool, err error) {
	o, err = p.Store.OperatorBySubject(ctx, v.Subject)
	if err == nil || payment.KindOf(err) != payment.NotFound {
		return o, err == nil, err
	}
	if v.Email == "" || v.IsDoubted {
		return o, false, errNoAddress
	}
	o, err = p.Store.OperatorByEmail(ctx, v.Email)
	switch {
	case payment.KindOf(err) == payment.NotFound:
		now := p.Clock.Now().UTC().Truncate(time.Microsecond)
		return store.Operator{ID: payment.NewID(), Email: v.Email, CreatedAt: now, UpdatedAt: now}, false, nil
	case err != nil:
		return o, false, err
	case o.ProviderSubject == v.Subject: // who was added a moment ago
	case !v.IsVerified || o.ProviderSubject != "":
		return o, false, errNotYours
	}
	return o, true, nil
}

// shutOut removes somebody whom the provider has brought and no longer wants here.
func (p *People) shutOut(ctx context.Context, o store.Operator, isKnown bool, address string, refusal error) error {
	if !isKnown || o.ProviderSubject == "" {
		return refusal
	}
	err := p.Store.Write(principalOf(o, nil).Enter(ctx, address), p.Clock.Now(), func(tx *store.Tx) error {
		tx.RemoveOperator(o.ID)
		tx.Audit(deed("operator.remove", o, shown(o), map[string]any{"reason": refusal.Error()}))
		return nil
	})
	if err != nil {
		return err
	}
	return refusal
}

// isVouchedFor tells that the provider, where somebody comes by one, has vouched for them
// of late.
func isVouchedFor(o store.Operator, now time.Time) bool {
	return o.ProviderSubject == "" || now.Sub(o.ProviderSeenAt) < vouchedLife
}
