-- +goose Up
-- Money that goes back. A refund is a transaction of its own that names the one
-- it gives back; the latter counts what was refunded and what is being refunded,
-- so that one conditional update guards against giving back too much.
ALTER TABLE transactions ADD COLUMN refund_of TEXT;
ALTER TABLE transactions ADD COLUMN refunded_minor INTEGER NOT NULL DEFAULT 0;
ALTER TABLE transactions ADD COLUMN refunding_minor INTEGER NOT NULL DEFAULT 0;
CREATE INDEX transactions_refund_idx ON transactions (tenant_id, refund_of) WHERE refund_of IS NOT NULL;
-- A processor's report may name a payment by its own id alone.
CREATE INDEX transactions_gateway_reference_idx ON transactions (tenant_id, gateway_reference)
    WHERE gateway_reference <> '';
CREATE INDEX chargebacks_transaction_idx ON chargebacks (tenant_id, transaction_id) WHERE transaction_id IS NOT NULL;
CREATE INDEX chargebacks_unlinked_idx ON chargebacks (tenant_id, gateway_id) WHERE transaction_id IS NULL;

-- When the sandbox gateway next has something to report of a payment by itself.
ALTER TABLE sandbox_payments ADD COLUMN notify_at INTEGER;
CREATE INDEX sandbox_payments_notify_idx ON sandbox_payments (notify_at) WHERE notify_at IS NOT NULL;

-- Files of processors that were taken in, with what could not be.
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
-- Lines on their way from a file into our records.
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
) STRICT;
CREATE INDEX staged_transactions_import_idx ON staged_transactions (tenant_id, import_id, merchant_transaction_id);

-- +goose Down
DROP TABLE staged_transactions;
DROP TABLE import_rejections;
DROP TABLE imports;
DROP INDEX sandbox_payments_notify_idx;
DROP INDEX chargebacks_unlinked_idx;
DROP INDEX chargebacks_transaction_idx;
DROP INDEX transactions_gateway_reference_idx;
DROP INDEX transactions_refund_idx;
ALTER TABLE sandbox_payments DROP COLUMN notify_at;
ALTER TABLE transactions DROP COLUMN refund_of;
ALTER TABLE transactions DROP COLUMN refunded_minor;
ALTER TABLE transactions DROP COLUMN refunding_minor;
