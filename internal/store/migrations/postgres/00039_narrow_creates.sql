-- +goose NO TRANSACTION
-- +goose Up
-- A full name is found by the surname in it: one index less for each new lead. The order of
-- columns, which SQLite changes with this (docs/adr/0053), costs nothing here: a commit
-- writes down entries and not pages.
DROP INDEX CONCURRENTLY IF EXISTS leads_name_idx;

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS leads_name_idx;
CREATE INDEX CONCURRENTLY leads_name_idx ON leads (tenant_id, lower(first_name || ' ' || last_name), id);
