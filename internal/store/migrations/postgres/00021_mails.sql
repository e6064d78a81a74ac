-- +goose Up
-- Who writes to a tenant's payers before their accounts are debited.
ALTER TABLE tenants ADD COLUMN notice_sender text NOT NULL DEFAULT '';
ALTER TABLE tenants ADD COLUMN notice_reply_to text NOT NULL DEFAULT '';
ALTER TABLE tenants ADD COLUMN notice_send text NOT NULL DEFAULT '';

-- Mails to payers. A row is its own place in line; it holds nothing of the person.
-- leased_until is 0 unless somebody is sending it, or has died over it.
CREATE TABLE mails (
    tenant_id           uuid NOT NULL,
    id                  uuid NOT NULL,
    mail_key            text NOT NULL,
    kind                text NOT NULL,
    transaction_id      uuid NOT NULL,
    due_date            text NOT NULL,
    creditor_name       text NOT NULL,
    creditor_identifier text NOT NULL,
    status              text NOT NULL,
    attempt_count       bigint NOT NULL,
    failure_count       bigint NOT NULL,
    unknown_count       bigint NOT NULL,
    next_attempt_at     bigint NOT NULL,
    queued_at           bigint NOT NULL,
    leased_until        bigint NOT NULL,
    result              text NOT NULL,
    created_at          bigint NOT NULL,
    sent_at             bigint,
    CONSTRAINT mails_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT mails_mail_key_key UNIQUE (tenant_id, mail_key),
    FOREIGN KEY (tenant_id, transaction_id) REFERENCES transactions (tenant_id, id)
);
CREATE INDEX mails_due_idx ON mails (next_attempt_at) WHERE status = 'pending';
CREATE INDEX mails_failed_idx ON mails (tenant_id, id) WHERE status = 'failed';
CREATE INDEX mails_transaction_idx ON mails (tenant_id, transaction_id);

-- +goose Down
DROP TABLE mails;
ALTER TABLE tenants DROP COLUMN notice_send;
ALTER TABLE tenants DROP COLUMN notice_reply_to;
ALTER TABLE tenants DROP COLUMN notice_sender;
