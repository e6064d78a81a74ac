package setup

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"sepad/internal/merchant"
	"sepad/internal/payment"
	"sepad/internal/store"
)

// planKeys adds the keys that the tenant does not have yet. A key that was
// revoked stays so: whoever revoked it had a reason, and a file that is applied
// by routine does not know it.
func (t *tenantPlan) planKeys(wanted []merchant.FileAPIKey) error {
	if len(wanted) == 0 {
		return nil
	}
	var stored []merchant.APIKey
	if !t.isNew {
		var err error
		if stored, err = t.applier.Store.Tenant(t.id).APIKeys(t.ctx); err != nil {
			return err
		}
	}
	for _, key := range wanted {
		named := keysNamed(stored, key.Name)
		if key.Key.IsZero() {
			t.planMadeKey(key, named)
			continue
		}
		if err := t.planChosenKey(key, named); err != nil {
			return err
		}
	}
	return nil
}

func keysNamed(keys []merchant.APIKey, name string) (named []merchant.APIKey) {
	for _, k := range keys {
		if k.Name == name {
			named = append(named, k)
		}
	}
	return named
}

// planMadeKey makes a key where the tenant never had one of the name.
func (t *tenantPlan) planMadeKey(wanted merchant.FileAPIKey, named []merchant.APIKey) {
	if len(named) == 0 {
		t.addKey(wanted, merchant.Secret(merchant.NewAPIKey(t.applier.Environment)), true, 0)
		return
	}
	for _, k := range named {
		if !k.Revoked() {
			t.addKept(wanted, k.ID, k.Scopes)
			return
		}
	}
	t.addRevoked(named[0], "make a new one with sepad keys create")
}

// planChosenKey takes the key as the file gives it.
func (t *tenantPlan) planChosenKey(wanted merchant.FileAPIKey, named []merchant.APIKey) error {
	hash := merchant.HashAPIKey(wanted.Key.Reveal())
	credential, inUse, err := t.applier.Store.CredentialByKeyHash(t.ctx, hash)
	if err != nil {
		return err
	}
	wasOurs, err := t.applier.Store.Tenant(t.id).KnowsKeyHash(t.ctx, hash)
	if err != nil {
		return err
	}
	switch {
	case inUse && credential.TenantID != t.id:
		t.mistakes = append(t.mistakes, keyMistake(wanted, "This key is already that of another tenant."))
	case inUse:
		t.addKept(wanted, credential.KeyID, credential.Scopes)
	case wasOurs:
		t.addRevoked(merchant.APIKey{Name: wanted.Name}, "write another one into the file")
	default:
		t.chosenKeys = append(t.chosenKeys, wanted)
		t.addKey(wanted, wanted.Key, false, len(named))
	}
	return nil
}

// addKey plans a new key beside those of the same name.
func (t *tenantPlan) addKey(wanted merchant.FileAPIKey, key merchant.Secret, shown bool, others int) {
	kept := merchant.APIKey{
		ID: payment.NewID(), TenantID: t.id, Name: wanted.Name, Scopes: wanted.Scopes, Prefix: merchant.KeyDisplayPrefix(key.Reveal()),
	}
	change := Change{Action: Created, Kind: KindAPIKey, Name: wanted.Name, ID: kept.ID}
	if shown {
		change.Secret = key
	}
	if others > 0 {
		change.Note = "Earlier keys of this name are kept as they are."
	}
	t.add(change)
	t.writes = append(t.writes, func(tx *store.Tx) error {
		tx.AddAPIKey(kept, merchant.HashAPIKey(key.Reveal()))
		tx.Audit(keyDeed("api_key.create", kept))
		return nil
	})
}

// addKept leaves a key as it is: its scopes are settled when it is made, so that
// nobody holds a key that can do more than he was told.
func (t *tenantPlan) addKept(wanted merchant.FileAPIKey, id uuid.UUID, scopes merchant.Scopes) {
	change := Change{Action: Unchanged, Kind: KindAPIKey, Name: wanted.Name, ID: id}
	if wanted.Scopes != scopes {
		change.Note = fmt.Sprintf("This key was made with the scopes %s and keeps them: make another one.", scopes)
	}
	t.add(change)
}

// addRevoked says that a key of the file does not work, and why.
func (t *tenantPlan) addRevoked(key merchant.APIKey, advice string) {
	since := ""
	if key.Revoked() {
		since = " on " + key.RevokedAt.Format(time.DateOnly)
	}
	t.add(Change{
		Action: Unchanged, Kind: KindAPIKey, Name: key.Name, ID: key.ID,
		Note: fmt.Sprintf("This key was revoked%s and stays so: %s.", since, advice),
	})
}

// keyTaken names the chosen keys of which one cannot be added.
func (p *plan) keyTaken() error {
	var mistakes []merchant.Mistake
	for _, key := range p.chosenKeys {
		mistakes = append(mistakes, keyMistake(key, "This key has been in use before, as that of another tenant."))
	}
	return fileError(p.file, mistakes)
}

func keyMistake(key merchant.FileAPIKey, sentence string) merchant.Mistake {
	return merchant.Mistake{Line: key.Line, Path: key.Path + ".key", Sentence: sentence}
}
