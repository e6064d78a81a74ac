-- +goose Up
-- A commit writes whole pages, and a new row's entry in an index that begins with the tenant
-- is on another page for each tenant (docs/adr/0053). Ids begin with their time: by lead, the
-- new sessions of all tenants stand side by side. An index that grows at the end of a range
-- is split less often than one that grows at its beginning, and is read both ways. A full
-- name is found by the surname in it.
DROP INDEX sessions_lead_id_key;
CREATE UNIQUE INDEX sessions_lead_id_key ON sessions (lead_id, tenant_id) WHERE holds_lead;
DROP INDEX sessions_lead_idx;
CREATE INDEX sessions_lead_idx ON sessions (lead_id, tenant_id, id);
DROP INDEX sessions_status_idx;
CREATE INDEX sessions_status_idx ON sessions (tenant_id, status, created_at, id);
DROP INDEX leads_name_idx;

-- +goose Down
CREATE INDEX leads_name_idx ON leads (tenant_id, lower(first_name || ' ' || last_name), id);
DROP INDEX sessions_status_idx;
CREATE INDEX sessions_status_idx ON sessions (tenant_id, status, created_at DESC, id DESC);
DROP INDEX sessions_lead_idx;
CREATE INDEX sessions_lead_idx ON sessions (tenant_id, lead_id, id);
DROP INDEX sessions_lead_id_key;
CREATE UNIQUE INDEX sessions_lead_id_key ON sessions (tenant_id, lead_id) WHERE holds_lead;
