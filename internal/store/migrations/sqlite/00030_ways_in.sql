-- +goose Up
-- Operators may come by an OpenID provider, which calls them by a name of its own, and may
-- have passkeys. A ceremony with a passkey has its challenge kept with the browser's session.
ALTER TABLE operators ADD COLUMN provider_subject TEXT NOT NULL DEFAULT '';
ALTER TABLE operators ADD COLUMN provider_seen_at INTEGER;
CREATE UNIQUE INDEX operators_provider_subject_key ON operators (provider_subject) WHERE provider_subject <> '';
ALTER TABLE operator_sessions ADD COLUMN challenge TEXT NOT NULL DEFAULT '';
CREATE TABLE operator_passkeys (
    id            TEXT    NOT NULL,
    operator_id   TEXT    NOT NULL,
    name          TEXT    NOT NULL,
    credential_id TEXT    NOT NULL,
    credential    TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    last_used_at  INTEGER,
    CONSTRAINT operator_passkeys_id_key PRIMARY KEY (id),
    CONSTRAINT operator_passkeys_credential_id_key UNIQUE (credential_id)
) STRICT;
CREATE INDEX operator_passkeys_operator_idx ON operator_passkeys (operator_id);

-- +goose Down
DROP TABLE operator_passkeys;
ALTER TABLE operator_sessions DROP COLUMN challenge;
DROP INDEX operators_provider_subject_key;
ALTER TABLE operators DROP COLUMN provider_seen_at;
ALTER TABLE operators DROP COLUMN provider_subject;
