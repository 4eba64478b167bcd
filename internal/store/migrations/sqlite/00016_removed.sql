-- +goose Up
-- When an agent was removed from the catalogue, and by whom. Its history stays.
ALTER TABLE agent ADD COLUMN removed_us BIGINT;
ALTER TABLE agent ADD COLUMN removed_by TEXT NOT NULL DEFAULT '';
ALTER TABLE agent ADD COLUMN removed_by_name TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE agent DROP COLUMN removed_by_name;
ALTER TABLE agent DROP COLUMN removed_by;
ALTER TABLE agent DROP COLUMN removed_us;
