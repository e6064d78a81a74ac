-- +goose Up
-- When a payment that was taken in is collected, as its payer was told. NULL where
-- the gateway does not say.
ALTER TABLE transactions ADD COLUMN due_date text;

-- What is to be prepared at one account before it is due, and the collections of
-- subscriptions that are not billed any more.
CREATE INDEX subscriptions_ahead_idx ON subscriptions (tenant_id, gateway_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX subscriptions_ended_idx ON subscriptions (tenant_id, open_transaction_id)
    WHERE open_transaction_id IS NOT NULL AND status NOT IN ('ACTIVE', 'PAST_DUE');

-- +goose Down
DROP INDEX subscriptions_ended_idx;
DROP INDEX subscriptions_ahead_idx;
ALTER TABLE transactions DROP COLUMN due_date;
