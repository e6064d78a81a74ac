-- +goose Up
-- What was sent to an endpoint, from the newest on: among a million events of a tenant, one
-- to which little goes took seconds to list.
CREATE INDEX events_endpoint_idx ON events (tenant_id, webhook_profile_id, id) WHERE webhook_profile_id IS NOT NULL;

-- +goose Down
DROP INDEX events_endpoint_idx;
