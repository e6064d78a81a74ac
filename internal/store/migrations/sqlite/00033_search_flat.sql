-- +goose Up
-- What the search field still looked for record by record: the address and the gateway's
-- reference of a chargeback, the price of a subscription.
CREATE INDEX chargebacks_email_idx ON chargebacks (tenant_id, lower(email), id) WHERE email <> '';
CREATE INDEX chargebacks_gateway_reference_idx ON chargebacks (tenant_id, gateway_reference, id) WHERE gateway_reference <> '';
CREATE INDEX subscriptions_amount_idx ON subscriptions (tenant_id, amount_minor, id);

-- +goose Down
DROP INDEX subscriptions_amount_idx;
DROP INDEX chargebacks_gateway_reference_idx;
DROP INDEX chargebacks_email_idx;
