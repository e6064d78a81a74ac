-- +goose Up
-- Records in the order in which they last changed, for whoever follows the changes.
CREATE INDEX transactions_updated_idx ON transactions (tenant_id, updated_at DESC, id DESC) WHERE processed_at IS NOT NULL;
CREATE INDEX chargebacks_updated_idx ON chargebacks (tenant_id, updated_at DESC, id DESC);
CREATE INDEX subscriptions_updated_idx ON subscriptions (tenant_id, updated_at DESC, id DESC);

-- +goose Down
DROP INDEX subscriptions_updated_idx;
DROP INDEX chargebacks_updated_idx;
DROP INDEX transactions_updated_idx;
