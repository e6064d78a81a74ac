-- +goose Up
-- What billing knows of a subscription: the period that is next, counted from
-- the anchor, how often it was tried, the collection that is waited for, its
-- place in the mandate's life, and when the mandate was last used. due_at is when
-- there is something to do; it is NULL while nothing is expected, which keeps the
-- index as small as the work that it finds.
ALTER TABLE subscriptions
    ADD COLUMN period              bigint NOT NULL DEFAULT 1,
    ADD COLUMN period_tries        bigint NOT NULL DEFAULT 0,
    ADD COLUMN open_transaction_id uuid,
    ADD COLUMN sequence_type       text   NOT NULL DEFAULT 'RCUR',
    ADD COLUMN mandate_used_at     bigint NOT NULL DEFAULT 0,
    ADD COLUMN due_at              bigint;
-- Subscriptions from before were never billed.
UPDATE subscriptions SET mandate_used_at = started_at,
    period = CASE WHEN trial_end_date IS NULL THEN 1 ELSE 0 END,
    due_at = CASE WHEN status <> 'CANCELLED' THEN EXTRACT(EPOCH FROM COALESCE(next_billing_date::date,
        (to_timestamp(started_at / 1000000) AT TIME ZONE 'UTC')::date + INTERVAL '36 months 1 day'))::bigint * 1000000 END;
UPDATE subscriptions s SET sequence_type = 'FRST' FROM transactions t
    WHERE t.tenant_id = s.tenant_id AND t.subscription_id = s.id AND t.type = 'sdd_mandate';
UPDATE subscriptions s SET open_transaction_id = t.id, due_at = NULL FROM transactions t
    WHERE t.tenant_id = s.tenant_id AND t.subscription_id = s.id AND t.status = 'pending' AND t.refund_of IS NULL;
CREATE INDEX subscriptions_due_idx ON subscriptions (due_at) WHERE due_at IS NOT NULL;

-- One rebill per subscription and period: another may only follow one that was
-- refused, whatever crashes or runs twice.
ALTER TABLE transactions ADD COLUMN billing_period bigint;
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
ALTER TABLE subscriptions
    DROP COLUMN period,
    DROP COLUMN period_tries,
    DROP COLUMN open_transaction_id,
    DROP COLUMN sequence_type,
    DROP COLUMN mandate_used_at,
    DROP COLUMN due_at;
