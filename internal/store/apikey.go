package store

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"sepad/internal/db"
	"sepad/internal/merchant"
	"sepad/internal/payment"
)

// IsKeyTaken tells that an API key could not be added because it exists.
func IsKeyTaken(err error) bool { return db.IsKey(err, "api_keys_key_hash_key") }

// AddAPIKey stores a key by its hash.
func (tx *Tx) AddAPIKey(key merchant.APIKey, keyHash string) {
	tx.Then(`
		INSERT INTO api_keys (tenant_id, id, name, prefix, key_hash, scopes, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		key.TenantID, key.ID, key.Name, key.Prefix, keyHash, cmp.Or(key.Scopes, merchant.DefaultScopes), db.Micros(tx.At))
}

// RevokeAPIKey ends a key for good.
func (tx *Tx) RevokeAPIKey(tenantID, id uuid.UUID) {
	tx.Require(&payment.Error{Kind: payment.NotFound, Detail: "No such API key, or it is revoked already."}, `
		UPDATE api_keys SET revoked_at = $3 WHERE tenant_id = $1 AND id = $2 AND revoked_at IS NULL`,
		tenantID, id, db.Micros(tx.At))
}

// TouchAPIKey records when a key was last used; it never moves back.
func (tx *Tx) TouchAPIKey(id uuid.UUID, usedAt time.Time) {
	tx.Then(`
		UPDATE api_keys SET last_used_at = $2 WHERE id = $1 AND COALESCE(last_used_at, 0) < $2`, id, db.Micros(usedAt))
}

// APIKeys lists the tenant's keys, newest first.
func (t Tenant) APIKeys(ctx context.Context) ([]merchant.APIKey, error) {
	result, err := t.Query(ctx, `
		SELECT id, tenant_id, name, prefix, scopes, created_at, last_used_at, revoked_at FROM api_keys
		WHERE tenant_id = $1 ORDER BY created_at DESC, id DESC`)
	return db.Collect(result, err, func(r db.Rows) (merchant.APIKey, error) {
		var k merchant.APIKey
		return k, r.Scan(&k.ID, &k.TenantID, &k.Name, &k.Prefix, &k.Scopes,
			db.Instant{To: &k.CreatedAt}, db.Instant{To: &k.LastUsedAt}, db.Instant{To: &k.RevokedAt})
	})
}

// KnowsKeyHash tells whether the tenant has, or had, the key.
func (t Tenant) KnowsKeyHash(ctx context.Context, keyHash string) (bool, error) {
	result, err := t.Query(ctx, `SELECT COUNT(*) FROM api_keys WHERE tenant_id = $1 AND key_hash = $2`, keyHash)
	return db.One(result, err, func(r db.Rows) (bool, error) {
		var n int
		err := r.Scan(&n)
		return n > 0, err
	})
}
