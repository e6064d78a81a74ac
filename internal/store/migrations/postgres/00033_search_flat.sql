-- +goose NO TRANSACTION
-- +goose Up
-- What the search field still looked for record by record: the address and the gateway's
-- reference of a chargeback, the price of a subscription. Built while others write; what an
-- interrupted try has left goes first.
DROP INDEX CONCURRENTLY IF EXISTS chargebacks_email_idx;
CREATE INDEX CONCURRENTLY chargebacks_email_idx ON chargebacks (tenant_id, lower(email), id) WHERE email <> '';
DROP INDEX CONCURRENTLY IF EXISTS chargebacks_gateway_reference_idx;
CREATE INDEX CONCURRENTLY chargebacks_gateway_reference_idx ON chargebacks (tenant_id, gateway_reference, id) WHERE gateway_reference <> '';
DROP INDEX CONCURRENTLY IF EXISTS subscriptions_amount_idx;
CREATE INDEX CONCURRENTLY subscriptions_amount_idx ON subscriptions (tenant_id, amount_minor, id);

-- +goose Down
DROP INDEX CONCURRENTLY subscriptions_amount_idx;
DROP INDEX CONCURRENTLY chargebacks_gateway_reference_idx;
DROP INDEX CONCURRENTLY chargebacks_email_idx;
