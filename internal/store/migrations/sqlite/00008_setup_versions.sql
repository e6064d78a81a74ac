-- +goose Up
-- Records of a set-up count how often they were written, so that whoever changes
-- one can say which version he has seen.
ALTER TABLE tenants ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE setup_records ADD COLUMN version INTEGER NOT NULL DEFAULT 1;

-- +goose Down
ALTER TABLE setup_records DROP COLUMN version;
ALTER TABLE tenants DROP COLUMN version;
