-- +goose Up
-- What a tenant sets up. Small tables; their ids are unique across tenants.
CREATE TABLE tenants (
    id                  TEXT    NOT NULL,
    number              INTEGER NOT NULL,
    name                TEXT    NOT NULL,
    creditor_name       TEXT    NOT NULL DEFAULT '',
    creditor_address    TEXT    NOT NULL DEFAULT '',
    creditor_identifier TEXT    NOT NULL DEFAULT '',
    setup_version       INTEGER NOT NULL DEFAULT 1,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    CONSTRAINT tenants_id_key PRIMARY KEY (id),
    CONSTRAINT tenants_number_key UNIQUE (number)
) STRICT;

CREATE TABLE api_keys (
    tenant_id    TEXT    NOT NULL REFERENCES tenants (id),
    id           TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    prefix       TEXT    NOT NULL,
    key_hash     TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at   INTEGER,
    CONSTRAINT api_keys_id_key PRIMARY KEY (id),
    CONSTRAINT api_keys_key_hash_key UNIQUE (key_hash)
) STRICT;
CREATE INDEX api_keys_tenant_idx ON api_keys (tenant_id, name);

-- A kind of set-up record is one JSON document under its id: it is read whole,
-- by id, and never searched by its fields. Secrets stand apart, sealed.
CREATE TABLE setup_records (
    tenant_id  TEXT    NOT NULL REFERENCES tenants (id),
    id         TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    document   TEXT    NOT NULL,
    secrets    TEXT    NOT NULL DEFAULT '',
    active     INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    CONSTRAINT setup_records_id_key PRIMARY KEY (id)
) STRICT;
CREATE INDEX setup_records_tenant_idx ON setup_records (tenant_id, kind, id);

CREATE TABLE leads (
    tenant_id   TEXT    NOT NULL,
    id          TEXT    NOT NULL,
    email       TEXT    NOT NULL,
    email_key   TEXT    NOT NULL,
    first_name  TEXT    NOT NULL,
    last_name   TEXT    NOT NULL,
    country     TEXT    NOT NULL,
    address     TEXT    NOT NULL,
    city        TEXT    NOT NULL,
    postal_code TEXT    NOT NULL,
    phone       TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    CONSTRAINT leads_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT leads_email_key_key UNIQUE (tenant_id, email_key)
) STRICT;

CREATE TABLE sessions (
    tenant_id           TEXT    NOT NULL,
    id                  TEXT    NOT NULL,
    token               TEXT    NOT NULL,
    lead_id             TEXT    NOT NULL,
    status              TEXT    NOT NULL,
    price_minor         INTEGER NOT NULL,
    currency            TEXT    NOT NULL,
    billing_type        TEXT    NOT NULL,
    billing_frequency   TEXT    NOT NULL,
    trial_unit          TEXT    NOT NULL,
    trial_period        INTEGER NOT NULL,
    trial_minor         INTEGER,
    gateway_id          TEXT    NOT NULL,
    campaign_id         TEXT,
    offer_id            TEXT,
    hosted_page_id      TEXT,
    webhook_profile_id  TEXT,
    acceptance_mode     TEXT    NOT NULL,
    mandate_reference   TEXT    NOT NULL,
    customer_ip         TEXT    NOT NULL,
    max_attempts        INTEGER NOT NULL,
    attempts_used       INTEGER NOT NULL,
    open_transaction_id TEXT,
    last_transaction_id TEXT,
    holds_lead          INTEGER NOT NULL,
    expires_at          INTEGER NOT NULL,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    CONSTRAINT sessions_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT sessions_token_key UNIQUE (tenant_id, token),
    FOREIGN KEY (tenant_id, lead_id) REFERENCES leads (tenant_id, id)
) STRICT;
-- One active session per lead, also under concurrent creates.
CREATE UNIQUE INDEX sessions_lead_id_key ON sessions (tenant_id, lead_id) WHERE holds_lead;
CREATE INDEX sessions_due_idx ON sessions (expires_at) WHERE status IN ('PENDING', 'AWAITING_VERIFICATION');

