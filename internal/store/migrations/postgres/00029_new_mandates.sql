-- +goose Up
-- A payer can give a subscription another mandate, in a session of its own.
ALTER TABLE sessions ADD COLUMN renews_subscription_id uuid;
ALTER TABLE subscriptions ADD COLUMN mandate_session_id uuid;

-- +goose Down
ALTER TABLE subscriptions DROP COLUMN mandate_session_id;
ALTER TABLE sessions DROP COLUMN renews_subscription_id;
