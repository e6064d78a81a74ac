-- +goose Up
-- When the gateways of a restored database had told what they knew. What may have been sent before that is
-- asked about before it is sent.
ALTER TABLE deployment ADD COLUMN recalled_at INTEGER;

-- +goose Down
ALTER TABLE deployment DROP COLUMN recalled_at;
