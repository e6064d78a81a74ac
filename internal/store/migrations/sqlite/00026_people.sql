-- +goose Up
-- Who works behind the counter. tenants is '*' for all, or ids with spaces between them.
CREATE TABLE operators (
    id            TEXT    NOT NULL,
    email         TEXT    NOT NULL,
    email_key     TEXT    NOT NULL,
    role          TEXT    NOT NULL,
    tenants       TEXT    NOT NULL,
    status        TEXT    NOT NULL,
    password_hash TEXT    NOT NULL DEFAULT '',
    totp_sealed   TEXT    NOT NULL DEFAULT '',
    totp_step     INTEGER NOT NULL DEFAULT 0,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    CONSTRAINT operators_id_key PRIMARY KEY (id),
    CONSTRAINT operators_email_key_key UNIQUE (email_key)
) STRICT;
-- Links that open once, for a while.
CREATE TABLE operator_tickets (
    ticket_hash TEXT    NOT NULL,
    operator_id TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    expires_at  INTEGER NOT NULL,
    CONSTRAINT operator_tickets_ticket_hash_key PRIMARY KEY (ticket_hash)
) STRICT;
-- Browsers that are signed in, or half so: their second factor is still to come.
CREATE TABLE operator_sessions (
    session_hash TEXT    NOT NULL,
    operator_id  TEXT    NOT NULL,
    is_whole     INTEGER NOT NULL,
    address      TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    seen_at      INTEGER NOT NULL,
    ends_at      INTEGER NOT NULL,
    CONSTRAINT operator_sessions_session_hash_key PRIMARY KEY (session_hash)
) STRICT;
CREATE INDEX operator_sessions_operator_idx ON operator_sessions (operator_id);
CREATE TABLE operator_tokens (
    id           TEXT    NOT NULL,
    operator_id  TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    token_hash   TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    CONSTRAINT operator_tokens_id_key PRIMARY KEY (id),
    CONSTRAINT operator_tokens_token_hash_key UNIQUE (token_hash)
) STRICT;
CREATE INDEX operator_tokens_operator_idx ON operator_tokens (operator_id);

-- Who changed what. An entry is written with its change; its place and its hash, which
-- covers the one before, are given after the commit.
CREATE TABLE audit_entries (
    id          TEXT    NOT NULL,
    at          INTEGER NOT NULL,
    actor       TEXT    NOT NULL,
    operator_id TEXT,
    address     TEXT    NOT NULL,
    action      TEXT    NOT NULL,
    object_type TEXT    NOT NULL,
    object_id   TEXT    NOT NULL,
    tenant_id   TEXT,
    was         TEXT,
    became      TEXT,
    place       INTEGER,
    hash        TEXT    NOT NULL DEFAULT '',
    CONSTRAINT audit_entries_id_key PRIMARY KEY (id),
    CONSTRAINT audit_entries_place_key UNIQUE (place)
) STRICT;
CREATE INDEX audit_entries_unplaced_idx ON audit_entries (id) WHERE place IS NULL;
CREATE INDEX audit_entries_tenant_idx ON audit_entries (tenant_id, id);
CREATE INDEX audit_entries_object_idx ON audit_entries (object_id, id);
CREATE INDEX audit_entries_actor_idx ON audit_entries (actor, id);
CREATE TABLE audit_chain (
    id         INTEGER NOT NULL,
    last_place INTEGER NOT NULL,
    head       TEXT    NOT NULL,
    CONSTRAINT audit_chain_id_key PRIMARY KEY (id)
) STRICT;

-- +goose Down
DROP TABLE audit_chain;
DROP TABLE audit_entries;
DROP TABLE operator_tokens;
DROP TABLE operator_sessions;
DROP TABLE operator_tickets;
DROP TABLE operators;
