-- +goose Up
-- The lines of a file that is held against our records: what is compared of them and no
-- more. They are written once, read whole and removed, for which an index is no help.
CREATE UNLOGGED TABLE compared_lines (
    tenant_id               uuid    NOT NULL,
    import_id               uuid    NOT NULL,
    line                    bigint  NOT NULL,
    merchant_transaction_id text    NOT NULL,
    gateway_reference       text    NOT NULL,
    processor_id            text    NOT NULL,
    status                  text    NOT NULL,
    type                    text    NOT NULL,
    amount_minor            bigint  NOT NULL,
    currency                text    NOT NULL,
    processed_at            bigint  NOT NULL
);

-- +goose Down
DROP TABLE compared_lines;