CREATE TABLE orders (
    tenant_id    TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    session_id   TEXT    NOT NULL,
    order_number TEXT    NOT NULL,
    status       TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    CONSTRAINT orders_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT orders_order_number_key UNIQUE (tenant_id, order_number),
    CONSTRAINT orders_session_id_key UNIQUE (tenant_id, session_id),
    FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
) STRICT;

CREATE TABLE transactions (
    tenant_id               TEXT    NOT NULL,
    id                      TEXT    NOT NULL,
    session_id              TEXT,
    order_id                TEXT,
    subscription_id         TEXT,
    lead_id                 TEXT,
    gateway_id              TEXT    NOT NULL,
    merchant_transaction_id TEXT    NOT NULL,
    tenant_reference_id     TEXT,
    gateway_reference       TEXT    NOT NULL,
    status                  TEXT    NOT NULL,
    type                    TEXT    NOT NULL,
    amount_minor            INTEGER NOT NULL,
    currency                TEXT    NOT NULL,
    sequence_type           TEXT    NOT NULL,
    source                  TEXT    NOT NULL,
    iban_sealed             TEXT    NOT NULL,
    iban_masked             TEXT    NOT NULL,
    iban_country            TEXT    NOT NULL,
    bic                     TEXT    NOT NULL,
    bank_name               TEXT    NOT NULL,
    holder_name             TEXT    NOT NULL,
    email                   TEXT    NOT NULL,
    mandate_reference       TEXT    NOT NULL,
    mandate_at              INTEGER,
    attempt_number          INTEGER NOT NULL,
    in_flight               TEXT,
    lookup_count            INTEGER NOT NULL,
    next_lookup_at          INTEGER,
    settle_due_at           INTEGER,
    verification_url        TEXT    NOT NULL,
    verification_reference  TEXT    NOT NULL,
    decline_code            TEXT    NOT NULL,
    decline_message         TEXT    NOT NULL,
    gateway_code            TEXT    NOT NULL,
    gateway_message         TEXT    NOT NULL,
    processed_at            INTEGER,
    created_at              INTEGER NOT NULL,
    updated_at              INTEGER NOT NULL,
    CONSTRAINT transactions_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT transactions_merchant_transaction_id_key UNIQUE (tenant_id, merchant_transaction_id),
    FOREIGN KEY (tenant_id, order_id) REFERENCES orders (tenant_id, id)
) STRICT;
CREATE UNIQUE INDEX transactions_tenant_reference_id_key ON transactions (tenant_id, tenant_reference_id)
    WHERE tenant_reference_id IS NOT NULL;
-- One open attempt per session.
CREATE UNIQUE INDEX transactions_session_id_key ON transactions (tenant_id, session_id) WHERE in_flight IS NOT NULL;
CREATE INDEX transactions_lookup_idx ON transactions (next_lookup_at) WHERE in_flight IS NOT NULL;
CREATE INDEX transactions_settle_idx ON transactions (settle_due_at) WHERE settle_due_at IS NOT NULL;
CREATE INDEX transactions_processed_idx ON transactions (tenant_id, processed_at DESC, id DESC) WHERE processed_at IS NOT NULL;

CREATE TABLE subscriptions (
    tenant_id           TEXT    NOT NULL,
    id                  TEXT    NOT NULL,
    session_id          TEXT    NOT NULL,
    order_id            TEXT    NOT NULL,
    lead_id             TEXT    NOT NULL,
    offer_id            TEXT,
    campaign_id         TEXT,
    webhook_profile_id  TEXT,
    gateway_id          TEXT    NOT NULL,
    status              TEXT    NOT NULL,
    amount_minor        INTEGER NOT NULL,
    currency            TEXT    NOT NULL,
    billing_frequency   TEXT    NOT NULL,
    mandate_reference   TEXT    NOT NULL,
    iban_sealed         TEXT    NOT NULL,
    started_at          INTEGER NOT NULL,
    next_billing_date   TEXT,
    trial_end_date      TEXT,
    billing_anchor_date TEXT    NOT NULL,
    last_billed_at      INTEGER,
    cancelled_at        INTEGER,
    successful_count    INTEGER NOT NULL,
    failed_count        INTEGER NOT NULL,
    revenue_minor       INTEGER NOT NULL,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    CONSTRAINT subscriptions_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT subscriptions_order_id_key UNIQUE (tenant_id, order_id),
    FOREIGN KEY (tenant_id, order_id) REFERENCES orders (tenant_id, id)
) STRICT;

