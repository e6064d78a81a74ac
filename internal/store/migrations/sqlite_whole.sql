-- The schema of a new SQLite database. Not written by hand: see migrate_whole_test.go.
CREATE TABLE river_leader (
    elected_at timestamp NOT NULL,
    expires_at timestamp NOT NULL,
    leader_id text NOT NULL,
    name text PRIMARY KEY NOT NULL DEFAULT 'default' CHECK (name = 'default'),
    CONSTRAINT name_length CHECK (length(name) > 0 AND length(name) < 128),
    CONSTRAINT leader_id_length CHECK (length(leader_id) > 0 AND length(leader_id) < 128)
);
CREATE TABLE river_migration (
    line text NOT NULL,
    version integer NOT NULL,
    created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT line_length CHECK (length(line) > 0 AND length(line) < 128),
    CONSTRAINT version_gte_1 CHECK (version >= 1),
    PRIMARY KEY (line, version)
);
CREATE TABLE river_notification (
    id integer PRIMARY KEY AUTOINCREMENT,
    created_at timestamp NOT NULL DEFAULT (datetime('now', 'subsec')),
    payload text NOT NULL,
    topic text NOT NULL,
    CONSTRAINT topic_length CHECK (length(topic) > 0 AND length(topic) < 128)
);
CREATE INDEX river_notification_created_at_idx ON river_notification (created_at);
CREATE INDEX river_notification_topic_id_idx ON river_notification (topic, id);
CREATE TABLE river_job (
    id integer PRIMARY KEY, -- SQLite makes this autoincrementing automatically
    args blob NOT NULL DEFAULT (jsonb('{}')),
    attempt integer NOT NULL DEFAULT 0,
    attempted_at timestamp,
    attempted_by blob, -- json
    created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    errors blob, -- json
    finalized_at timestamp,
    kind text NOT NULL,
    metadata blob NOT NULL DEFAULT (jsonb('{}')),
    priority integer NOT NULL DEFAULT 1,
    queue text NOT NULL DEFAULT 'default',
    state text NOT NULL DEFAULT 'available',
    scheduled_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    tags blob NOT NULL DEFAULT (jsonb('[]')),
    unique_key blob,
    unique_states integer, max_attempts integer NOT NULL DEFAULT 25,
    CONSTRAINT finalized_or_finalized_at_null CHECK (
        (finalized_at IS NULL AND state NOT IN ('cancelled', 'completed', 'discarded')) OR
        (finalized_at IS NOT NULL AND state IN ('cancelled', 'completed', 'discarded'))
    ),
    CONSTRAINT priority_in_range CHECK (priority >= 1 AND priority <= 4),
    CONSTRAINT queue_length CHECK (length(queue) > 0 AND length(queue) < 128),
    CONSTRAINT kind_length CHECK (length(kind) > 0 AND length(kind) < 128),
    CONSTRAINT state_valid CHECK (state IN ('available', 'cancelled', 'completed', 'discarded', 'pending', 'retryable', 'running', 'scheduled'))
);
CREATE INDEX river_job_kind ON river_job (kind);
CREATE INDEX river_job_state_and_finalized_at_index ON river_job (state, finalized_at) WHERE finalized_at IS NOT NULL;
CREATE INDEX river_job_prioritized_fetching_index ON river_job (state, queue, priority, scheduled_at, id);
CREATE UNIQUE INDEX river_job_unique_idx ON river_job (unique_key)
    WHERE unique_key IS NOT NULL
        AND unique_states IS NOT NULL
        AND CASE state
            WHEN 'available' THEN unique_states & (1 << 0)
            WHEN 'cancelled' THEN unique_states & (1 << 1)
            WHEN 'completed' THEN unique_states & (1 << 2)
            WHEN 'discarded' THEN unique_states & (1 << 3)
            WHEN 'pending'   THEN unique_states & (1 << 4)
            WHEN 'retryable' THEN unique_states & (1 << 5)
            WHEN 'running'   THEN unique_states & (1 << 6)
            WHEN 'scheduled' THEN unique_states & (1 << 7)
            ELSE 0
        END >= 1;
