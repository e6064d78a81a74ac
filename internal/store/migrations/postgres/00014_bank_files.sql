-- +goose Up
-- Files for merchants' own banks. A file is filled while it is open, its bytes are
-- made once when it is closed, and where it stands on its way is in state.
CREATE TABLE bank_files (
    tenant_id      uuid NOT NULL,
    id             uuid NOT NULL,
    gateway_id     uuid NOT NULL,
    kind           text NOT NULL,
    message_id     text NOT NULL,
    name           text NOT NULL,
    format         text NOT NULL,
    state          text NOT NULL,
    due_date       text NOT NULL,
    entry_count    bigint NOT NULL,
    sum_minor      bigint NOT NULL,
    size_bytes     bigint NOT NULL,
    draft          text NOT NULL,
    temporary_name text NOT NULL,
    problem        text NOT NULL,
    created_at     bigint NOT NULL,
    updated_at     bigint NOT NULL,
    CONSTRAINT bank_files_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT bank_files_message_id_key UNIQUE (tenant_id, message_id)
);
CREATE INDEX bank_files_waiting_idx ON bank_files (created_at) WHERE state IN ('open', 'closed', 'written', 'sending');
-- One file at a time is filled at an account.
CREATE UNIQUE INDEX bank_files_gateway_id_kind_key ON bank_files (tenant_id, gateway_id, kind) WHERE state = 'open';

-- The sealed bytes of a file, in parts. Each try at making them has a draft of its
-- own; the file names the one that holds.
CREATE TABLE bank_file_parts (
    tenant_id uuid NOT NULL,
    id        uuid NOT NULL,
    file_id   uuid NOT NULL,
    draft     text NOT NULL,
    number    bigint NOT NULL,
    content_sealed text NOT NULL,
    CONSTRAINT bank_file_parts_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT bank_file_parts_file_id_draft_number_key UNIQUE (tenant_id, file_id, draft, number),
    FOREIGN KEY (tenant_id, file_id) REFERENCES bank_files (tenant_id, id)
);

-- The payments of a file. A transaction is in one file at most.
CREATE TABLE bank_file_entries (
    tenant_id         uuid NOT NULL,
    file_id           uuid NOT NULL,
    transaction_id    uuid NOT NULL,
    gateway_id        uuid NOT NULL,
    position          bigint NOT NULL,
    block_id          text NOT NULL,
    due_date          text NOT NULL,
    sequence_type     text NOT NULL,
    amount_minor      bigint NOT NULL,
    end_to_end_id     text NOT NULL,
    mandate_reference text NOT NULL,
    iban_masked       text NOT NULL,
    CONSTRAINT bank_file_entries_transaction_id_key PRIMARY KEY (tenant_id, transaction_id),
    CONSTRAINT bank_file_entries_file_id_position_key UNIQUE (tenant_id, file_id, position),
    FOREIGN KEY (tenant_id, file_id) REFERENCES bank_files (tenant_id, id),
    FOREIGN KEY (tenant_id, transaction_id) REFERENCES transactions (tenant_id, id)
);
CREATE INDEX bank_file_entries_end_to_end_idx ON bank_file_entries (tenant_id, gateway_id, end_to_end_id);
CREATE INDEX bank_file_entries_mandate_idx ON bank_file_entries (tenant_id, gateway_id, mandate_reference);
CREATE INDEX bank_file_entries_amount_idx ON bank_file_entries (tenant_id, gateway_id, amount_minor, due_date);
CREATE INDEX bank_file_entries_block_idx ON bank_file_entries (tenant_id, block_id, position);

-- What waits for a file, and what an operator holds back from it.
ALTER TABLE transactions ADD COLUMN held_at bigint;
CREATE INDEX transactions_collect_idx ON transactions (tenant_id, gateway_id, id)
    WHERE settle_due_at IS NOT NULL AND in_flight IS NULL AND gateway_reference = '';

-- What banks answer with: each file once, by its bytes.
CREATE TABLE bank_statements (
    tenant_id    uuid NOT NULL,
    id           uuid NOT NULL,
    gateway_id   uuid NOT NULL,
    name         text NOT NULL,
    content_hash text NOT NULL,
    content_sealed text NOT NULL,
    state        text NOT NULL,
    problem      text NOT NULL,
    line_count   bigint NOT NULL,
    created_at   bigint NOT NULL,
    CONSTRAINT bank_statements_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT bank_statements_gateway_id_content_hash_key UNIQUE (tenant_id, gateway_id, content_hash)
);

-- Their lines, and what became of each. What a bank writes about people is sealed.
CREATE TABLE bank_lines (
    tenant_id      uuid NOT NULL,
    id             uuid NOT NULL,
    statement_id   uuid NOT NULL,
    position       bigint NOT NULL,
    gateway_id     uuid NOT NULL,
    source         text NOT NULL,
    kind           text NOT NULL,
    amount_minor   bigint NOT NULL,
    charges_minor  bigint NOT NULL,
    currency       text NOT NULL,
    is_credit      bigint NOT NULL,
    booking_date   text NOT NULL,
    reference      text NOT NULL,
    reason         text NOT NULL,
    text_sealed    text NOT NULL,
    result         text NOT NULL,
    note           text NOT NULL,
    transaction_id uuid,
    CONSTRAINT bank_lines_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT bank_lines_statement_id_position_key UNIQUE (tenant_id, statement_id, position),
    FOREIGN KEY (tenant_id, statement_id) REFERENCES bank_statements (tenant_id, id)
);
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
