-- +goose Up
-- When a person was erased, and when to look again: at what was written meanwhile,
-- or because money was open.
ALTER TABLE leads ADD COLUMN erased_at bigint;
ALTER TABLE leads ADD COLUMN erase_due_at bigint;

-- By what erased persons are known again: keyed hashes, and their keys, sealed.
CREATE TABLE erasure_keys (
    tenant_id  uuid NOT NULL,
    id         uuid NOT NULL,
    key_sealed text NOT NULL,
    CONSTRAINT erasure_keys_id_key PRIMARY KEY (tenant_id, id)
);
CREATE TABLE erased_names (
    tenant_id uuid   NOT NULL,
    key_id    uuid   NOT NULL,
    name_hash text   NOT NULL,
    erased_at bigint NOT NULL,
    CONSTRAINT erased_names_key_id_name_hash_key PRIMARY KEY (tenant_id, key_id, name_hash)
);

-- +goose Down
DROP TABLE erased_names;
DROP TABLE erasure_keys;
ALTER TABLE leads DROP COLUMN erase_due_at;
ALTER TABLE leads DROP COLUMN erased_at;
