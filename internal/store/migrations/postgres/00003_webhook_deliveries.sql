-- +goose Up
-- What became of sending an event. The columns stand in the event's own row, so
-- that a payment writes nothing more than the event. next_attempt_at is NULL
-- for a delivery that is in line, and an instant of real time for one that
-- waits after a failure.
ALTER TABLE events
    ADD COLUMN delivery_status text   NOT NULL DEFAULT 'pending',
    ADD COLUMN attempt_count   bigint NOT NULL DEFAULT 0,
    ADD COLUMN failure_count   bigint NOT NULL DEFAULT 0,
    ADD COLUMN next_attempt_at bigint;
CREATE INDEX events_due_idx ON events (tenant_id, webhook_profile_id, id)
    WHERE delivery_status = 'pending' AND next_attempt_at IS NULL AND webhook_profile_id IS NOT NULL;
CREATE INDEX events_retry_idx ON events (tenant_id, webhook_profile_id, next_attempt_at)
    WHERE next_attempt_at IS NOT NULL;
CREATE INDEX events_failed_idx ON events (tenant_id, webhook_profile_id, id) WHERE delivery_status = 'failed';

-- Who is working on a receiver, and whether it is given a rest. A row appears
-- with the first delivery.
CREATE TABLE webhook_endpoints (
    tenant_id          uuid   NOT NULL,
    webhook_profile_id uuid   NOT NULL,
    lease_owner        uuid   NOT NULL,
    leased_until       bigint NOT NULL,
    failure_count      bigint NOT NULL,
    pause_count        bigint NOT NULL,
    paused_until       bigint NOT NULL,
    CONSTRAINT webhook_endpoints_webhook_profile_id_key PRIMARY KEY (tenant_id, webhook_profile_id)
);

-- The log of attempts. Event ids begin with their time, so that the primary key
-- also finds what is old.
CREATE TABLE webhook_attempts (
    tenant_id    uuid   NOT NULL,
    event_id     uuid   NOT NULL,
    id           uuid   NOT NULL,
    number       bigint NOT NULL,
    attempted_at bigint NOT NULL,
    duration_us  bigint NOT NULL,
    status_code  bigint NOT NULL,
    error        text   NOT NULL,
    answer       text   NOT NULL,
    CONSTRAINT webhook_attempts_event_id_id_key PRIMARY KEY (tenant_id, event_id, id)
);

-- +goose Down
DROP TABLE webhook_attempts, webhook_endpoints;
DROP INDEX events_due_idx, events_retry_idx, events_failed_idx;
ALTER TABLE events
    DROP COLUMN delivery_status,
    DROP COLUMN attempt_count,
    DROP COLUMN failure_count,
    DROP COLUMN next_attempt_at;
