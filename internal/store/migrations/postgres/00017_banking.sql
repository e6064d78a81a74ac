-- +goose Up
-- What a bank answers with is kept in parts, as what is sent to it is, so that no
-- length of it is ever held whole. content_sealed of bank_statements has what was
-- kept before.
CREATE TABLE bank_statement_parts (
    tenant_id      uuid NOT NULL,
    id             uuid NOT NULL,
    statement_id   uuid NOT NULL,
    number         bigint NOT NULL,
    content_sealed text NOT NULL,
    CONSTRAINT bank_statement_parts_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT bank_statement_parts_statement_id_number_key UNIQUE (tenant_id, statement_id, number),
    FOREIGN KEY (tenant_id, statement_id) REFERENCES bank_statements (tenant_id, id)
);

-- Who collected with a file: a bank must be told once when that changes under a
-- mandate. Empty in files that were written before.
ALTER TABLE bank_files ADD COLUMN creditor_name text NOT NULL DEFAULT '';
ALTER TABLE bank_files ADD COLUMN creditor_identifier text NOT NULL DEFAULT '';

-- The instant that a restored database is of, for banks: an account writes nothing
-- until somebody has made sure what was sent since, which its row here says.
ALTER TABLE deployment ADD COLUMN banks_restored_to bigint;
CREATE TABLE bank_resumptions (
    tenant_id    uuid NOT NULL,
    gateway_id   uuid NOT NULL,
    restored_to  bigint NOT NULL,
    resumed_at   bigint NOT NULL,
    CONSTRAINT bank_resumptions_gateway_id_key PRIMARY KEY (tenant_id, gateway_id)
);

-- The payments of files that left after the backup, as their bytes tell, until the
-- transaction of that name is there: what stands here is in no other file.
CREATE TABLE bank_adopted (
    tenant_id     uuid NOT NULL,
    gateway_id    uuid NOT NULL,
    end_to_end_id text NOT NULL,
    message_id    text NOT NULL,
    position      bigint NOT NULL,
    block_id      text NOT NULL,
    due_date      text NOT NULL,
    sequence_type text NOT NULL,
    amount_minor  bigint NOT NULL,
    CONSTRAINT bank_adopted_gateway_id_end_to_end_id_key PRIMARY KEY (tenant_id, gateway_id, end_to_end_id)
);

-- +goose Down
DROP TABLE bank_adopted;
DROP TABLE bank_resumptions;
ALTER TABLE deployment DROP COLUMN banks_restored_to;
ALTER TABLE bank_files DROP COLUMN creditor_identifier;
ALTER TABLE bank_files DROP COLUMN creditor_name;
DROP TABLE bank_statement_parts;
