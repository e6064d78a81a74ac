-- +goose NO TRANSACTION
-- +goose Up
-- A merchant's sessions in order of their creation, by status. Built while others
-- write; what an interrupted try has left goes first.
DROP INDEX CONCURRENTLY IF EXISTS sessions_status_idx;
CREATE INDEX CONCURRENTLY sessions_status_idx ON sessions (tenant_id, status, created_at DESC, id DESC);

-- +goose Down
DROP INDEX CONCURRENTLY sessions_status_idx;
