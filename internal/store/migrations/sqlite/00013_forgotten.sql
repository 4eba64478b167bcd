-- +goose Up
-- How often in a row the agent, asked about a task, did not know it (no more than is of
-- interest), and when it said so first.
ALTER TABLE task ADD COLUMN forgotten_checks BIGINT NOT NULL DEFAULT 0;
ALTER TABLE task ADD COLUMN forgotten_us BIGINT;
CREATE INDEX task_forgotten ON task (organisation_id, updated_us DESC, id DESC) WHERE forgotten_checks >= 2 AND merged_into IS NULL;

-- +goose Down
DROP INDEX task_forgotten;
ALTER TABLE task DROP COLUMN forgotten_us;
ALTER TABLE task DROP COLUMN forgotten_checks;
