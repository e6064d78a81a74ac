-- +goose Up
-- A database that was restored from a backup is behind its gateways. It says of
-- which instant it is until they have been asked what happened since; NULL
-- otherwise.
ALTER TABLE deployment ADD COLUMN restored_to bigint;

-- +goose Down
ALTER TABLE deployment DROP COLUMN restored_to;
