-- +goose Up
-- A cancel has a place in its task's timeline; NULL for a send, whose message has one.
ALTER TABLE command ADD COLUMN seq BIGINT;
ALTER TABLE command ADD COLUMN version BIGINT NOT NULL DEFAULT 0;
-- Whether the agent has it and refused it: one that failed otherwise never arrived.
ALTER TABLE command ADD COLUMN refused BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX command_task ON command (task_id, id);
-- Lower-case text, for the search, as a message has it.
ALTER TABLE artifact ADD COLUMN search TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE artifact DROP COLUMN search;
DROP INDEX command_task;
ALTER TABLE command DROP COLUMN refused;
ALTER TABLE command DROP COLUMN version;
ALTER TABLE command DROP COLUMN seq;
