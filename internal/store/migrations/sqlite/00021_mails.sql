-- +goose Up
-- Who writes to a tenant's payers before their accounts are debited.
ALTER TABLE tenants ADD COLUMN notice_sender TEXT NOT NULL DEFAULT '';
ALTER TABLE tenants ADD COLUMN notice_reply_to TEXT NOT NULL DEFAULT '';
ALTER TABLE tenants ADD COLUMN notice_send TEXT NOT NULL DEFAULT '';

-- Mails to payers. A row is its own place in line; it holds nothing of the person.
-- leased_until is 0 unless somebody is sending it, or has died over it.
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

-- +goose Down
DROP TABLE mails;
ALTER TABLE tenants DROP COLUMN notice_send;
ALTER TABLE tenants DROP COLUMN notice_reply_to;
ALTER TABLE tenants DROP COLUMN notice_sender;
