-- +goose Up
-- Who is to be erased, whom files alone name, sessions that nobody paid, and events by
-- what they are about, which stands in their key behind the kind.
CREATE INDEX leads_erase_idx ON leads (erase_due_at) WHERE erase_due_at IS NOT NULL;
CREATE INDEX transactions_payer_idx ON transactions (tenant_id, lower(email)) WHERE lead_id IS NULL AND email <> '';
CREATE INDEX sessions_unpaid_idx ON sessions (expires_at)
    WHERE last_transaction_id IS NULL AND status = 'EXPIRED';
CREATE INDEX events_about_idx ON events (tenant_id, substr(event_key, length(kind) + 2, 36));

-- +goose Down
DROP INDEX events_about_idx;
DROP INDEX sessions_unpaid_idx;
DROP INDEX transactions_payer_idx;
DROP INDEX leads_erase_idx;
