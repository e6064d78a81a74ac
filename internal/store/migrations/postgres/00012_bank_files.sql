-- +goose Up
-- Files of collections for merchants' own banks. The bytes are sealed, written
-- once and never made again; where they stand on their way is in state.
CREATE TABLE bank_files (
    tenant_id    uuid NOT NULL,
    id           uuid NOT NULL,
    gateway_id   uuid NOT NULL,
    message_id   text NOT NULL,
    name         text NOT NULL,
    format       text NOT NULL,
    state        text NOT NULL,
    due_date     text NOT NULL,
    entry_count  bigint NOT NULL,
    sum_minor    bigint NOT NULL,
    size_bytes   bigint NOT NULL,
    content      text NOT NULL,
    temporary_name text NOT NULL,
    problem      text NOT NULL,
    created_at   bigint NOT NULL,
    updated_at   bigint NOT NULL,
    CONSTRAINT bank_files_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT bank_files_message_id_key UNIQUE (tenant_id, message_id)
);
CREATE INDEX bank_files_gateway_idx ON bank_files (tenant_id, gateway_id, created_at DESC, id DESC);
CREATE INDEX bank_files_waiting_idx ON bank_files (created_at) WHERE state IN ('written', 'sending');

-- The collections of a file. A transaction is in one file at most.
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
    CONSTRAINT bank_file_entries_position_key UNIQUE (tenant_id, file_id, position),
    FOREIGN KEY (tenant_id, file_id) REFERENCES bank_files (tenant_id, id),
    FOREIGN KEY (tenant_id, transaction_id) REFERENCES transactions (tenant_id, id)
);
CREATE INDEX bank_file_entries_end_to_end_idx ON bank_file_entries (tenant_id, gateway_id, end_to_end_id);
CREATE INDEX bank_file_entries_mandate_idx ON bank_file_entries (tenant_id, gateway_id, mandate_reference);
CREATE INDEX bank_file_entries_amount_idx ON bank_file_entries (tenant_id, gateway_id, amount_minor, due_date);
CREATE INDEX bank_file_entries_block_idx ON bank_file_entries (tenant_id, block_id);

-- What banks answer with: each file once, by its bytes.
CREATE TABLE bank_statements (
    tenant_id    uuid NOT NULL,
    id           uuid NOT NULL,
    gateway_id   uuid NOT NULL,
    name         text NOT NULL,
    content_hash text NOT NULL,
    content      text NOT NULL,
    state        text NOT NULL,
    problem      text NOT NULL,
    line_count   bigint NOT NULL,
    created_at   bigint NOT NULL,
    CONSTRAINT bank_statements_id_key PRIMARY KEY (tenant_id, id),
    CONSTRAINT bank_statements_content_hash_key UNIQUE (tenant_id, gateway_id, content_hash)
);
CREATE INDEX bank_statements_gateway_idx ON bank_statements (tenant_id, gateway_id, created_at DESC, id DESC);

-- Their lines, and what became of each. What a bank writes about people is sealed.
CREATE TABLE bank_lines (
    tenant_id      uuid NOT NULL,
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
    CONSTRAINT bank_lines_position_key PRIMARY KEY (tenant_id, statement_id, position),
    FOREIGN KEY (tenant_id, statement_id) REFERENCES bank_statements (tenant_id, id)
);
CREATE INDEX bank_lines_open_idx ON bank_lines (tenant_id, statement_id, position) WHERE result IN ('unmatched', 'contradicts');

-- +goose Down
DROP TABLE bank_lines;
DROP TABLE bank_statements;
DROP TABLE bank_file_entries;
DROP TABLE bank_files;
