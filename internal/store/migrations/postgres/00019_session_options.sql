-- +goose NO TRANSACTION
-- +goose Up
-- What a merchant may say of one session: its own name for the purchase, and options
-- as a JSON text.
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS tenant_reference_id text;
ALTER TABLE sessions ADD COLUMN IF NOT EXISTS options text;
-- A reference that an attempt has from its session may be that of several attempts.
ALTER TABLE transactions ADD COLUMN IF NOT EXISTS reference_inherited boolean NOT NULL DEFAULT FALSE;
-- Indexes are built while others write; what an interrupted try has left goes first.
DROP INDEX CONCURRENTLY IF EXISTS sessions_reference_idx;
CREATE INDEX CONCURRENTLY sessions_reference_idx ON sessions (tenant_id, tenant_reference_id, id)
    WHERE tenant_reference_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS transactions_own_reference_key;
CREATE UNIQUE INDEX CONCURRENTLY transactions_own_reference_key ON transactions (tenant_id, tenant_reference_id)
    WHERE tenant_reference_id IS NOT NULL AND NOT reference_inherited;
DROP INDEX CONCURRENTLY IF EXISTS transactions_tenant_reference_id_key;
ALTER INDEX transactions_own_reference_key RENAME TO transactions_tenant_reference_id_key;

-- +goose Down
DROP INDEX sessions_reference_idx;
DROP INDEX transactions_tenant_reference_id_key;
UPDATE transactions SET tenant_reference_id = NULL WHERE reference_inherited;
CREATE UNIQUE INDEX transactions_tenant_reference_id_key ON transactions (tenant_id, tenant_reference_id)
    WHERE tenant_reference_id IS NOT NULL;
ALTER TABLE transactions DROP COLUMN reference_inherited;
ALTER TABLE sessions DROP COLUMN options;
ALTER TABLE sessions DROP COLUMN tenant_reference_id;
