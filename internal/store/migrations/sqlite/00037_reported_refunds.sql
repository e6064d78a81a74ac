-- +goose Up
-- Refunds that processors have reported and that belong to no payment yet, by the day that
-- they are named after: whoever refunds a payment looks whether one of them is of it.
CREATE INDEX transactions_reported_refund_idx ON transactions (tenant_id, substr(merchant_transaction_id, 1, 13))
    WHERE type = 'sdd_refund' AND refund_of IS NULL;

-- +goose Down
DROP INDEX transactions_reported_refund_idx;
