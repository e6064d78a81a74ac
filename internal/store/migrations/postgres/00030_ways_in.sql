-- +goose Up
-- Operators may come by an OpenID provider, which calls them by a name of its own, and may
-- have passkeys. A ceremony with a passkey has its challenge kept with the browser's session.
ALTER TABLE operators ADD COLUMN provider_subject text NOT NULL DEFAULT '';
ALTER TABLE operators ADD COLUMN provider_seen_at bigint;
CREATE UNIQUE INDEX operators_provider_subject_key ON operators (provider_subject) WHERE provider_subject <> '';
ALTER TABLE operator_sessions ADD COLUMN challenge text NOT NULL DEFAULT '';
CREATE TABLE operator_passkeys (
    id            uuid   NOT NULL,
    operator_id   uuid   NOT NULL,
    name          text   NOT NULL,
    credential_id text   NOT NULL,
    credential    text   NOT NULL,
    created_at    bigint NOT NULL,
    last_used_at  bigint,
    CONSTRAINT operator_passkeys_id_key PRIMARY KEY (id),
    CONSTRAINT operator_passkeys_credential_id_key UNIQUE (credential_id)
);
CREATE INDEX operator_passkeys_operator_idx ON operator_passkeys (operator_id);

-- +goose Down
DROP TABLE operator_passkeys;
ALTER TABLE operator_sessions DROP COLUMN challenge;
DROP INDEX operators_provider_subject_key;
ALTER TABLE operators DROP COLUMN provider_seen_at;
ALTER TABLE operators DROP COLUMN provider_subject;
