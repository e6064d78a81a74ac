-- +goose NO TRANSACTION
-- +goose Up
-- What was sent to an endpoint, from the newest on: among a million events of a tenant, one
-- to which little goes took seconds to list. Built while others write; what an interrupted
-- try has left goes first.
DROP INDEX CONCURRENTLY IF EXISTS events_endpoint_idx;
CREATE INDEX CONCURRENTLY events_endpoint_idx ON events (tenant_id, webhook_profile_id, id) WHERE webhook_profile_id IS NOT NULL;

-- +goose Down
DROP INDEX CONCURRENTLY events_endpoint_idx;
