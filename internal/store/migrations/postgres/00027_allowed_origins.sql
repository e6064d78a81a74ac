-- +goose Up
-- The sites whose pages may call from browsers, separated by blanks; none admits all.
ALTER TABLE tenants ADD COLUMN allowed_origins text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE tenants DROP COLUMN allowed_origins;
