-- +goose Up
-- The evidence that a payer agreed to a mandate, one row for each attempt made
-- on the hosted page. Rows are only ever added.
CREATE TABLE mandate_acceptances (
    tenant_id       uuid   NOT NULL,
    transaction_id  uuid   NOT NULL,
    session_id      uuid   NOT NULL,
    acceptance_mode text   NOT NULL,
    language        text   NOT NULL,
    text_version    text   NOT NULL,
    text            text   NOT NULL,
    text_hash       text   NOT NULL,
    client_ip       text   NOT NULL,
    user_agent      text   NOT NULL,
    accepted_at     bigint NOT NULL,
    CONSTRAINT mandate_acceptances_transaction_id_key PRIMARY KEY (tenant_id, transaction_id),
    FOREIGN KEY (tenant_id, transaction_id) REFERENCES transactions (tenant_id, id)
);

-- +goose Down
DROP TABLE mandate_acceptances;
