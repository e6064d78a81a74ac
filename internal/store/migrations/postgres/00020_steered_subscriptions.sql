-- +goose Up
-- What people do to subscriptions: pause them, have them end with their period, move
-- the rhythm (from a period on it counts from another day).
ALTER TABLE subscriptions ADD COLUMN paused_at bigint;
ALTER TABLE subscriptions ADD COLUMN ends_on text;
ALTER TABLE subscriptions ADD COLUMN ends_by text NOT NULL DEFAULT '';
ALTER TABLE subscriptions ADD COLUMN rhythm_date text;
ALTER TABLE subscriptions ADD COLUMN rhythm_period bigint NOT NULL DEFAULT 0;
ALTER TABLE subscriptions ADD COLUMN steered_at bigint;

-- +goose Down
ALTER TABLE subscriptions DROP COLUMN steered_at;
ALTER TABLE subscriptions DROP COLUMN rhythm_period;
ALTER TABLE subscriptions DROP COLUMN rhythm_date;
ALTER TABLE subscriptions DROP COLUMN ends_by;
ALTER TABLE subscriptions DROP COLUMN ends_on;
ALTER TABLE subscriptions DROP COLUMN paused_at;
