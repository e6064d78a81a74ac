-- +goose Up
-- The evidence that a payer agreed to a mandate, one row for each attempt made
-- on the hosted page. Rows are only ever added.
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

-- +goose Down
DROP TABLE mandate_acceptances;
