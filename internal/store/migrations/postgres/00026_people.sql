-- +goose Up
-- Who works behind the counter. tenants is '*' for all, or ids with spaces between them.
CREATE TABLE operators (
    id            uuid   NOT NULL,
    email         text   NOT NULL,
    email_key     text   NOT NULL,
    role          text   NOT NULL,
    tenants       text   NOT NULL,
    status        text   NOT NULL,
    password_hash text   NOT NULL DEFAULT '',
    totp_sealed   text   NOT NULL DEFAULT '',
    totp_step     bigint NOT NULL DEFAULT 0,
    created_at    bigint NOT NULL,
    updated_at    bigint NOT NULL,
    CONSTRAINT operators_id_key PRIMARY KEY (id),
    CONSTRAINT operators_email_key_key UNIQUE (email_key)
);
-- Links that open once, for a while.
CREATE TABLE operator_tickets (
    ticket_hash text   NOT NULL,
    operator_id uuid   NOT NULL,
    kind        text   NOT NULL,
    expires_at  bigint NOT NULL,
    CONSTRAINT operator_tickets_ticket_hash_key PRIMARY KEY (ticket_hash)
);
-- Browsers that are signed in, or half so: their second factor is still to come.
CREATE TABLE operator_sessions (
    session_hash text    NOT NULL,
    operator_id  uuid    NOT NULL,
    is_whole     boolean NOT NULL,
    address      text    NOT NULL,
    created_at   bigint  NOT NULL,
    seen_at      bigint  NOT NULL,
    ends_at      bigint  NOT NULL,
    CONSTRAINT operator_sessions_session_hash_key PRIMARY KEY (session_hash)
);
CREATE INDEX operator_sessions_operator_idx ON operator_sessions (operator_id);
CREATE TABLE operator_tokens (
    id           uuid   NOT NULL,
    operator_id  uuid   NOT NULL,
    name         text   NOT NULL,
    token_hash   text   NOT NULL,
    created_at   bigint NOT NULL,
    expires_at   bigint NOT NULL,
    last_used_at bigint,
    CONSTRAINT operator_tokens_id_key PRIMARY KEY (id),
    CONSTRAINT operator_tokens_token_hash_key UNIQUE (token_hash)
);
CREATE INDEX operator_tokens_operator_idx ON operator_tokens (operator_id);

-- Who changed what. An entry is written with its change; its place and its hash, which
-- covers the one before, are given after the commit.
CREATE TABLE audit_entries (
    id          uuid   NOT NULL,
    at          bigint NOT NULL,
    actor       text   NOT NULL,
    operator_id uuid,
    address     text   NOT NULL,
    action      text   NOT NULL,
    object_type text   NOT NULL,
    object_id   text   NOT NULL,
    tenant_id   uuid,
    was         text,
    became      text,
    place       bigint,
    hash        text   NOT NULL DEFAULT '',
    CONSTRAINT audit_entries_id_key PRIMARY KEY (id),
    CONSTRAINT audit_entries_place_key UNIQUE (place)
);
CREATE INDEX audit_entries_unplaced_idx ON audit_entries (id) WHERE place IS NULL;
CREATE INDEX audit_entries_tenant_idx ON audit_entries (tenant_id, id);
CREATE INDEX audit_entries_object_idx ON audit_entries (object_id, id);
CREATE INDEX audit_entries_actor_idx ON audit_entries (actor, id);
CREATE TABLE audit_chain (
    id         bigint NOT NULL,
    last_place bigint NOT NULL,
    head       text   NOT NULL,
    CONSTRAINT audit_chain_id_key PRIMARY KEY (id)
);

-- +goose Down
DROP TABLE audit_chain;
DROP TABLE audit_entries;
DROP TABLE operator_tokens;
DROP TABLE operator_sessions;
DROP TABLE operator_tickets;
DROP TABLE operators;
