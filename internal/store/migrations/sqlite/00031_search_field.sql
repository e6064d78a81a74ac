-- +goose Up
-- What operators type into the search field: the last digits of an account, an amount, a
-- name, a mandate's reference.
CREATE INDEX transactions_last4_idx ON transactions (tenant_id, substr(iban_masked, length(iban_masked) - 3), id) WHERE iban_masked <> '';
CREATE INDEX transactions_amount_idx ON transactions (tenant_id, amount_minor, id);
CREATE INDEX transactions_holder_idx ON transactions (tenant_id, lower(holder_name), id);
CREATE INDEX transactions_mandate_reference_idx ON transactions (tenant_id, mandate_reference, id) WHERE mandate_reference <> '';
CREATE INDEX leads_name_idx ON leads (tenant_id, lower(first_name || ' ' || last_name), id);
CREATE INDEX leads_last_name_idx ON leads (tenant_id, lower(last_name), id);

-- +goose Down
DROP INDEX leads_last_name_idx;
DROP INDEX leads_name_idx;
DROP INDEX transactions_mandate_reference_idx;
DROP INDEX transactions_holder_idx;
DROP INDEX transactions_amount_idx;
DROP INDEX transactions_last4_idx;
