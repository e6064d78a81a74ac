-- +goose Up
-- The lines of a file that is held against our records: what is compared of them and no
-- more. Each of our records is looked for among them by its reference.
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

-- +goose Down
DROP TABLE compared_lines;
