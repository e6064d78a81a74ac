-- +goose Up
-- Processors' files have two ids of a payment: their unique one, which is the
-- gateway_reference, and that of the transaction.
ALTER TABLE transactions ADD COLUMN processor_id text NOT NULL DEFAULT '';
ALTER TABLE staged_transactions ADD COLUMN processor_id text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE staged_transactions DROP COLUMN processor_id;
ALTER TABLE transactions DROP COLUMN processor_id;
