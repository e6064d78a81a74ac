-- +goose Up
-- Payments that the payer's bank took back. The original transaction is NULL
-- while it is not known; its reference is kept with the row, so that a listing
-- reads one table.
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

-- A page of a listing reads its rows from an index in their order and no others,
-- whatever the filters. Status and standardized type have so few values that a
-- filter which is not given stands for all of them, each a range of its own, and
-- the ranges are merged: one index serves every combination without a gateway,
-- and one every combination with it. Payments write these rows, so there are no
-- more than that.
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

-- SQLite believes that the first column of an index nearly names the row, unless
-- it is told otherwise; a tenant has a million. With these numbers (rows in all,
-- then rows that share the first column, the first two, and so on) it takes the
-- index that was made for the filter, also in a database that was never analyzed.
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('transactions', 'transactions_processed_idx', '1000000 1000000 1 1'),
    ('transactions', 'transactions_status_idx', '1000000 1000000 200000 70000 1 1'),
    ('transactions', 'transactions_gateway_idx', '1000000 1000000 500000 100000 35000 1 1'),
    ('subscriptions', 'subscriptions_status_idx', '1000000 1000000 300000 1 1'),
    ('subscriptions', 'subscriptions_gateway_idx', '1000000 1000000 500000 150000 1 1'),
    ('chargebacks', 'chargebacks_reported_idx', '100000 100000 1 1'),
    ('chargebacks', 'chargebacks_gateway_idx', '100000 100000 50000 1 1');
ANALYZE sqlite_schema;

-- +goose Down
DELETE FROM sqlite_stat1 WHERE tbl IN ('transactions', 'subscriptions', 'chargebacks');
DROP INDEX subscriptions_gateway_idx;
DROP INDEX subscriptions_status_idx;
DROP INDEX transactions_gateway_idx;
DROP INDEX transactions_status_idx;
DROP TABLE chargebacks;