CREATE TABLE river_queue (
    name text PRIMARY KEY NOT NULL,
    created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    metadata blob NOT NULL DEFAULT (jsonb('{}')),
    paused_at timestamp,
    updated_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE tenants (
    id                  TEXT    NOT NULL,
    number              INTEGER NOT NULL,
    name                TEXT    NOT NULL,
    creditor_name       TEXT    NOT NULL DEFAULT '',
    creditor_address    TEXT    NOT NULL DEFAULT '',
    creditor_identifier TEXT    NOT NULL DEFAULT '',
    setup_version       INTEGER NOT NULL DEFAULT 1,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL, version INTEGER NOT NULL DEFAULT 1, notice_sender TEXT NOT NULL DEFAULT '', notice_reply_to TEXT NOT NULL DEFAULT '', notice_send TEXT NOT NULL DEFAULT '', allowed_origins TEXT NOT NULL DEFAULT '',
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
    revoked_at   INTEGER, scopes text NOT NULL DEFAULT 'payments reports',
    CONSTRAINT api_keys_id_key PRIMARY KEY (id),
    CONSTRAINT api_keys_key_hash_key UNIQUE (key_hash)
) STRICT;
CREATE INDEX api_keys_tenant_idx ON api_keys (tenant_id, name);
CREATE TABLE setup_records (
    tenant_id  TEXT    NOT NULL REFERENCES tenants (id),
    id         TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    document   TEXT    NOT NULL,
    secrets    TEXT    NOT NULL DEFAULT '',
    active     INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL, version INTEGER NOT NULL DEFAULT 1,
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
    updated_at  INTEGER NOT NULL, erased_at INTEGER, erase_due_at INTEGER,
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
    updated_at          INTEGER NOT NULL, tenant_reference_id TEXT, options TEXT, token_sealed TEXT NOT NULL DEFAULT '', renews_subscription_id TEXT,
    CONSTRAINT sessions_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT sessions_token_key UNIQUE (tenant_id, token),
    FOREIGN KEY (tenant_id, lead_id) REFERENCES leads (tenant_id, id)
) STRICT;
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
    updated_at              INTEGER NOT NULL, refund_of TEXT, refunded_minor INTEGER NOT NULL DEFAULT 0, refunding_minor INTEGER NOT NULL DEFAULT 0, billing_period INTEGER, processor_id TEXT NOT NULL DEFAULT '', held_at INTEGER, due_date text, reference_inherited INTEGER NOT NULL DEFAULT 0,
    CONSTRAINT transactions_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT transactions_merchant_transaction_id_key UNIQUE (tenant_id, merchant_transaction_id),
    FOREIGN KEY (tenant_id, order_id) REFERENCES orders (tenant_id, id)
) STRICT;
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
    updated_at          INTEGER NOT NULL, period INTEGER NOT NULL DEFAULT 1, period_tries INTEGER NOT NULL DEFAULT 0, open_transaction_id TEXT, sequence_type TEXT NOT NULL DEFAULT 'RCUR', mandate_used_at INTEGER NOT NULL DEFAULT 0, due_at INTEGER, cancel_reason TEXT NOT NULL DEFAULT '', cancel_code TEXT NOT NULL DEFAULT '', owed_periods TEXT NOT NULL DEFAULT '', paused_at INTEGER, ends_on TEXT, ends_by TEXT NOT NULL DEFAULT '', rhythm_date TEXT, rhythm_period INTEGER NOT NULL DEFAULT 0, steered_at INTEGER, mandate_session_id TEXT,
    CONSTRAINT subscriptions_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT subscriptions_order_id_key UNIQUE (tenant_id, order_id),
    FOREIGN KEY (tenant_id, order_id) REFERENCES orders (tenant_id, id)
) STRICT;
CREATE TABLE events (
    tenant_id          TEXT    NOT NULL,
    id                 TEXT    NOT NULL,
    event_key          TEXT    NOT NULL,
    kind               TEXT    NOT NULL,
    webhook_profile_id TEXT,
    payload            TEXT    NOT NULL,
    created_at         INTEGER NOT NULL, delivery_status TEXT NOT NULL DEFAULT 'pending', attempt_count INTEGER NOT NULL DEFAULT 0, failure_count INTEGER NOT NULL DEFAULT 0, next_attempt_at INTEGER, feed_position INTEGER, token_sealed TEXT NOT NULL DEFAULT '',
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
CREATE TABLE service_clock (
    id        INTEGER NOT NULL,
    offset_us INTEGER NOT NULL,
    CONSTRAINT service_clock_id_key PRIMARY KEY (id)
) STRICT;
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
    chargeback_at           INTEGER, notify_at INTEGER,
    CONSTRAINT sandbox_payments_account_id_merchant_transaction_id_key
        PRIMARY KEY (tenant_id, account_id, merchant_transaction_id)
) STRICT;
CREATE INDEX sandbox_payments_verification_idx ON sandbox_payments (verification_reference)
    WHERE verification_reference <> '';
CREATE TABLE schema_compatibility (
    id             INTEGER NOT NULL,
    oldest_version INTEGER NOT NULL,
    CONSTRAINT schema_compatibility_id_key PRIMARY KEY (id)
) STRICT;
CREATE TABLE mandate_acceptances (
    tenant_id       TEXT    NOT NULL,
    transaction_id  TEXT    NOT NULL,
    session_id      TEXT    NOT NULL,
    acceptance_mode TEXT    NOT NULL,
    language        TEXT    NOT NULL,
    text_version    TEXT    NOT NULL,
    text            TEXT    NOT NULL,
    text_hash       TEXT    NOT NULL,
    client_ip       TEXT    NOT NULL,
    user_agent      TEXT    NOT NULL,
    accepted_at     INTEGER NOT NULL,
    CONSTRAINT mandate_acceptances_transaction_id_key PRIMARY KEY (tenant_id, transaction_id),
    FOREIGN KEY (tenant_id, transaction_id) REFERENCES transactions (tenant_id, id)
) STRICT;
CREATE INDEX events_due_idx ON events (tenant_id, webhook_profile_id, id)
    WHERE delivery_status = 'pending' AND next_attempt_at IS NULL AND webhook_profile_id IS NOT NULL;
CREATE INDEX events_retry_idx ON events (tenant_id, webhook_profile_id, next_attempt_at)
    WHERE next_attempt_at IS NOT NULL;
