-- +goose Up
-- Why a subscription has ended, with the bank's code, and the periods whose money
-- came back while another was being collected.
ALTER TABLE subscriptions ADD COLUMN cancel_reason text NOT NULL DEFAULT '';
ALTER TABLE subscriptions ADD COLUMN cancel_code text NOT NULL DEFAULT '';
ALTER TABLE subscriptions ADD COLUMN owed_periods text NOT NULL DEFAULT '';
-- The last collection counts the first payment too.
UPDATE subscriptions SET last_billed_at = started_at WHERE last_billed_at IS NULL AND revenue_minor > 0;

-- A period whose money came back is collected again.
DROP INDEX transactions_subscription_id_billing_period_key;
CREATE UNIQUE INDEX transactions_subscription_id_billing_period_key
    ON transactions (tenant_id, subscription_id, billing_period)
    WHERE billing_period IS NOT NULL AND status NOT IN ('declined', 'charged_back');

-- Gateway accounts through which nothing is billed for now: until an instant while
-- the gateway is away, until a person says so after a bank blamed us.
CREATE TABLE rebill_pauses (
    tenant_id    uuid   NOT NULL,
    gateway_id   uuid   NOT NULL,
    reason       text   NOT NULL,
    reason_code  text   NOT NULL,
    since        bigint NOT NULL,
    paused_until bigint,
    CONSTRAINT rebill_pauses_gateway_id_key PRIMARY KEY (tenant_id, gateway_id)
);

-- +goose Down
DROP TABLE rebill_pauses;
DROP INDEX transactions_subscription_id_billing_period_key;
CREATE UNIQUE INDEX transactions_subscription_id_billing_period_key
    ON transactions (tenant_id, subscription_id, billing_period)
    WHERE billing_period IS NOT NULL AND status <> 'declined';
ALTER TABLE subscriptions DROP COLUMN owed_periods;
ALTER TABLE subscriptions DROP COLUMN cancel_code;
ALTER TABLE subscriptions DROP COLUMN cancel_reason;
