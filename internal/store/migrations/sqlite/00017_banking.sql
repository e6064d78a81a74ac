-- +goose Up
-- What a bank answers with is kept in parts, as what is sent to it is, so that no
-- length of it is ever held whole. content_sealed of bank_statements has what was
-- kept before.
CREATE TABLE bank_statement_parts (
    tenant_id      TEXT NOT NULL,
    id             TEXT NOT NULL,
    statement_id   TEXT NOT NULL,
    number         INTEGER NOT NULL,
    content_sealed TEXT NOT NULL,
    CONSTRAINT bank_statement_parts_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT bank_statement_parts_statement_id_number_key UNIQUE (tenant_id, statement_id, number),
    FOREIGN KEY (tenant_id, statement_id) REFERENCES bank_statements (tenant_id, id)
) STRICT;

-- Who collected with a file: a bank must be told once when that changes under a
-- mandate. Empty in files that were written before.
ALTER TABLE bank_files ADD COLUMN creditor_name TEXT NOT NULL DEFAULT '';
ALTER TABLE bank_files ADD COLUMN creditor_identifier TEXT NOT NULL DEFAULT '';

-- The instant that a restored database is of, for banks: an account writes nothing
-- until somebody has made sure what was sent since, which its row here says.
ALTER TABLE deployment ADD COLUMN banks_restored_to INTEGER;
CREATE TABLE bank_resumptions (
    tenant_id    TEXT NOT NULL,
    gateway_id   TEXT NOT NULL,
    restored_to  INTEGER NOT NULL,
    resumed_at   INTEGER NOT NULL,
    CONSTRAINT bank_resumptions_gateway_id_key PRIMARY KEY (tenant_id, gateway_id)
) STRICT;

-- The payments of files that left after the backup, as their bytes tell, until the
-- transaction of that name is there: what stands here is in no other file.
CREATE TABLE bank_adopted (
    tenant_id     TEXT NOT NULL,
    gateway_id    TEXT NOT NULL,
    end_to_end_id TEXT NOT NULL,
    message_id    TEXT NOT NULL,
    position      INTEGER NOT NULL,
    block_id      TEXT NOT NULL,
    due_date      TEXT NOT NULL,
    sequence_type TEXT NOT NULL,
    amount_minor  INTEGER NOT NULL,
    CONSTRAINT bank_adopted_gateway_id_end_to_end_id_key PRIMARY KEY (tenant_id, gateway_id, end_to_end_id)
) STRICT;

-- +goose Down
DROP TABLE bank_adopted;
DROP TABLE bank_resumptions;
ALTER TABLE deployment DROP COLUMN banks_restored_to;
ALTER TABLE bank_files DROP COLUMN creditor_identifier;
ALTER TABLE bank_files DROP COLUMN creditor_name;
DROP TABLE bank_statement_parts;
