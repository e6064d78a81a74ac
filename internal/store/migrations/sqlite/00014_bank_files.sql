-- +goose Up
-- Files for merchants' own banks. A file is filled while it is open, its bytes are
-- made once when it is closed, and where it stands on its way is in state.
CREATE TABLE bank_files (
    tenant_id      TEXT NOT NULL,
    id             TEXT NOT NULL,
    gateway_id     TEXT NOT NULL,
    kind           TEXT NOT NULL,
    message_id     TEXT NOT NULL,
    name           TEXT NOT NULL,
    format         TEXT NOT NULL,
    state          TEXT NOT NULL,
    due_date       TEXT NOT NULL,
    entry_count    INTEGER NOT NULL,
    sum_minor      INTEGER NOT NULL,
    size_bytes     INTEGER NOT NULL,
    draft          TEXT NOT NULL,
    temporary_name TEXT NOT NULL,
    problem        TEXT NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    CONSTRAINT bank_files_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT bank_files_message_id_key UNIQUE (tenant_id, message_id)
) STRICT;
CREATE INDEX bank_files_waiting_idx ON bank_files (created_at) WHERE state IN ('open', 'closed', 'written', 'sending');
-- One file at a time is filled at an account.
CREATE UNIQUE INDEX bank_files_gateway_id_kind_key ON bank_files (tenant_id, gateway_id, kind) WHERE state = 'open';

-- The sealed bytes of a file, in parts. Each try at making them has a draft of its
-- own; the file names the one that holds.
CREATE TABLE bank_file_parts (
    tenant_id TEXT NOT NULL,
    id        TEXT NOT NULL,
    file_id   TEXT NOT NULL,
    draft     TEXT NOT NULL,
    number    INTEGER NOT NULL,
    content_sealed TEXT NOT NULL,
    CONSTRAINT bank_file_parts_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT bank_file_parts_file_id_draft_number_key UNIQUE (tenant_id, file_id, draft, number),
    FOREIGN KEY (tenant_id, file_id) REFERENCES bank_files (tenant_id, id)
) STRICT;

-- The payments of a file. A transaction is in one file at most.
CREATE TABLE bank_file_entries (
    tenant_id         TEXT NOT NULL,
    file_id           TEXT NOT NULL,
    transaction_id    TEXT NOT NULL,
    gateway_id        TEXT NOT NULL,
    position          INTEGER NOT NULL,
    block_id          TEXT NOT NULL,
    due_date          TEXT NOT NULL,
    sequence_type     TEXT NOT NULL,
    amount_minor      INTEGER NOT NULL,
    end_to_end_id     TEXT NOT NULL,
    mandate_reference TEXT NOT NULL,
    iban_masked       TEXT NOT NULL,
    CONSTRAINT bank_file_entries_transaction_id_key PRIMARY KEY (tenant_id, transaction_id),
    CONSTRAINT bank_file_entries_file_id_position_key UNIQUE (tenant_id, file_id, position),
    FOREIGN KEY (tenant_id, file_id) REFERENCES bank_files (tenant_id, id),
    FOREIGN KEY (tenant_id, transaction_id) REFERENCES transactions (tenant_id, id)
) STRICT;
CREATE INDEX bank_file_entries_end_to_end_idx ON bank_file_entries (tenant_id, gateway_id, end_to_end_id);
CREATE INDEX bank_file_entries_mandate_idx ON bank_file_entries (tenant_id, gateway_id, mandate_reference);
CREATE INDEX bank_file_entries_amount_idx ON bank_file_entries (tenant_id, gateway_id, amount_minor, due_date);
CREATE INDEX bank_file_entries_block_idx ON bank_file_entries (tenant_id, block_id, position);

-- What waits for a file, and what an operator holds back from it.
ALTER TABLE transactions ADD COLUMN held_at INTEGER;
CREATE INDEX transactions_collect_idx ON transactions (tenant_id, gateway_id, id)
    WHERE settle_due_at IS NOT NULL AND in_flight IS NULL AND gateway_reference = '';

-- What banks answer with: each file once, by its bytes.
CREATE TABLE bank_statements (
    tenant_id    TEXT NOT NULL,
    id           TEXT NOT NULL,
    gateway_id   TEXT NOT NULL,
    name         TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    content_sealed TEXT NOT NULL,
    state        TEXT NOT NULL,
    problem      TEXT NOT NULL,
    line_count   INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    CONSTRAINT bank_statements_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT bank_statements_gateway_id_content_hash_key UNIQUE (tenant_id, gateway_id, content_hash)
) STRICT;

-- Their lines, and what became of each. What a bank writes about people is sealed.
CREATE TABLE bank_lines (
    tenant_id      TEXT NOT NULL,
    id             TEXT NOT NULL,
    statement_id   TEXT NOT NULL,
    position       INTEGER NOT NULL,
    gateway_id     TEXT NOT NULL,
    source         TEXT NOT NULL,
    kind           TEXT NOT NULL,
    amount_minor   INTEGER NOT NULL,
    charges_minor  INTEGER NOT NULL,
    currency       TEXT NOT NULL,
    is_credit      INTEGER NOT NULL,
    booking_date   TEXT NOT NULL,
    reference      TEXT NOT NULL,
    reason         TEXT NOT NULL,
    text_sealed    TEXT NOT NULL,
    result         TEXT NOT NULL,
    note           TEXT NOT NULL,
    transaction_id TEXT,
    CONSTRAINT bank_lines_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT bank_lines_statement_id_position_key UNIQUE (tenant_id, statement_id, position),
    FOREIGN KEY (tenant_id, statement_id) REFERENCES bank_statements (tenant_id, id)
) STRICT;
CREATE INDEX bank_lines_open_idx ON bank_lines (tenant_id, id) WHERE result IN ('unmatched', 'contradicts');
CREATE INDEX bank_lines_transaction_idx ON bank_lines (tenant_id, transaction_id);
CREATE INDEX bank_lines_reference_idx ON bank_lines (tenant_id, gateway_id, reference);

-- +goose Down
DROP TABLE bank_lines;
DROP TABLE bank_statements;
DROP INDEX transactions_collect_idx;
ALTER TABLE transactions DROP COLUMN held_at;
DROP TABLE bank_file_entries;
DROP TABLE bank_file_parts;
DROP TABLE bank_files;