-- The outbox: an event is a row written with the change that it reports.
CREATE TABLE events (
    tenant_id          TEXT    NOT NULL,
    id                 TEXT    NOT NULL,
    event_key          TEXT    NOT NULL,
    kind               TEXT    NOT NULL,
    webhook_profile_id TEXT,
    payload            TEXT    NOT NULL,
    created_at         INTEGER NOT NULL,
    CONSTRAINT events_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT events_event_key_key UNIQUE (tenant_id, event_key)
) STRICT;

CREATE TABLE idempotency_keys (
    tenant_id    TEXT    NOT NULL,
    key          TEXT    NOT NULL,
    request_hash TEXT    NOT NULL,
    session_id   TEXT    NOT NULL,
    expires_at   INTEGER NOT NULL,
    CONSTRAINT idempotency_keys_key_key PRIMARY KEY (tenant_id, key)
) STRICT;
CREATE INDEX idempotency_keys_expiry_idx ON idempotency_keys (expires_at);

-- The sandbox's clock: how far it is ahead of real time, in microseconds.
CREATE TABLE service_clock (
    id        INTEGER NOT NULL,
    offset_us INTEGER NOT NULL,
    CONSTRAINT service_clock_id_key PRIMARY KEY (id)
) STRICT;
INSERT INTO service_clock (id, offset_us) VALUES (1, 0);

-- What the sandbox gateway remembers. It stands for another company's database:
-- nothing of ours refers to it.
CREATE TABLE sandbox_payments (
    tenant_id               TEXT    NOT NULL,
    account_id              TEXT    NOT NULL,
    merchant_transaction_id TEXT    NOT NULL,
    reference               TEXT    NOT NULL,
    verification_reference  TEXT    NOT NULL,
    outcome                 TEXT    NOT NULL,
    state                   TEXT    NOT NULL,
    type                    TEXT    NOT NULL,
    amount_minor            INTEGER NOT NULL,
    currency                TEXT    NOT NULL,
    mandate_reference       TEXT    NOT NULL,
    merchant_name           TEXT    NOT NULL,
    return_url              TEXT    NOT NULL,
    received_at             INTEGER NOT NULL,
    decided_at              INTEGER,
    settles_at              INTEGER,
    chargeback_at           INTEGER,
    CONSTRAINT sandbox_payments_account_id_merchant_transaction_id_key
        PRIMARY KEY (tenant_id, account_id, merchant_transaction_id)
) STRICT;
CREATE INDEX sandbox_payments_verification_idx ON sandbox_payments (verification_reference)
    WHERE verification_reference <> '';

-- The oldest schema version whose programs can still use this database.
CREATE TABLE schema_compatibility (
    id             INTEGER NOT NULL,
    oldest_version INTEGER NOT NULL,
    CONSTRAINT schema_compatibility_id_key PRIMARY KEY (id)
) STRICT;
INSERT INTO schema_compatibility (id, oldest_version) VALUES (1, 1);

-- +goose Down
DROP TABLE sandbox_payments;
DROP TABLE schema_compatibility;
DROP TABLE service_clock;
DROP TABLE idempotency_keys;
DROP TABLE events;
DROP TABLE subscriptions;
DROP TABLE transactions;
DROP TABLE orders;
DROP TABLE sessions;
DROP TABLE leads;
DROP TABLE setup_records;
DROP TABLE api_keys;
DROP TABLE tenants;