CREATE INDEX events_failed_idx ON events (tenant_id, webhook_profile_id, id) WHERE delivery_status = 'failed';
CREATE TABLE webhook_endpoints (
    tenant_id          TEXT    NOT NULL,
    webhook_profile_id TEXT    NOT NULL,
    lease_owner        TEXT    NOT NULL,
    leased_until       INTEGER NOT NULL,
    failure_count      INTEGER NOT NULL,
    pause_count        INTEGER NOT NULL,
    paused_until       INTEGER NOT NULL,
    CONSTRAINT webhook_endpoints_webhook_profile_id_key PRIMARY KEY (tenant_id, webhook_profile_id)
) STRICT;
CREATE TABLE webhook_attempts (
    tenant_id    TEXT    NOT NULL,
    event_id     TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    number       INTEGER NOT NULL,
    attempted_at INTEGER NOT NULL,
    duration_us  INTEGER NOT NULL,
    status_code  INTEGER NOT NULL,
    error        TEXT    NOT NULL,
    answer       TEXT    NOT NULL,
    CONSTRAINT webhook_attempts_event_id_id_key PRIMARY KEY (tenant_id, event_id, id)
) STRICT;
CREATE TABLE chargebacks (
    tenant_id               TEXT    NOT NULL,
    id                      TEXT    NOT NULL,
    gateway_id              TEXT    NOT NULL,
    transaction_id          TEXT,
    lead_id                 TEXT,
    merchant_transaction_id TEXT    NOT NULL,
    tenant_reference_id     TEXT,
    gateway_reference       TEXT    NOT NULL,
    amount_minor            INTEGER NOT NULL,
    currency                TEXT    NOT NULL,
    reported_at             INTEGER NOT NULL,
    transaction_at          INTEGER,
    reason_code             TEXT    NOT NULL,
    reason_message          TEXT    NOT NULL,
    report_type             TEXT    NOT NULL,
    report_message          TEXT    NOT NULL,
    report_info             TEXT    NOT NULL,
    arn                     TEXT    NOT NULL,
    iban_masked             TEXT    NOT NULL,
    bic                     TEXT    NOT NULL,
    email                   TEXT    NOT NULL,
    country                 TEXT    NOT NULL,
    source                  TEXT    NOT NULL,
    bank_fee_minor          INTEGER,
    created_at              INTEGER NOT NULL,
    updated_at              INTEGER NOT NULL,
    CONSTRAINT chargebacks_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT chargebacks_merchant_transaction_id_key UNIQUE (tenant_id, merchant_transaction_id),
    FOREIGN KEY (tenant_id, transaction_id) REFERENCES transactions (tenant_id, id)
) STRICT;
CREATE INDEX transactions_status_idx ON transactions (tenant_id, status,
    (CASE WHEN type IN ('sdd_sale', 'sdd_rebill') THEN 'sdd_sale' WHEN type = 'sdd_refund' THEN 'sdd_refund'
        ELSE 'other_type' END),
    processed_at DESC, id DESC) WHERE processed_at IS NOT NULL;
CREATE INDEX transactions_gateway_idx ON transactions (tenant_id, gateway_id, status,
    (CASE WHEN type IN ('sdd_sale', 'sdd_rebill') THEN 'sdd_sale' WHEN type = 'sdd_refund' THEN 'sdd_refund'
        ELSE 'other_type' END),
    processed_at DESC, id DESC) WHERE processed_at IS NOT NULL;
CREATE INDEX subscriptions_status_idx ON subscriptions (tenant_id, status, created_at DESC, id DESC);
CREATE INDEX subscriptions_gateway_idx ON subscriptions (tenant_id, gateway_id, status, created_at DESC, id DESC);
CREATE INDEX chargebacks_reported_idx ON chargebacks (tenant_id, reported_at DESC, id DESC);
CREATE INDEX chargebacks_gateway_idx ON chargebacks (tenant_id, gateway_id, reported_at DESC, id DESC);
CREATE INDEX transactions_refund_idx ON transactions (tenant_id, refund_of) WHERE refund_of IS NOT NULL;
CREATE INDEX transactions_gateway_reference_idx ON transactions (tenant_id, gateway_reference)
    WHERE gateway_reference <> '';
