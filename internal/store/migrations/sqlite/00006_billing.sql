-- +goose Up
-- What billing knows of a subscription: the period that is next, counted from
-- the anchor, how often it was tried, the collection that is waited for, its
-- place in the mandate's life, and when the mandate was last used. due_at is when
-- there is something to do; it is NULL while nothing is expected, which keeps the
-- index as small as the work that it finds.
ALTER TABLE subscriptions ADD COLUMN period INTEGER NOT NULL DEFAULT 1;
ALTER TABLE subscriptions ADD COLUMN period_tries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE subscriptions ADD COLUMN open_transaction_id TEXT;
ALTER TABLE subscriptions ADD COLUMN sequence_type TEXT NOT NULL DEFAULT 'RCUR';
ALTER TABLE subscriptions ADD COLUMN mandate_used_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE subscriptions ADD COLUMN due_at INTEGER;
-- Subscriptions from before were never billed.
UPDATE subscriptions SET mandate_used_at = started_at,
    period = CASE WHEN trial_end_date IS NULL THEN 1 ELSE 0 END,
    due_at = CASE WHEN status <> 'CANCELLED' THEN unixepoch(COALESCE(next_billing_date,
        date(started_at / 1000000, 'unixepoch', '+36 months', 'floor', '+1 day'))) * 1000000 END;
UPDATE subscriptions SET sequence_type = 'FRST' FROM transactions t
    WHERE t.tenant_id = subscriptions.tenant_id AND t.subscription_id = subscriptions.id AND t.type = 'sdd_mandate';
UPDATE subscriptions SET open_transaction_id = t.id, due_at = NULL FROM transactions t
    WHERE t.tenant_id = subscriptions.tenant_id AND t.subscription_id = subscriptions.id AND t.status = 'pending'
        AND t.refund_of IS NULL;
CREATE INDEX subscriptions_due_idx ON subscriptions (due_at) WHERE due_at IS NOT NULL;

-- One rebill per subscription and period: another may only follow one that was
-- refused, whatever crashes or runs twice.
ALTER TABLE transactions ADD COLUMN billing_period INTEGER;
CREATE UNIQUE INDEX transactions_subscription_id_billing_period_key
    ON transactions (tenant_id, subscription_id, billing_period)
    WHERE billing_period IS NOT NULL AND status <> 'declined';

-- A program from before would start subscriptions that are never billed.
UPDATE schema_compatibility SET oldest_version = 6;

-- +goose Down
UPDATE schema_compatibility SET oldest_version = 1;
DROP INDEX transactions_subscription_id_billing_period_key;
ALTER TABLE transactions DROP COLUMN billing_period;
DROP INDEX subscriptions_due_idx;
ALTER TABLE subscriptions DROP COLUMN period;
ALTER TABLE subscriptions DROP COLUMN period_tries;
ALTER TABLE subscriptions DROP COLUMN open_transaction_id;
ALTER TABLE subscriptions DROP COLUMN sequence_type;
ALTER TABLE subscriptions DROP COLUMN mandate_used_at;
ALTER TABLE subscriptions DROP COLUMN due_at;
