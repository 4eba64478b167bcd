-- +goose Up
-- The processes that share the work; times by the database's clock.
CREATE TABLE worker_lease (
    id         TEXT PRIMARY KEY,
    expires_us BIGINT NOT NULL
);
-- Who follows a task's stream, or '', and how often that changed: whoever is not
-- the owner in the current epoch can store nothing that a stream brings.
ALTER TABLE task ADD COLUMN stream_owner TEXT NOT NULL DEFAULT '';
ALTER TABLE task ADD COLUMN stream_epoch BIGINT NOT NULL DEFAULT 0;
CREATE INDEX task_stream ON task (stream_owner) WHERE stream_owner <> '';

-- +goose Down
DROP INDEX task_stream;
ALTER TABLE task DROP COLUMN stream_epoch;
ALTER TABLE task DROP COLUMN stream_owner;
DROP TABLE worker_lease;
