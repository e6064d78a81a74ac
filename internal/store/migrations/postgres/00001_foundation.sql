-- +goose Up
-- What a tenant sets up. Small tables; their ids are unique across tenants.
CREATE TABLE tenants (
    id                  uuid    NOT NULL,
    number              bigint  NOT NULL,
    name                text    NOT NULL,
    creditor_name       text    NOT NULL DEFAULT '',
    creditor_address    text    NOT NULL DEFAULT '',
    creditor_identifier text    NOT NULL DEFAULT '',
    setup_version       bigint  NOT NULL DEFAULT 1,
    created_at          bigint  NOT NULL,
    updated_at          bigint  NOT NULL,
    CONSTRAINT tenants_id_key PRIMARY KEY (id),
    CONSTRAINT tenants_number_key UNIQUE (number)
);

CREATE TABLE api_keys (
    tenant_id    uuid   NOT NULL REFERENCES tenants (id),
    id           uuid   NOT NULL,
    name         text   NOT NULL,
    prefix       text   NOT NULL,
    key_hash     text   NOT NULL,
    created_at   bigint NOT NULL,
    last_used_at bigint,
    revoked_at   bigint,
    CONSTRAINT api_keys_id_key PRIMARY KEY (id),
    CONSTRAINT api_keys_key_hash_key UNIQUE (key_hash)
);
CREATE INDEX api_keys_tenant_idx ON api_keys (tenant_id, name);

-- A kind of set-up record is one JSON document under its id: it is read whole,
-- by id, and never searched by its fields. Secrets stand apart, sealed.
CREATE TABLE setup_records (
    tenant_id  uuid    NOT NULL REFERENCES tenants (id),
    id         uuid    NOT NULL,
    kind       text    NOT NULL,
    document   text    NOT NULL,
    secrets    text    NOT NULL DEFAULT '',
    active     boolean NOT NULL,
    created_at bigint  NOT NULL,
    updated_at bigint  NOT NULL,
    CONSTRAINT setup_records_id_key PRIMARY KEY (id)
);
CREATE INDEX setup_records_tenant_idx ON setup_records (tenant_id, kind, id);

CREATE TABLE leads (
    tenant_id   uuid   NOT NULL,
    id          uuid   NOT NULL,
    email       text   NOT NULL,
    email_key   text   NOT NULL,
    first_name  text   NOT NULL,
    last_name   text   NOT NULL,
    country     text   NOT NULL,
    address     text   NOT NULL,
    city        text   NOT NULL,
    postal_code text   NOT NULL,
    phone       text   NOT NULL,
    created_at  bigint NOT NULL,
    updated_at  bigint NOT NULL,
    CONSTRAINT leads_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT leads_email_key_key UNIQUE (tenant_id, email_key)
);

CREATE TABLE sessions (
    tenant_id           uuid    NOT NULL,
    id                  uuid    NOT NULL,
    token               text    NOT NULL,
    lead_id             uuid    NOT NULL,
    status              text    NOT NULL,
    price_minor         bigint  NOT NULL,
    currency            text    NOT NULL,
    billing_type        text    NOT NULL,
    billing_frequency   text    NOT NULL,
    trial_unit          text    NOT NULL,
    trial_period        bigint  NOT NULL,
    trial_minor         bigint,
    gateway_id          uuid    NOT NULL,
    campaign_id         uuid,
    offer_id            uuid,
    hosted_page_id      uuid,
    webhook_profile_id  uuid,
    acceptance_mode     text    NOT NULL,
    mandate_reference   text    NOT NULL,
    customer_ip         text    NOT NULL,
    max_attempts        bigint  NOT NULL,
    attempts_used       bigint  NOT NULL,
    open_transaction_id uuid,
    last_transaction_id uuid,
    holds_lead          boolean NOT NULL,
    expires_at          bigint  NOT NULL,
    created_at          bigint  NOT NULL,
    updated_at          bigint  NOT NULL,
    CONSTRAINT sessions_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT sessions_token_key UNIQUE (tenant_id, token),
    FOREIGN KEY (tenant_id, lead_id) REFERENCES leads (tenant_id, id)
);
-- One active session per lead, also under concurrent creates.
CREATE UNIQUE INDEX sessions_lead_id_key ON sessions (tenant_id, lead_id) WHERE holds_lead;
CREATE INDEX sessions_due_idx ON sessions (expires_at) WHERE status IN ('PENDING', 'AWAITING_VERIFICATION');

