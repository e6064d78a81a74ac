-- +goose Up
-- What a merchant may say of one session: its own name for the purchase, and options
-- as a JSON text.
ALTER TABLE sessions ADD COLUMN tenant_reference_id TEXT;
ALTER TABLE sessions ADD COLUMN options TEXT;
-- A reference that an attempt has from its session may be that of several attempts.
ALTER TABLE transactions ADD COLUMN reference_inherited INTEGER NOT NULL DEFAULT 0;
CREATE INDEX sessions_reference_idx ON sessions (tenant_id, tenant_reference_id, id)
    WHERE tenant_reference_id IS NOT NULL;
DROP INDEX transactions_tenant_reference_id_key;
CREATE UNIQUE INDEX transactions_tenant_reference_id_key ON transactions (tenant_id, tenant_reference_id)
    WHERE tenant_reference_id IS NOT NULL AND NOT reference_inherited;

-- +goose Down
DROP INDEX sessions_reference_idx;
DROP INDEX transactions_tenant_reference_id_key;
UPDATE transactions SET tenant_reference_id = NULL WHERE reference_inherited;
CREATE UNIQUE INDEX transactions_tenant_reference_id_key ON transactions (tenant_id, tenant_reference_id)
    WHERE tenant_reference_id IS NOT NULL;
ALTER TABLE transactions DROP COLUMN reference_inherited;
ALTER TABLE sessions DROP COLUMN options;
ALTER TABLE sessions DROP COLUMN tenant_reference_id;
