-- +goose Up
-- A merchant's sessions in order of their creation, by status.
CREATE INDEX sessions_status_idx ON sessions (tenant_id, status, created_at DESC, id DESC);

-- +goose Down
DROP INDEX sessions_status_idx;