CREATE TABLE orders (
    tenant_id    uuid   NOT NULL,
    id           uuid   NOT NULL,
    session_id   uuid   NOT NULL,
    order_number text   NOT NULL,
    status       text   NOT NULL,
    created_at   bigint NOT NULL,
    updated_at   bigint NOT NULL,
    CONSTRAINT orders_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT orders_order_number_key UNIQUE (tenant_id, order_number),
    CONSTRAINT orders_session_id_key UNIQUE (tenant_id, session_id),
    FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
);

CREATE TABLE transactions (
    tenant_id               uuid   NOT NULL,
    id                      uuid   NOT NULL,
    session_id              uuid,
    order_id                uuid,
    subscription_id         uuid,
    lead_id                 uuid,
    gateway_id              uuid   NOT NULL,
    merchant_transaction_id text   NOT NULL,
    tenant_reference_id     text,
    gateway_reference       text   NOT NULL,
    status                  text   NOT NULL,
    type                    text   NOT NULL,
    amount_minor            bigint NOT NULL,
    currency                text   NOT NULL,
    sequence_type           text   NOT NULL,
    source                  text   NOT NULL,
    iban_sealed             text   NOT NULL,
    iban_masked             text   NOT NULL,
    iban_country            text   NOT NULL,
    bic                     text   NOT NULL,
    bank_name               text   NOT NULL,
    holder_name             text   NOT NULL,
    email                   text   NOT NULL,
    mandate_reference       text   NOT NULL,
    mandate_at              bigint,
    attempt_number          bigint NOT NULL,
    in_flight               text,
    lookup_count            bigint NOT NULL,
    next_lookup_at          bigint,
    settle_due_at           bigint,
    verification_url        text   NOT NULL,
    verification_reference  text   NOT NULL,
    decline_code            text   NOT NULL,
    decline_message         text   NOT NULL,
    gateway_code            text   NOT NULL,
    gateway_message         text   NOT NULL,
    processed_at            bigint,
    created_at              bigint NOT NULL,
    updated_at              bigint NOT NULL,
    CONSTRAINT transactions_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT transactions_merchant_transaction_id_key UNIQUE (tenant_id, merchant_transaction_id),
    FOREIGN KEY (tenant_id, order_id) REFERENCES orders (tenant_id, id)
);
CREATE UNIQUE INDEX transactions_tenant_reference_id_key ON transactions (tenant_id, tenant_reference_id)
    WHERE tenant_reference_id IS NOT NULL;
-- One open attempt per session.
CREATE UNIQUE INDEX transactions_session_id_key ON transactions (tenant_id, session_id) WHERE in_flight IS NOT NULL;
CREATE INDEX transactions_lookup_idx ON transactions (next_lookup_at) WHERE in_flight IS NOT NULL;
CREATE INDEX transactions_settle_idx ON transactions (settle_due_at) WHERE settle_due_at IS NOT NULL;
CREATE INDEX transactions_processed_idx ON transactions (tenant_id, processed_at DESC, id DESC) WHERE processed_at IS NOT NULL;

