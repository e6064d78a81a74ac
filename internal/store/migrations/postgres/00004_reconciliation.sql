-- +goose Up
-- Payments that the payer's bank took back. The original transaction is NULL
-- while it is not known; its reference is kept with the row, so that a listing
-- reads one table.
CREATE TABLE chargebacks (
    tenant_id               uuid   NOT NULL,
    id                      uuid   NOT NULL,
    gateway_id              uuid   NOT NULL,
    transaction_id          uuid,
    lead_id                 uuid,
    merchant_transaction_id text   NOT NULL,
    tenant_reference_id     text,
    gateway_reference       text   NOT NULL,
    amount_minor            bigint NOT NULL,
    currency                text   NOT NULL,
    reported_at             bigint NOT NULL,
    transaction_at          bigint,
    reason_code             text   NOT NULL,
    reason_message          text   NOT NULL,
    report_type             text   NOT NULL,
    report_message          text   NOT NULL,
    report_info             text   NOT NULL,
    arn                     text   NOT NULL,
    iban_masked             text   NOT NULL,
    bic                     text   NOT NULL,
    email                   text   NOT NULL,
    country                 text   NOT NULL,
    source                  text   NOT NULL,
    bank_fee_minor          bigint,
    created_at              bigint NOT NULL,
    updated_at              bigint NOT NULL,
    CONSTRAINT chargebacks_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT chargebacks_merchant_transaction_id_key UNIQUE (tenant_id, merchant_transaction_id),
    FOREIGN KEY (tenant_id, transaction_id) REFERENCES transactions (tenant_id, id)
);

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

-- +goose Down
DROP INDEX subscriptions_gateway_idx;
DROP INDEX subscriptions_status_idx;
DROP INDEX transactions_gateway_idx;
DROP INDEX transactions_status_idx;
DROP TABLE chargebacks;
