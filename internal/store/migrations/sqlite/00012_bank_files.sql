-- +goose Up
-- Files of collections for merchants' own banks. The bytes are sealed, written
-- once and never made again; where they stand on their way is in state.
CREATE TABLE bank_files (
    tenant_id    TEXT NOT NULL,
    id           TEXT NOT NULL,
    gateway_id   TEXT NOT NULL,
    message_id   TEXT NOT NULL,
    name         TEXT NOT NULL,
    format       TEXT NOT NULL,
    state        TEXT NOT NULL,
    due_date     TEXT NOT NULL,
    entry_count  INTEGER NOT NULL,
    sum_minor    INTEGER NOT NULL,
    size_bytes   INTEGER NOT NULL,
    content      TEXT NOT NULL,
    temporary_name TEXT NOT NULL,
    problem      TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    CONSTRAINT bank_files_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT bank_files_message_id_key UNIQUE (tenant_id, message_id)
) STRICT;
CREATE INDEX bank_files_gateway_idx ON bank_files (tenant_id, gateway_id, created_at DESC, id DESC);
CREATE INDEX bank_files_waiting_idx ON bank_files (created_at) WHERE state IN ('written', 'sending');

-- The collections of a file. A transaction is in one file at most.
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
    CONSTRAINT bank_file_entries_position_key UNIQUE (tenant_id, file_id, position),
    FOREIGN KEY (tenant_id, file_id) REFERENCES bank_files (tenant_id, id),
    FOREIGN KEY (tenant_id, transaction_id) REFERENCES transactions (tenant_id, id)
) STRICT;
CREATE INDEX bank_file_entries_end_to_end_idx ON bank_file_entries (tenant_id, gateway_id, end_to_end_id);
CREATE INDEX bank_file_entries_mandate_idx ON bank_file_entries (tenant_id, gateway_id, mandate_reference);
CREATE INDEX bank_file_entries_amount_idx ON bank_file_entries (tenant_id, gateway_id, amount_minor, due_date);
CREATE INDEX bank_file_entries_block_idx ON bank_file_entries (tenant_id, block_id);

-- What banks answer with: each file once, by its bytes.
CREATE TABLE bank_statements (
    tenant_id    TEXT NOT NULL,
    id           TEXT NOT NULL,
    gateway_id   TEXT NOT NULL,
    name         TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    content      TEXT NOT NULL,
    state        TEXT NOT NULL,
    problem      TEXT NOT NULL,
    line_count   INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    CONSTRAINT bank_statements_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT bank_statements_content_hash_key UNIQUE (tenant_id, gateway_id, content_hash)
) STRICT;
CREATE INDEX bank_statements_gateway_idx ON bank_statements (tenant_id, gateway_id, created_at DESC, id DESC);

-- Their lines, and what became of each. What a bank writes about people is sealed.
CREATE TABLE bank_lines (
    tenant_id      TEXT NOT NULL,
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
    CONSTRAINT bank_lines_position_key PRIMARY KEY (tenant_id, statement_id, position),
    FOREIGN KEY (tenant_id, statement_id) REFERENCES bank_statements (tenant_id, id)
) STRICT;
CREATE INDEX bank_lines_open_idx ON bank_lines (tenant_id, statement_id, position) WHERE result IN ('unmatched', 'contradicts');

-- +goose Down
DROP TABLE bank_lines;
DROP TABLE bank_statements;
DROP TABLE bank_file_entries;
DROP TABLE bank_files;
