-- +goose Up
-- What is in line and was not tried since it was written (docs/adr/0051). Such an event
-- says of itself what holds once its first attempt has been taken, so that a delivery
-- ends with the row here and leaves the event as it is. Programs of an older schema look
-- at the events alone: nothing is put in here until none of them runs (schema_compatibility).
-- It is empty again and again: pages that stay keep PostgreSQL from plans for an empty table.
CREATE TABLE events_in_line (
    tenant_id          uuid NOT NULL,
    webhook_profile_id uuid NOT NULL,
    event_id           uuid NOT NULL,
    CONSTRAINT events_in_line_webhook_profile_id_event_id_key PRIMARY KEY (tenant_id, webhook_profile_id, event_id)
) WITH (vacuum_truncate = false);
-- No older program has ever used a database without tenants.
UPDATE schema_compatibility SET oldest_version = 38 WHERE NOT EXISTS (SELECT 1 FROM tenants);

-- +goose Down
UPDATE events SET delivery_status = 'pending', attempt_count = 0
WHERE (tenant_id, webhook_profile_id, id) IN (SELECT tenant_id, webhook_profile_id, event_id FROM events_in_line);
DROP TABLE events_in_line;
UPDATE schema_compatibility SET oldest_version = 23 WHERE oldest_version = 38;