CREATE TABLE subscriptions (
    tenant_id           uuid   NOT NULL,
    id                  uuid   NOT NULL,
    session_id          uuid   NOT NULL,
    order_id            uuid   NOT NULL,
    lead_id             uuid   NOT NULL,
    offer_id            uuid,
    campaign_id         uuid,
    webhook_profile_id  uuid,
    gateway_id          uuid   NOT NULL,
    status              text   NOT NULL,
    amount_minor        bigint NOT NULL,
    currency            text   NOT NULL,
    billing_frequency   text   NOT NULL,
    mandate_reference   text   NOT NULL,
    iban_sealed         text   NOT NULL,
    started_at          bigint NOT NULL,
    next_billing_date   text,
    trial_end_date      text,
    billing_anchor_date text   NOT NULL,
    last_billed_at      bigint,
    cancelled_at        bigint,
    successful_count    bigint NOT NULL,
    failed_count        bigint NOT NULL,
    revenue_minor       bigint NOT NULL,
    created_at          bigint NOT NULL,
    updated_at          bigint NOT NULL,
    CONSTRAINT subscriptions_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT subscriptions_order_id_key UNIQUE (tenant_id, order_id),
    FOREIGN KEY (tenant_id, order_id) REFERENCES orders (tenant_id, id)
);

-- The outbox: an event is a row written with the change that it reports.
CREATE TABLE events (
    tenant_id          uuid   NOT NULL,
    id                 uuid   NOT NULL,
    event_key          text   NOT NULL,
    kind               text   NOT NULL,
    webhook_profile_id uuid,
    payload            text   NOT NULL,
    created_at         bigint NOT NULL,
    CONSTRAINT events_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT events_event_key_key UNIQUE (tenant_id, event_key)
);

CREATE TABLE idempotency_keys (
    tenant_id    uuid   NOT NULL,
    key          text   NOT NULL,
    request_hash text   NOT NULL,
    session_id   uuid   NOT NULL,
    expires_at   bigint NOT NULL,
    CONSTRAINT idempotency_keys_key_key PRIMARY KEY (tenant_id, key)
);
CREATE INDEX idempotency_keys_expiry_idx ON idempotency_keys (expires_at);

-- The sandbox's clock: how far it is ahead of real time, in microseconds.
CREATE TABLE service_clock (
    id        bigint NOT NULL,
    offset_us bigint NOT NULL,
    CONSTRAINT service_clock_id_key PRIMARY KEY (id)
);
INSERT INTO service_clock (id, offset_us) VALUES (1, 0);

-- What the sandbox gateway remembers. It stands for another company's database:
-- nothing of ours refers to it.
CREATE TABLE sandbox_payments (
    tenant_id               uuid   NOT NULL,
    account_id              uuid   NOT NULL,
    merchant_transaction_id text   NOT NULL,
    reference               text   NOT NULL,
    verification_reference  text   NOT NULL,
    outcome                 text   NOT NULL,
    state                   text   NOT NULL,
    type                    text   NOT NULL,
    amount_minor            bigint NOT NULL,
    currency                text   NOT NULL,
    mandate_reference       text   NOT NULL,
    merchant_name           text   NOT NULL,
    return_url              text   NOT NULL,
    received_at             bigint NOT NULL,
    decided_at              bigint,
    settles_at              bigint,
    chargeback_at           bigint,
    CONSTRAINT sandbox_payments_account_id_merchant_transaction_id_key
        PRIMARY KEY (tenant_id, account_id, merchant_transaction_id)
);
CREATE INDEX sandbox_payments_verification_idx ON sandbox_payments (verification_reference)
    WHERE verification_reference <> '';

-- The oldest schema version whose programs can still use this database.
CREATE TABLE schema_compatibility (
    id             bigint NOT NULL,
    oldest_version bigint NOT NULL,
    CONSTRAINT schema_compatibility_id_key PRIMARY KEY (id)
);
INSERT INTO schema_compatibility (id, oldest_version) VALUES (1, 1);

-- +goose Down
DROP TABLE sandbox_payments, schema_compatibility, service_clock, idempotency_keys, events, subscriptions, transactions, orders,
    sessions, leads, setup_records, api_keys, tenants;
