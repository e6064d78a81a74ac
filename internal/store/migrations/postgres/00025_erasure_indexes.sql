-- +goose NO TRANSACTION
-- +goose Up
-- Who is to be erased, whom files alone name, sessions that nobody paid, and events by
-- what they are about, which stands in their key behind the kind. Built
-- while others write; what an interrupted try has left goes first.
DROP INDEX CONCURRENTLY IF EXISTS leads_erase_idx;
CREATE INDEX CONCURRENTLY leads_erase_idx ON leads (erase_due_at) WHERE erase_due_at IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS transactions_payer_idx;
CREATE INDEX CONCURRENTLY transactions_payer_idx ON transactions (tenant_id, lower(email)) WHERE lead_id IS NULL AND email <> '';
DROP INDEX CONCURRENTLY IF EXISTS sessions_unpaid_idx;
CREATE INDEX CONCURRENTLY sessions_unpaid_idx ON sessions (expires_at)
    WHERE last_transaction_id IS NULL AND status = 'EXPIRED';
DROP INDEX CONCURRENTLY IF EXISTS events_about_idx;
CREATE INDEX CONCURRENTLY events_about_idx ON events (tenant_id, substr(event_key, length(kind) + 2, 36));

-- +goose Down
DROP INDEX CONCURRENTLY events_about_idx;
DROP INDEX CONCURRENTLY sessions_unpaid_idx;
DROP INDEX CONCURRENTLY transactions_payer_idx;
DROP INDEX CONCURRENTLY leads_erase_idx;
