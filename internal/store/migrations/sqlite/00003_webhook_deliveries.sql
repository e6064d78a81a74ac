-- +goose Up
-- What became of sending an event. The columns stand in the event's own row, so
-- that a payment writes nothing more than the event. next_attempt_at is NULL
-- for a delivery that is in line, and an instant of real time for one that
-- waits after a failure.
ALTER TABLE events ADD COLUMN delivery_status TEXT NOT NULL DEFAULT 'pending';
ALTER TABLE events ADD COLUMN attempt_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN failure_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN next_attempt_at INTEGER;
CREATE INDEX events_due_idx ON events (tenant_id, webhook_profile_id, id)
    WHERE delivery_status = 'pending' AND next_attempt_at IS NULL AND webhook_profile_id IS NOT NULL;
CREATE INDEX events_retry_idx ON events (tenant_id, webhook_profile_id, next_attempt_at)
    WHERE next_attempt_at IS NOT NULL;
CREATE INDEX events_failed_idx ON events (tenant_id, webhook_profile_id, id) WHERE delivery_status = 'failed';

-- Who is working on a receiver, and whether it is given a rest. A row appears
-- with the first delivery.
CREATE TABLE webhook_endpoints (
    tenant_id          TEXT    NOT NULL,
    webhook_profile_id TEXT    NOT NULL,
    lease_owner        TEXT    NOT NULL,
    leased_until       INTEGER NOT NULL,
    failure_count      INTEGER NOT NULL,
    pause_count        INTEGER NOT NULL,
    paused_until       INTEGER NOT NULL,
    CONSTRAINT webhook_endpoints_webhook_profile_id_key PRIMARY KEY (tenant_id, webhook_profile_id)
) STRICT;

-- The log of attempts. Event ids begin with their time, so that the primary key
-- also finds what is old.
CREATE TABLE webhook_attempts (
    tenant_id    TEXT    NOT NULL,
    event_id     TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    number       INTEGER NOT NULL,
    attempted_at INTEGER NOT NULL,
    duration_us  INTEGER NOT NULL,
    status_code  INTEGER NOT NULL,
    error        TEXT    NOT NULL,
    answer       TEXT    NOT NULL,
    CONSTRAINT webhook_attempts_event_id_id_key PRIMARY KEY (tenant_id, event_id, id)
) STRICT;

-- +goose Down
DROP TABLE webhook_attempts;
DROP TABLE webhook_endpoints;
DROP INDEX events_due_idx;
DROP INDEX events_retry_idx;
DROP INDEX events_failed_idx;
ALTER TABLE events DROP COLUMN delivery_status;
ALTER TABLE events DROP COLUMN attempt_count;
ALTER TABLE events DROP COLUMN failure_count;
ALTER TABLE events DROP COLUMN next_attempt_at;
