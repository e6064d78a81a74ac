-- +goose Up
-- When a person was erased, and when to look again: at what was written meanwhile,
-- or because money was open.
ALTER TABLE leads ADD COLUMN erased_at INTEGER;
ALTER TABLE leads ADD COLUMN erase_due_at INTEGER;

-- By what erased persons are known again: keyed hashes, and their keys, sealed.
CREATE TABLE erasure_keys (
    tenant_id  TEXT NOT NULL,
    id         TEXT NOT NULL,
    key_sealed TEXT NOT NULL,
    CONSTRAINT erasure_keys_id_key PRIMARY KEY (tenant_id, id)
) STRICT;
CREATE TABLE erased_names (
    tenant_id TEXT    NOT NULL,
    key_id    TEXT    NOT NULL,
    name_hash TEXT    NOT NULL,
    erased_at INTEGER NOT NULL,
    CONSTRAINT erased_names_key_id_name_hash_key PRIMARY KEY (tenant_id, key_id, name_hash)
) STRICT;

-- +goose Down
DROP TABLE erased_names;
DROP TABLE erasure_keys;
ALTER TABLE leads DROP COLUMN erase_due_at;
ALTER TABLE leads DROP COLUMN erased_at;