CREATE INDEX chargebacks_transaction_idx ON chargebacks (tenant_id, transaction_id) WHERE transaction_id IS NOT NULL;
CREATE INDEX chargebacks_unlinked_idx ON chargebacks (tenant_id, gateway_id) WHERE transaction_id IS NULL;
CREATE INDEX sandbox_payments_notify_idx ON sandbox_payments (notify_at) WHERE notify_at IS NOT NULL;
CREATE TABLE imports (
    tenant_id       TEXT    NOT NULL,
    id              TEXT    NOT NULL,
    gateway_id      TEXT    NOT NULL,
    kind            TEXT    NOT NULL,
    status          TEXT    NOT NULL,
    dry_run         INTEGER NOT NULL,
    new_count       INTEGER NOT NULL,
    updated_count   INTEGER NOT NULL,
    unchanged_count INTEGER NOT NULL,
    rejected_count  INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    CONSTRAINT imports_id_key PRIMARY KEY (tenant_id, id)
) STRICT;
CREATE TABLE import_rejections (
    tenant_id TEXT    NOT NULL,
    import_id TEXT    NOT NULL,
    line      INTEGER NOT NULL,
    reason    TEXT    NOT NULL,
    CONSTRAINT import_rejections_import_id_line_key PRIMARY KEY (tenant_id, import_id, line)
) STRICT;
CREATE TABLE staged_transactions (
    tenant_id               TEXT    NOT NULL,
    import_id               TEXT    NOT NULL,
    line                    INTEGER NOT NULL,
    id                      TEXT    NOT NULL,
    merchant_transaction_id TEXT    NOT NULL,
    gateway_reference       TEXT    NOT NULL,
    status                  TEXT    NOT NULL,
    type                    TEXT    NOT NULL,
    amount_minor            INTEGER NOT NULL,
    currency                TEXT    NOT NULL,
    iban_masked             TEXT    NOT NULL,
    iban_country            TEXT    NOT NULL,
    bic                     TEXT    NOT NULL,
    holder_name             TEXT    NOT NULL,
    email                   TEXT    NOT NULL,
    mandate_reference       TEXT    NOT NULL,
    mandate_at              INTEGER,
    processed_at            INTEGER NOT NULL
, processor_id TEXT NOT NULL DEFAULT '') STRICT;
CREATE INDEX staged_transactions_import_idx ON staged_transactions (tenant_id, import_id, merchant_transaction_id);
CREATE INDEX subscriptions_due_idx ON subscriptions (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX transactions_order_idx ON transactions (tenant_id, order_id, id) WHERE order_id IS NOT NULL;
CREATE TABLE deployment (
    id          INTEGER NOT NULL,
    environment TEXT    NOT NULL, restored_to INTEGER, banks_restored_to INTEGER, tokens_hidden INTEGER NOT NULL DEFAULT FALSE, recalled_at INTEGER,
    CONSTRAINT deployment_id_key PRIMARY KEY (id)
) STRICT;
CREATE TABLE encryption_keys (
    name         TEXT    NOT NULL,
    sealed_check TEXT    NOT NULL,
    was_first    INTEGER NOT NULL,
    CONSTRAINT encryption_keys_name_key PRIMARY KEY (name)
) STRICT;
CREATE INDEX transactions_mandate_idx ON transactions (mandate_reference) WHERE source = 'hosted_page';
CREATE UNIQUE INDEX transactions_subscription_id_billing_period_key
    ON transactions (tenant_id, subscription_id, billing_period)
    WHERE billing_period IS NOT NULL AND status NOT IN ('declined', 'charged_back');
CREATE TABLE rebill_pauses (
    tenant_id    TEXT    NOT NULL,
    gateway_id   TEXT    NOT NULL,
    reason       TEXT    NOT NULL,
    reason_code  TEXT    NOT NULL,
    since        INTEGER NOT NULL,
    paused_until INTEGER,
    CONSTRAINT rebill_pauses_gateway_id_key PRIMARY KEY (tenant_id, gateway_id)
) STRICT;
CREATE TABLE bank_files (
    tenant_id      TEXT NOT NULL,
    id             TEXT NOT NULL,
    gateway_id     TEXT NOT NULL,
    kind           TEXT NOT NULL,
    message_id     TEXT NOT NULL,
    name           TEXT NOT NULL,
    format         TEXT NOT NULL,
    state          TEXT NOT NULL,
    due_date       TEXT NOT NULL,
    entry_count    INTEGER NOT NULL,
    sum_minor      INTEGER NOT NULL,
    size_bytes     INTEGER NOT NULL,
    draft          TEXT NOT NULL,
    temporary_name TEXT NOT NULL,
    problem        TEXT NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL, creditor_name TEXT NOT NULL DEFAULT '', creditor_identifier TEXT NOT NULL DEFAULT '',
    CONSTRAINT bank_files_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT bank_files_message_id_key UNIQUE (tenant_id, message_id)
) STRICT;
CREATE INDEX bank_files_waiting_idx ON bank_files (created_at) WHERE state IN ('open', 'closed', 'written', 'sending');
CREATE UNIQUE INDEX bank_files_gateway_id_kind_key ON bank_files (tenant_id, gateway_id, kind) WHERE state = 'open';
CREATE TABLE bank_file_parts (
    tenant_id TEXT NOT NULL,
    id        TEXT NOT NULL,
    file_id   TEXT NOT NULL,
    draft     TEXT NOT NULL,
    number    INTEGER NOT NULL,
    content_sealed TEXT NOT NULL,
    CONSTRAINT bank_file_parts_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT bank_file_parts_file_id_draft_number_key UNIQUE (tenant_id, file_id, draft, number),
    FOREIGN KEY (tenant_id, file_id) REFERENCES bank_files (tenant_id, id)
) STRICT;
CREATE TABLE bank_file_entries (
    tenant_id         TEXT NOT NULL,
    file_id           TEXT NOT NULL,
    transaction_id    TEXT NOT NULL,
    gateway_id        TEXT NOT NULL,
    position          INTEGER NOT NULL,
    block_id          TEXT NOT NULL,
    due_date          TEXT NOT NULL,
    sequence_type     TEXT NOT NULL,
    amount_minor      INTEGER NOT NULL,
    end_to_end_id     TEXT NOT NULL,
    mandate_reference TEXT NOT NULL,
    iban_masked       TEXT NOT NULL,
    CONSTRAINT bank_file_entries_transaction_id_key PRIMARY KEY (tenant_id, transaction_id),
    CONSTRAINT bank_file_entries_file_id_position_key UNIQUE (tenant_id, file_id, position),
    FOREIGN KEY (tenant_id, file_id) REFERENCES bank_files (tenant_id, id),
    FOREIGN KEY (tenant_id, transaction_id) REFERENCES transactions (tenant_id, id)
) STRICT;
CREATE INDEX bank_file_entries_end_to_end_idx ON bank_file_entries (tenant_id, gateway_id, end_to_end_id);
CREATE INDEX bank_file_entries_mandate_idx ON bank_file_entries (tenant_id, gateway_id, mandate_reference);
CREATE INDEX bank_file_entries_amount_idx ON bank_file_entries (tenant_id, gateway_id, amount_minor, due_date);
CREATE INDEX bank_file_entries_block_idx ON bank_file_entries (tenant_id, block_id, position);
CREATE INDEX transactions_collect_idx ON transactions (tenant_id, gateway_id, id)
    WHERE settle_due_at IS NOT NULL AND in_flight IS NULL AND gateway_reference = '';
CREATE TABLE bank_statements (
    tenant_id    TEXT NOT NULL,
    id           TEXT NOT NULL,
    gateway_id   TEXT NOT NULL,
    name         TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    content_sealed TEXT NOT NULL,
    state        TEXT NOT NULL,
    problem      TEXT NOT NULL,
    line_count   INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    CONSTRAINT bank_statements_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT bank_statements_gateway_id_content_hash_key UNIQUE (tenant_id, gateway_id, content_hash)
) STRICT;
CREATE TABLE bank_lines (
    tenant_id      TEXT NOT NULL,
    id             TEXT NOT NULL,
    statement_id   TEXT NOT NULL,
    position       INTEGER NOT NULL,
    gateway_id     TEXT NOT NULL,
    source         TEXT NOT NULL,
    kind           TEXT NOT NULL,
    amount_minor   INTEGER NOT NULL,
    charges_minor  INTEGER NOT NULL,
    currency       TEXT NOT NULL,
    is_credit      INTEGER NOT NULL,
    booking_date   TEXT NOT NULL,
    reference      TEXT NOT NULL,
    reason         TEXT NOT NULL,
    text_sealed    TEXT NOT NULL,
    result         TEXT NOT NULL,
    note           TEXT NOT NULL,
    transaction_id TEXT,
    CONSTRAINT bank_lines_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT bank_lines_statement_id_position_key UNIQUE (tenant_id, statement_id, position),
    FOREIGN KEY (tenant_id, statement_id) REFERENCES bank_statements (tenant_id, id)
) STRICT;
CREATE INDEX bank_lines_open_idx ON bank_lines (tenant_id, id) WHERE result IN ('unmatched', 'contradicts');
CREATE INDEX bank_lines_transaction_idx ON bank_lines (tenant_id, transaction_id);
CREATE INDEX bank_lines_reference_idx ON bank_lines (tenant_id, gateway_id, reference);
CREATE INDEX subscriptions_ahead_idx ON subscriptions (tenant_id, gateway_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX subscriptions_ended_idx ON subscriptions (tenant_id, open_transaction_id)
    WHERE open_transaction_id IS NOT NULL AND status NOT IN ('ACTIVE', 'PAST_DUE');
CREATE TABLE bank_statement_parts (
    tenant_id      TEXT NOT NULL,
    id             TEXT NOT NULL,
    statement_id   TEXT NOT NULL,
    number         INTEGER NOT NULL,
    content_sealed TEXT NOT NULL,
    CONSTRAINT bank_statement_parts_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT bank_statement_parts_statement_id_number_key UNIQUE (tenant_id, statement_id, number),
    FOREIGN KEY (tenant_id, statement_id) REFERENCES bank_statements (tenant_id, id)
) STRICT;
CREATE TABLE bank_resumptions (
    tenant_id    TEXT NOT NULL,
    gateway_id   TEXT NOT NULL,
    restored_to  INTEGER NOT NULL,
    resumed_at   INTEGER NOT NULL,
    CONSTRAINT bank_resumptions_gateway_id_key PRIMARY KEY (tenant_id, gateway_id)
) STRICT;
CREATE TABLE bank_adopted (
    tenant_id     TEXT NOT NULL,
    gateway_id    TEXT NOT NULL,
    end_to_end_id TEXT NOT NULL,
    message_id    TEXT NOT NULL,
    position      INTEGER NOT NULL,
    block_id      TEXT NOT NULL,
    due_date      TEXT NOT NULL,
    sequence_type TEXT NOT NULL,
    amount_minor  INTEGER NOT NULL,
    CONSTRAINT bank_adopted_gateway_id_end_to_end_id_key PRIMARY KEY (tenant_id, gateway_id, end_to_end_id)
) STRICT;
CREATE INDEX sessions_reference_idx ON sessions (tenant_id, tenant_reference_id, id)
    WHERE tenant_reference_id IS NOT NULL;
CREATE UNIQUE INDEX transactions_tenant_reference_id_key ON transactions (tenant_id, tenant_reference_id)
    WHERE tenant_reference_id IS NOT NULL AND NOT reference_inherited;
CREATE TABLE mails (
    tenant_id           TEXT NOT NULL,
    id                  TEXT NOT NULL,
    mail_key            TEXT NOT NULL,
    kind                TEXT NOT NULL,
    transaction_id      TEXT NOT NULL,
    due_date            TEXT NOT NULL,
    creditor_name       TEXT NOT NULL,
    creditor_identifier TEXT NOT NULL,
    status              TEXT NOT NULL,
    attempt_count       INTEGER NOT NULL,
    failure_count       INTEGER NOT NULL,
    unknown_count       INTEGER NOT NULL,
    next_attempt_at     INTEGER NOT NULL,
    queued_at           INTEGER NOT NULL,
    leased_until        INTEGER NOT NULL,
    result              TEXT NOT NULL,
    created_at          INTEGER NOT NULL,
    sent_at             INTEGER,
    CONSTRAINT mails_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT mails_mail_key_key UNIQUE (tenant_id, mail_key),
    FOREIGN KEY (tenant_id, transaction_id) REFERENCES transactions (tenant_id, id)
) STRICT;
CREATE INDEX mails_due_idx ON mails (next_attempt_at) WHERE status = 'pending';
CREATE INDEX mails_failed_idx ON mails (tenant_id, id) WHERE status = 'failed';
CREATE INDEX mails_transaction_idx ON mails (tenant_id, transaction_id);
CREATE TABLE event_feeds (
    tenant_id     TEXT    NOT NULL,
    last_position INTEGER NOT NULL,
    CONSTRAINT event_feeds_key PRIMARY KEY (tenant_id)
) STRICT;
CREATE INDEX events_unnumbered_idx ON events (tenant_id, id) WHERE feed_position IS NULL;
CREATE INDEX events_feed_idx ON events (tenant_id, feed_position) WHERE feed_position IS NOT NULL;
CREATE INDEX events_missed_idx ON events (tenant_id, feed_position)
    WHERE feed_position IS NOT NULL AND delivery_status <> 'delivered';
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
CREATE INDEX leads_erase_idx ON leads (erase_due_at) WHERE erase_due_at IS NOT NULL;
CREATE INDEX transactions_payer_idx ON transactions (tenant_id, lower(email)) WHERE lead_id IS NULL AND email <> '';
CREATE INDEX sessions_unpaid_idx ON sessions (expires_at)
    WHERE last_transaction_id IS NULL AND status = 'EXPIRED';
CREATE INDEX events_about_idx ON events (tenant_id, substr(event_key, length(kind) + 2, 36));
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
    updated_at    INTEGER NOT NULL, provider_subject TEXT NOT NULL DEFAULT '', provider_seen_at INTEGER,
    CONSTRAINT operators_id_key PRIMARY KEY (id),
    CONSTRAINT operators_email_key_key UNIQUE (email_key)
) STRICT;
CREATE TABLE operator_tickets (
    ticket_hash TEXT    NOT NULL,
    operator_id TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    expires_at  INTEGER NOT NULL,
    CONSTRAINT operator_tickets_ticket_hash_key PRIMARY KEY (ticket_hash)
) STRICT;
CREATE TABLE operator_sessions (
    session_hash TEXT    NOT NULL,
    operator_id  TEXT    NOT NULL,
    is_whole     INTEGER NOT NULL,
    address      TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    seen_at      INTEGER NOT NULL,
    ends_at      INTEGER NOT NULL, challenge TEXT NOT NULL DEFAULT '',
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
CREATE INDEX transactions_updated_idx ON transactions (tenant_id, updated_at DESC, id DESC) WHERE processed_at IS NOT NULL;
CREATE INDEX chargebacks_updated_idx ON chargebacks (tenant_id, updated_at DESC, id DESC);
CREATE INDEX subscriptions_updated_idx ON subscriptions (tenant_id, updated_at DESC, id DESC);
CREATE UNIQUE INDEX operators_provider_subject_key ON operators (provider_subject) WHERE provider_subject <> '';
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
CREATE INDEX transactions_last4_idx ON transactions (tenant_id, substr(iban_masked, length(iban_masked) - 3), id) WHERE iban_masked <> '';
CREATE INDEX transactions_amount_idx ON transactions (tenant_id, amount_minor, id);
CREATE INDEX transactions_holder_idx ON transactions (tenant_id, lower(holder_name), id);
CREATE INDEX transactions_mandate_reference_idx ON transactions (tenant_id, mandate_reference, id) WHERE mandate_reference <> '';
CREATE INDEX leads_last_name_idx ON leads (tenant_id, lower(last_name), id);
CREATE TABLE count_changes (
    tenant_id   TEXT    NOT NULL,
    id          TEXT    NOT NULL DEFAULT (lower(hex(randomblob(16)))),
    day         INTEGER NOT NULL,
    gateway_id  TEXT    NOT NULL,
    campaign_id TEXT    NOT NULL,
    currency    TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    reason      TEXT    NOT NULL,
    records     INTEGER NOT NULL,
    minor       INTEGER NOT NULL,
    batch       TEXT,
    CONSTRAINT count_changes_id_key PRIMARY KEY (tenant_id, id)
) STRICT;
CREATE INDEX count_changes_tenant_idx ON count_changes (tenant_id, day);
CREATE INDEX count_changes_batch_idx ON count_changes (batch) WHERE batch IS NOT NULL;
CREATE TABLE count_days (
    tenant_id   TEXT    NOT NULL,
    day         INTEGER NOT NULL,
    gateway_id  TEXT    NOT NULL,
    campaign_id TEXT    NOT NULL,
    currency    TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    reason      TEXT    NOT NULL,
    records     INTEGER NOT NULL,
    minor       INTEGER NOT NULL,
    CONSTRAINT count_days_day_gateway_id_campaign_id_currency_kind_reason_key PRIMARY KEY (tenant_id, day, gateway_id, campaign_id, currency, kind, reason)
) STRICT;
CREATE TABLE count_older (
    tenant_id    TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    counted_above TEXT    NOT NULL,
    CONSTRAINT count_older_kind_key PRIMARY KEY (tenant_id, kind)
) STRICT;
CREATE TRIGGER count_new_transaction AFTER INSERT ON transactions
    WHEN NEW.processed_at IS NOT NULL
BEGIN
    INSERT INTO count_changes (tenant_id, day, gateway_id, campaign_id, currency, kind, reason, records, minor)
    SELECT NEW.tenant_id, NEW.processed_at / 86400000000, NEW.gateway_id, COALESCE((SELECT s.campaign_id FROM orders o JOIN sessions s ON s.tenant_id = o.tenant_id AND s.id = o.session_id
            WHERE o.tenant_id = NEW.tenant_id AND o.id = NEW.order_id), '00000000-0000-0000-0000-000000000000'),
        NEW.currency, CASE WHEN NEW.type NOT IN ('sdd_sale', 'sdd_rebill', 'sdd_refund') THEN NULL
            WHEN NEW.type = 'sdd_refund' THEN CASE WHEN NEW.status = 'approved' THEN 'refunded' END
            WHEN NEW.status IN ('approved', 'refunded', 'charged_back') THEN 'collected' ELSE NEW.status END,
        CASE WHEN NEW.status = 'declined' THEN NEW.decline_code ELSE '' END, 1, 1 * NEW.amount_minor
    WHERE NEW.processed_at IS NOT NULL AND NEW.id > COALESCE((SELECT c.counted_above FROM count_older c WHERE c.tenant_id = NEW.tenant_id AND c.kind = 'transactions'), '00000000-0000-0000-0000-000000000000')
        AND CASE WHEN NEW.type NOT IN ('sdd_sale', 'sdd_rebill', 'sdd_refund') THEN NULL
            WHEN NEW.type = 'sdd_refund' THEN CASE WHEN NEW.status = 'approved' THEN 'refunded' END
            WHEN NEW.status IN ('approved', 'refunded', 'charged_back') THEN 'collected' ELSE NEW.status END IS NOT NULL;
END;
CREATE TRIGGER count_changed_transaction AFTER UPDATE ON transactions
    WHEN OLD.processed_at IS NOT NEW.processed_at OR OLD.gateway_id IS NOT NEW.gateway_id OR OLD.currency IS NOT NEW.currency
        OR OLD.status IS NOT NEW.status OR OLD.decline_code IS NOT NEW.decline_code OR OLD.amount_minor IS NOT NEW.amount_minor
BEGIN
    INSERT INTO count_changes (tenant_id, day, gateway_id, campaign_id, currency, kind, reason, records, minor)
    SELECT OLD.tenant_id, OLD.processed_at / 86400000000, OLD.gateway_id, COALESCE((SELECT s.campaign_id FROM orders o JOIN sessions s ON s.tenant_id = o.tenant_id AND s.id = o.session_id
            WHERE o.tenant_id = NEW.tenant_id AND o.id = NEW.order_id), '00000000-0000-0000-0000-000000000000'),
        OLD.currency, CASE WHEN OLD.type NOT IN ('sdd_sale', 'sdd_rebill', 'sdd_refund') THEN NULL
            WHEN OLD.type = 'sdd_refund' THEN CASE WHEN OLD.status = 'approved' THEN 'refunded' END
            WHEN OLD.status IN ('approved', 'refunded', 'charged_back') THEN 'collected' ELSE OLD.status END,
        CASE WHEN OLD.status = 'declined' THEN OLD.decline_code ELSE '' END, -1, -1 * OLD.amount_minor
    WHERE OLD.processed_at IS NOT NULL AND NEW.id > COALESCE((SELECT c.counted_above FROM count_older c WHERE c.tenant_id = NEW.tenant_id AND c.kind = 'transactions'), '00000000-0000-0000-0000-000000000000')
        AND CASE WHEN OLD.type NOT IN ('sdd_sale', 'sdd_rebill', 'sdd_refund') THEN NULL
            WHEN OLD.type = 'sdd_refund' THEN CASE WHEN OLD.status = 'approved' THEN 'refunded' END
            WHEN OLD.status IN ('approved', 'refunded', 'charged_back') THEN 'collected' ELSE OLD.status END IS NOT NULL;
    INSERT INTO count_changes (tenant_id, day, gateway_id, campaign_id, currency, kind, reason, records, minor)
    SELECT NEW.tenant_id, NEW.processed_at / 86400000000, NEW.gateway_id, COALESCE((SELECT s.campaign_id FROM orders o JOIN sessions s ON s.tenant_id = o.tenant_id AND s.id = o.session_id
            WHERE o.tenant_id = NEW.tenant_id AND o.id = NEW.order_id), '00000000-0000-0000-0000-000000000000'),
        NEW.currency, CASE WHEN NEW.type NOT IN ('sdd_sale', 'sdd_rebill', 'sdd_refund') THEN NULL
            WHEN NEW.type = 'sdd_refund' THEN CASE WHEN NEW.status = 'approved' THEN 'refunded' END
            WHEN NEW.status IN ('approved', 'refunded', 'charged_back') THEN 'collected' ELSE NEW.status END,
        CASE WHEN NEW.status = 'declined' THEN NEW.decline_code ELSE '' END, 1, 1 * NEW.amount_minor
    WHERE NEW.processed_at IS NOT NULL AND NEW.id > COALESCE((SELECT c.counted_above FROM count_older c WHERE c.tenant_id = NEW.tenant_id AND c.kind = 'transactions'), '00000000-0000-0000-0000-000000000000')
        AND CASE WHEN NEW.type NOT IN ('sdd_sale', 'sdd_rebill', 'sdd_refund') THEN NULL
            WHEN NEW.type = 'sdd_refund' THEN CASE WHEN NEW.status = 'approved' THEN 'refunded' END
            WHEN NEW.status IN ('approved', 'refunded', 'charged_back') THEN 'collected' ELSE NEW.status END IS NOT NULL;
END;
CREATE TRIGGER count_new_chargeback AFTER INSERT ON chargebacks
BEGIN
    INSERT INTO count_changes (tenant_id, day, gateway_id, campaign_id, currency, kind, reason, records, minor)
    SELECT NEW.tenant_id, NEW.reported_at / 86400000000, NEW.gateway_id, COALESCE((SELECT s.campaign_id FROM transactions p JOIN orders o ON o.tenant_id = p.tenant_id AND o.id = p.order_id
            JOIN sessions s ON s.tenant_id = o.tenant_id AND s.id = o.session_id WHERE p.tenant_id = NEW.tenant_id AND p.id = NEW.transaction_id), '00000000-0000-0000-0000-000000000000'),
        NEW.currency, 'charged_back', NEW.reason_code, 1, 1 * NEW.amount_minor
    WHERE NEW.id > COALESCE((SELECT c.counted_above FROM count_older c WHERE c.tenant_id = NEW.tenant_id AND c.kind = 'chargebacks'), '00000000-0000-0000-0000-000000000000');
END;
CREATE TRIGGER count_changed_chargeback AFTER UPDATE ON chargebacks
    WHEN OLD.reported_at IS NOT NEW.reported_at OR OLD.gateway_id IS NOT NEW.gateway_id OR OLD.currency IS NOT NEW.currency
        OR OLD.reason_code IS NOT NEW.reason_code OR OLD.amount_minor IS NOT NEW.amount_minor OR OLD.transaction_id IS NOT NEW.transaction_id
BEGIN
    INSERT INTO count_changes (tenant_id, day, gateway_id, campaign_id, currency, kind, reason, records, minor)
    SELECT OLD.tenant_id, OLD.reported_at / 86400000000, OLD.gateway_id, COALESCE((SELECT s.campaign_id FROM transactions p JOIN orders o ON o.tenant_id = p.tenant_id AND o.id = p.order_id
            JOIN sessions s ON s.tenant_id = o.tenant_id AND s.id = o.session_id WHERE p.tenant_id = OLD.tenant_id AND p.id = OLD.transaction_id), '00000000-0000-0000-0000-000000000000'),
        OLD.currency, 'charged_back', OLD.reason_code, -1, -1 * OLD.amount_minor
    WHERE NEW.id > COALESCE((SELECT c.counted_above FROM count_older c WHERE c.tenant_id = NEW.tenant_id AND c.kind = 'chargebacks'), '00000000-0000-0000-0000-000000000000');
    INSERT INTO count_changes (tenant_id, day, gateway_id, campaign_id, currency, kind, reason, records, minor)
    SELECT NEW.tenant_id, NEW.reported_at / 86400000000, NEW.gateway_id, COALESCE((SELECT s.campaign_id FROM transactions p JOIN orders o ON o.tenant_id = p.tenant_id AND o.id = p.order_id
            JOIN sessions s ON s.tenant_id = o.tenant_id AND s.id = o.session_id WHERE p.tenant_id = NEW.tenant_id AND p.id = NEW.transaction_id), '00000000-0000-0000-0000-000000000000'),
        NEW.currency, 'charged_back', NEW.reason_code, 1, 1 * NEW.amount_minor
    WHERE NEW.id > COALESCE((SELECT c.counted_above FROM count_older c WHERE c.tenant_id = NEW.tenant_id AND c.kind = 'chargebacks'), '00000000-0000-0000-0000-000000000000');
END;
CREATE INDEX chargebacks_email_idx ON chargebacks (tenant_id, lower(email), id) WHERE email <> '';
CREATE INDEX chargebacks_gateway_reference_idx ON chargebacks (tenant_id, gateway_reference, id) WHERE gateway_reference <> '';
CREATE INDEX subscriptions_amount_idx ON subscriptions (tenant_id, amount_minor, id);
CREATE TABLE compared_lines (
    tenant_id               TEXT    NOT NULL,
    import_id               TEXT    NOT NULL,
    line                    INTEGER NOT NULL,
    merchant_transaction_id TEXT    NOT NULL,
    gateway_reference       TEXT    NOT NULL,
    processor_id            TEXT    NOT NULL,
    status                  TEXT    NOT NULL,
    type                    TEXT    NOT NULL,
    amount_minor            INTEGER NOT NULL,
    currency                TEXT    NOT NULL,
    processed_at            INTEGER NOT NULL
) STRICT;
CREATE INDEX compared_lines_import_idx ON compared_lines (tenant_id, import_id, merchant_transaction_id);
CREATE INDEX events_endpoint_idx ON events (tenant_id, webhook_profile_id, id) WHERE webhook_profile_id IS NOT NULL;
CREATE INDEX transactions_reported_refund_idx ON transactions (tenant_id, substr(merchant_transaction_id, 1, 13))
    WHERE type = 'sdd_refund' AND refund_of IS NULL;
CREATE TABLE events_in_line (
    tenant_id          TEXT NOT NULL,
    webhook_profile_id TEXT NOT NULL,
    event_id           TEXT NOT NULL,
    CONSTRAINT events_in_line_webhook_profile_id_event_id_key PRIMARY KEY (tenant_id, webhook_profile_id, event_id)
) STRICT;
CREATE UNIQUE INDEX sessions_lead_id_key ON sessions (lead_id, tenant_id) WHERE holds_lead;
CREATE INDEX sessions_lead_idx ON sessions (lead_id, tenant_id, id);
CREATE INDEX sessions_status_idx ON sessions (tenant_id, status, created_at, id);
INSERT INTO river_migration (line, version) VALUES ('main', 1);
INSERT INTO river_migration (line, version) VALUES ('main', 2);
INSERT INTO river_migration (line, version) VALUES ('main', 3);
INSERT INTO river_migration (line, version) VALUES ('main', 4);
INSERT INTO river_migration (line, version) VALUES ('main', 5);
INSERT INTO river_migration (line, version) VALUES ('main', 6);
INSERT INTO river_migration (line, version) VALUES ('main', 7);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (1, 0, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (2, 1, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (3, 2, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (4, 3, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (5, 4, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (6, 5, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (7, 6, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (8, 7, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (9, 8, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (10, 9, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (11, 10, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (12, 11, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (13, 12, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (14, 13, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (15, 14, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (16, 15, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (17, 16, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (18, 17, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (19, 18, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (20, 19, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (21, 20, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (22, 21, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (23, 22, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (24, 23, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (25, 24, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (26, 25, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (27, 26, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (28, 27, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (29, 28, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (30, 29, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (31, 30, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (32, 31, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (33, 32, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (34, 33, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (35, 34, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (36, 35, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (37, 36, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (38, 37, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (39, 38, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (40, 39, 1);
INSERT INTO goose_db_version (id, version_id, is_applied) VALUES (41, 40, 1);
INSERT INTO service_clock (id, offset_us) VALUES (1, 0);
INSERT INTO schema_compatibility (id, oldest_version) VALUES (1, 38);
INSERT INTO deployment (id, environment, restored_to, banks_restored_to, tokens_hidden, recalled_at) VALUES (1, '', NULL, NULL, 1, NULL);
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('transactions', 'transactions_processed_idx', '1000000 1000000 1 1');
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('transactions', 'transactions_status_idx', '1000000 1000000 200000 70000 1 1');
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('transactions', 'transactions_gateway_idx', '1000000 1000000 500000 100000 35000 1 1');
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('subscriptions', 'subscriptions_status_idx', '1000000 1000000 300000 1 1');
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('subscriptions', 'subscriptions_gateway_idx', '1000000 1000000 500000 150000 1 1');
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('chargebacks', 'chargebacks_reported_idx', '100000 100000 1 1');
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('chargebacks', 'chargebacks_gateway_idx', '100000 100000 50000 1 1');
ANALYZE sqlite_schema;
