-- +goose Up
-- Money that goes back. A refund is a transaction of its own that names the one
-- it gives back; the latter counts what was refunded and what is being refunded,
-- so that one conditional update guards against giving back too much.
ALTER TABLE transactions
    ADD COLUMN refund_of       uuid,
    ADD COLUMN refunded_minor  bigint NOT NULL DEFAULT 0,
    ADD COLUMN refunding_minor bigint NOT NULL DEFAULT 0;
CREATE INDEX transactions_refund_idx ON transactions (tenant_id, refund_of) WHERE refund_of IS NOT NULL;
-- A processor's report may name a payment by its own id alone.
CREATE INDEX transactions_gateway_reference_idx ON transactions (tenant_id, gateway_reference)
    WHERE gateway_reference <> '';
CREATE INDEX chargebacks_transaction_idx ON chargebacks (tenant_id, transaction_id) WHERE transaction_id IS NOT NULL;
CREATE INDEX chargebacks_unlinked_idx ON chargebacks (tenant_id, gateway_id) WHERE transaction_id IS NULL;

-- When the sandbox gateway next has something to report of a payment by itself.
ALTER TABLE sandbox_payments ADD COLUMN notify_at bigint;
CREATE INDEX sandbox_payments_notify_idx ON sandbox_payments (notify_at) WHERE notify_at IS NOT NULL;

-- Files of processors that were taken in, with what could not be.
CREATE TABLE imports (
    tenant_id       uuid    NOT NULL,
    id              uuid    NOT NULL,
    gateway_id      uuid    NOT NULL,
    kind            text    NOT NULL,
    status          text    NOT NULL,
    dry_run         boolean NOT NULL,
    new_count       bigint  NOT NULL,
    updated_count   bigint  NOT NULL,
    unchanged_count bigint  NOT NULL,
    rejected_count  bigint  NOT NULL,
    created_at      bigint  NOT NULL,
    updated_at      bigint  NOT NULL,
    CONSTRAINT imports_id_key PRIMARY KEY (tenant_id, id)
);
CREATE TABLE import_rejections (
    tenant_id uuid   NOT NULL,
    import_id uuid   NOT NULL,
    line      bigint NOT NULL,
    reason    text   NOT NULL,
    CONSTRAINT import_rejections_import_id_line_key PRIMARY KEY (tenant_id, import_id, line)
);
-- Lines on their way from a file into our records. What a crash leaves here can
-- be thrown away, so that nothing of it is written to the log.
CREATE UNLOGGED TABLE staged_transactions (
    tenant_id               uuid   NOT NULL,
    import_id               uuid   NOT NULL,
    line                    bigint NOT NULL,
    id                      uuid   NOT NULL,
    merchant_transaction_id text   NOT NULL,
    gateway_reference       text   NOT NULL,
    status                  text   NOT NULL,
    type                    text   NOT NULL,
    amount_minor            bigint NOT NULL,
    currency                text   NOT NULL,
    iban_masked             text   NOT NULL,
    iban_country            text   NOT NULL,
    bic                     text   NOT NULL,
    holder_name             text   NOT NULL,
    email                   text   NOT NULL,
    mandate_reference       text   NOT NULL,
    mandate_at              bigint,
    processed_at            bigint NOT NULL
);
CREATE INDEX staged_transactions_import_idx ON staged_transactions (tenant_id, import_id, merchant_transaction_id);

-- +goose Down
DROP TABLE staged_transactions, import_rejections, imports;
DROP INDEX sandbox_payments_notify_idx, chargebacks_unlinked_idx, chargebacks_transaction_idx,
    transactions_gateway_reference_idx, transactions_refund_idx;
ALTER TABLE sandbox_payments DROP COLUMN notify_at;
ALTER TABLE transactions
    DROP COLUMN refund_of,
    DROP COLUMN refunded_minor,
    DROP COLUMN refunding_minor;
