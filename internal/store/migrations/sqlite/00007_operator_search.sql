-- +goose Up
-- What operators look for most: the sessions of a lead, and the transactions of
-- an order. Their other searches read along a primary key for a bounded number
-- of records, so that payments do not pay for an index per filter.
CREATE INDEX sessions_lead_idx ON sessions (tenant_id, lead_id, id);
CREATE INDEX transactions_order_idx ON transactions (tenant_id, order_id, id) WHERE order_id IS NOT NULL;

-- +goose Down
DROP INDEX transactions_order_idx;
DROP INDEX sessions_lead_idx;
