package setup

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"sepad/internal/clock"
	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// FindTenant finds a tenant by its id or by a name that no other has. Without
// either it finds the only tenant.
func FindTenant(ctx context.Context, st *store.Store, which string) (merchant.Tenant, error) {
	all, err := st.Tenants(ctx)
	if err != nil {
		return merchant.Tenant{}, err
	}
	id, _ := uuid.Parse(which)
	var found []merchant.Tenant
	for _, t := range all {
		switch {
		case t.ID == id:
			return t, nil // whoever else is called so
		case which == "" || t.Name == which:
			found = append(found, t)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(all) == 0:
		return merchant.Tenant{}, errors.New("there is no tenant yet: apply a resource file first")
	case which == "":
		return merchant.Tenant{}, fmt.Errorf("there are %d tenants: say which one with --tenant, by id or name", len(all))
	case len(found) == 0:
		return merchant.Tenant{}, fmt.Errorf("no tenant has the id or name %q", which)
	default:
		return merchant.Tenant{}, fmt.Errorf("%d tenants are called %q: give the id", len(found), which)
	}
}

// MaxKeyName bounds a key's name as in a resource file.
const MaxKeyName = 255

// CreateKey makes a key for a tenant and gives its text, which only its holder
// will know from then on.
func CreateKey(ctx context.Context, st *store.Store, tenantID uuid.UUID, name string, scopes merchant.Scopes, environment merchant.Environment, now time.Time, request store.RequestKey) (merchant.APIKey, merchant.Secret, error) {
	text := merchant.Secret(merchant.NewAPIKey(environment))
	name = strings.TrimSpace(name)
	if name == "" || utf8.RuneCountInString(name) > MaxKeyName || strings.ContainsFunc(name, unicode.IsControl) {
		return merchant.APIKey{}, "", fmt.Errorf("a key's name has 1 to %d characters, none of them a control character", MaxKeyName)
	}
	key := merchant.APIKey{
		ID: payment.NewID(), TenantID: tenantID, Name: name, Scopes: scopes,
		Prefix: merchant.KeyDisplayPrefix(text.Reveal()), CreatedAt: now,
	}
	err := st.Write(ctx, now, func(tx *store.Tx) error {
		tx.Remember(request, key.ID)
		tx.AddAPIKey(key, merchant.HashAPIKey(text.Reveal()))
		tx.Audit(keyDeed("api_key.create", key))
		return nil
	})
	return key, text, err
}

// keyDeed is what the audit trail keeps of a key.
func keyDeed(action string, key merchant.APIKey) store.Deed {
	shown := map[string]any{"name": key.Name, "prefix": key.Prefix, "scopes": key.Scopes.List()}
	d := store.Deed{Action: action, ObjectType: "api_key", ObjectID: key.ID.String(), TenantID: key.TenantID, After: shown}
	if key.Revoked() {
		d.Before, d.After = shown, nil
	}
	return d
}

var (
	// ErrRevoked is told of a key that was revoked before, and ErrNoKey of one that is not there.
	ErrRevoked = errors.New("was revoked already")
	ErrNoKey   = errors.New("the tenant has no key with the id or name")
)

// RevokeKey ends one of a tenant's keys, named by its id or by a name that no
// other working key has. When it is answered, no process takes the key any more, also where it was revoked already:
// whoever did so may have died before that was so.
func RevokeKey(ctx context.Context, st *store.Store, tenantID uuid.UUID, which string, now time.Time) (merchant.APIKey, error) {
	key, err := findKey(ctx, st, tenantID, which)
	if err == nil {
		key.RevokedAt = now
		err = st.Write(ctx, now, func(tx *store.Tx) error {
			tx.RevokeAPIKey(tenantID, key.ID)
			tx.Audit(keyDeed("api_key.revoke", key))
			return nil
		})
		if payment.KindOf(err) == payment.NotFound { // somebody else was quicker
			err = revokedAlready(which)
		}
	}
	if err == nil || errors.Is(err, ErrRevoked) {
		// Processes may have found it a moment ago. Who does not wait leaves it to them for as long.
		_ = clock.Outlast(ctx, store.KeyTrust)
	}
	return key, err
}

func revokedAlready(which string) error { return fmt.Errorf("the key %q %w", which, ErrRevoked) }

// findKey finds the one working key that is meant.
func findKey(ctx context.Context, st *store.Store, tenantID uuid.UUID, which string) (merchant.APIKey, error) {
	all, err := st.Tenant(tenantID).APIKeys(ctx)
	if err != nil {
		return merchant.APIKey{}, err
	}
	id, _ := uuid.Parse(which)
	var working, revoked []merchant.APIKey
	for _, k := range all {
		switch {
		case k.ID != id && k.Name != which:
		case k.Revoked():
			revoked = append(revoked, k)
		default:
			working = append(working, k)
		}
	}
	switch {
	case len(working) > 1:
		return merchant.APIKey{}, fmt.Errorf("%d keys are called %q: give the id", len(working), which)
	case len(working) == 0 && len(revoked) > 0:
		return merchant.APIKey{}, revokedAlready(which)
	case len(working) == 0:
		return merchant.APIKey{}, fmt.Errorf("%w %q", ErrNoKey, which)
	}
	return working[0], nil
}
