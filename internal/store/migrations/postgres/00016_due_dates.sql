-- +goose NO TRANSACTION
-- +goose Up
-- When a payment that was taken in is collected, as its payer was told. NULL where
-- the gateway does not say.
ALTER TABLE transactions ADD COLUMN IF NOT EXISTS due_date text;

-- What is to be prepared at one account before it is due, and the collections of
-- subscriptions that are not billed any more. Built while others write; what an
-- interrupted try has left goes first.
DROP INDEX CONCURRENTLY IF EXISTS subscriptions_ahead_idx;
CREATE INDEX CONCURRENTLY subscriptions_ahead_idx ON subscriptions (tenant_id, gateway_id, due_at) WHERE due_at IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS subscriptions_ended_idx;
CREATE INDEX CONCURRENTLY subscriptions_ended_idx ON subscriptions (tenant_id, open_transaction_id)
    WHERE open_transaction_id IS NOT NULL AND status NOT IN ('ACTIVE', 'PAST_DUE');

-- +goose Down
DROP INDEX subscriptions_ended_idx;
DROP INDEX subscriptions_ahead_idx;
ALTER TABLE transactions DROP COLUMN due_date;
