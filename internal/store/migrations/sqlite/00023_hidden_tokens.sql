-- +goose Up
-- Whoever has a copy of the database must not be able to pay open sessions. token
-- holds a hash, and the token itself is sealed, once no program of an older schema
-- runs (schema_compatibility); until then token holds what those look for.
ALTER TABLE sessions ADD COLUMN token_sealed TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN token_sealed TEXT NOT NULL DEFAULT '';
-- Whether every token is hidden.
ALTER TABLE deployment ADD COLUMN tokens_hidden INTEGER NOT NULL DEFAULT FALSE;
-- No older program has ever used a database without tenants.
UPDATE deployment SET tokens_hidden = TRUE WHERE NOT EXISTS (SELECT 1 FROM tenants);
UPDATE schema_compatibility SET oldest_version = 23 WHERE NOT EXISTS (SELECT 1 FROM tenants);

-- +goose Down
UPDATE schema_compatibility SET oldest_version = 6;
ALTER TABLE deployment DROP COLUMN tokens_hidden;
ALTER TABLE events DROP COLUMN token_sealed;
ALTER TABLE sessions DROP COLUMN token_sealed;
