-- +goose Up
-- Nothing changes here: SQLite plans a trigger together with the statement that fires it.
SELECT 1;

-- +goose Down
SELECT 1;
