-- +goose Up
-- The evidence of a mandate is looked for by the reference that a bank names, and
-- by nothing else. Only payments of the hosted page have evidence, so that those of
-- merchants' servers, of files and of subscriptions do not pay for the index.
CREATE INDEX transactions_mandate_idx ON transactions (mandate_reference) WHERE source = 'hosted_page';

-- +goose Down
DROP INDEX transactions_mandate_idx;
