-- +goose NO TRANSACTION
-- +goose Up
-- Records in the order in which they last changed, for whoever follows the changes. Built while
-- others write; what an interrupted try has left goes first.
DROP INDEX CONCURRENTLY IF EXISTS transactions_updated_idx;
CREATE INDEX CONCURRENTLY transactions_updated_idx ON transactions (tenant_id, updated_at DESC, id DESC) WHERE processed_at IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS chargebacks_updated_idx;
CREATE INDEX CONCURRENTLY chargebacks_updated_idx ON chargebacks (tenant_id, updated_at DESC, id DESC);
DROP INDEX CONCURRENTLY IF EXISTS subscriptions_updated_idx;
CREATE INDEX CONCURRENTLY subscriptions_updated_idx ON subscriptions (tenant_id, updated_at DESC, id DESC);

-- +goose Down
DROP INDEX CONCURRENTLY subscriptions_updated_idx;
DROP INDEX CONCURRENTLY chargebacks_updated_idx;
DROP INDEX CONCURRENTLY transactions_updated_idx;
