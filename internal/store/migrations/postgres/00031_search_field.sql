-- +goose NO TRANSACTION
-- +goose Up
-- What operators type into the search field: the last digits of an account, an amount, a
-- name, a mandate's reference. Built while others write; what an interrupted try has left
-- goes first.
DROP INDEX CONCURRENTLY IF EXISTS transactions_last4_idx;
CREATE INDEX CONCURRENTLY transactions_last4_idx ON transactions (tenant_id, substr(iban_masked, length(iban_masked) - 3), id) WHERE iban_masked <> '';
DROP INDEX CONCURRENTLY IF EXISTS transactions_amount_idx;
CREATE INDEX CONCURRENTLY transactions_amount_idx ON transactions (tenant_id, amount_minor, id);
DROP INDEX CONCURRENTLY IF EXISTS transactions_holder_idx;
CREATE INDEX CONCURRENTLY transactions_holder_idx ON transactions (tenant_id, lower(holder_name), id);
DROP INDEX CONCURRENTLY IF EXISTS transactions_mandate_reference_idx;
CREATE INDEX CONCURRENTLY transactions_mandate_reference_idx ON transactions (tenant_id, mandate_reference, id) WHERE mandate_reference <> '';
DROP INDEX CONCURRENTLY IF EXISTS leads_name_idx;
CREATE INDEX CONCURRENTLY leads_name_idx ON leads (tenant_id, lower(first_name || ' ' || last_name), id);
DROP INDEX CONCURRENTLY IF EXISTS leads_last_name_idx;
CREATE INDEX CONCURRENTLY leads_last_name_idx ON leads (tenant_id, lower(last_name), id);

-- +goose Down
DROP INDEX CONCURRENTLY leads_last_name_idx;
DROP INDEX CONCURRENTLY leads_name_idx;
DROP INDEX CONCURRENTLY transactions_mandate_reference_idx;
DROP INDEX CONCURRENTLY transactions_holder_idx;
DROP INDEX CONCURRENTLY transactions_amount_idx;
DROP INDEX CONCURRENTLY transactions_last4_idx;
