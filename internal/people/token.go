package people

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
)

const (
	maxTokenName = 100
	// DefaultTokenLife is how long a token is good that was made without saying.
	DefaultTokenLife = 90 * 24 * time.Hour
	maxTokenLife     = 366 * 24 * time.Hour
	// usedEvery is how exactly it is kept when a token or a session was last used.
	usedEvery = time.Minute
)

// CreateToken makes a token of an operator's and gives its text, this once. One that is
// made by a program's own token does not outlive that, and one that is being made while
// the operator is reset or removed is not made.
func (p *People) CreateToken(ctx context.Context, of store.Operator, name string, expiresAt time.Time) (t store.OperatorToken, text merchant.Secret, err error) {
	if !p.IsFresh(ctx) {
		return t, "", ErrNotFresh
	}
	now := p.Clock.Now()
	if expiresAt.IsZero() {
		expiresAt = now.Add(DefaultTokenLife)
	}
	if who, ok := Who(ctx); ok && who.Token != nil && expiresAt.After(who.Token.ExpiresAt) {
		expiresAt = who.Token.ExpiresAt
	}
	text = merchant.Secret(TokenPrefix + newSecret())
	t = store.OperatorToken{
		ID: payment.NewID(), OperatorID: of.ID, Name: strings.TrimSpace(name), Hash: hashSecret(text.Reveal()), CreatedAt: now,
		ExpiresAt: expiresAt.UTC().Truncate(time.Microsecond),
	}
	bad := payment.Fields{}
	if t.Name == "" || utf8.RuneCountInString(t.Name) > maxTokenName || strings.ContainsFunc(t.Name, unicode.IsControl) {
		bad.Add("name", "name has 1 to 100 characters, none of them a control character.")
	}
	if !t.ExpiresAt.After(now) || t.ExpiresAt.After(now.Add(maxTokenLife)) {
		bad.Add("expires_at", "expires_at must be within the next 366 days.")
	}
	if err := bad.Err(); err != nil {
		return t, "", err
	}
	return t, text, p.Store.Write(ctx, now, func(tx *store.Tx) error {
		tx.HoldOperator(of)
		tx.AddToken(t)
		tx.Audit(store.Deed{Action: "token.create", ObjectType: "token", ObjectID: t.ID.String(), After: map[string]any{
			"name": t.Name, "operator": of.Email, "expires_at": t.ExpiresAt,
		}})
		return nil
	})
}

// RevokeToken ends one of an operator's tokens, at once.
func (p *People) RevokeToken(ctx context.Context, of store.Operator, id uuid.UUID) error {
	return p.Store.Write(ctx, p.Clock.Now(), func(tx *store.Tx) error {
		tx.RevokeToken(of.ID, id)
		tx.Audit(store.Deed{Action: "token.revoke", ObjectType: "token", ObjectID: id.String(), Before: map[string]any{"operator": of.Email}})
		return nil
	})
}

// Bearer finds who brings a token; false where it opens nothing.
func (p *People) Bearer(ctx context.Context, text string) (Principal, bool, error) {
	if !strings.HasPrefix(text, TokenPrefix) {
		return Principal{}, false, nil
	}
	now := p.Clock.Now()
	t, o, found, err := p.Store.TokenBearer(ctx, hashSecret(text), now)
	if err != nil || !found || !isVouchedFor(o, now) {
		return Principal{}, false, err
	}
	if now.Sub(t.LastUsedAt) > usedEvery {
		err = p.Store.Write(ctx, now, func(tx *store.Tx) error {
			tx.UseToken(t.ID)
			return nil
		})
	}
	return principalOf(o, &t), err == nil, err
}
