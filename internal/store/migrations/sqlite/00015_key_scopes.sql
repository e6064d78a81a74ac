-- +goose Up
-- What an API key opens. Those that are there keep what they had.
ALTER TABLE api_keys ADD COLUMN scopes text NOT NULL DEFAULT 'payments reports';

-- +goose Down
ALTER TABLE api_keys DROP COLUMN scopes;
