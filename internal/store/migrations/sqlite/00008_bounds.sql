-- +goose Up
-- Secrets of credentials that have ended, to keep them out of what agents still
-- repeat: the values alone, of which no credential can be made.
CREATE TABLE former_secret (
    credential_id   TEXT PRIMARY KEY REFERENCES credential (id),
    organisation_id TEXT NOT NULL,
    agent_id        TEXT NOT NULL REFERENCES agent (id),
    sealed          TEXT NOT NULL CHECK (sealed <> ''), -- as a compact JWE
    ended_us        BIGINT NOT NULL
);
CREATE INDEX former_secret_agent ON former_secret (agent_id, ended_us DESC);
CREATE INDEX former_secret_ended ON former_secret (ended_us);

-- What the ledger has of a task, and what it leaves out beyond the limits.
ALTER TABLE task ADD COLUMN ledger_events BIGINT NOT NULL DEFAULT 0;
ALTER TABLE task ADD COLUMN ledger_bytes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE task ADD COLUMN cut_events BIGINT NOT NULL DEFAULT 0; -- of which not everything is kept, or nothing
ALTER TABLE task ADD COLUMN cut_bytes BIGINT NOT NULL DEFAULT 0;  -- that are not kept
UPDATE task SET ledger_events = l.events, ledger_bytes = l.bytes FROM (
    SELECT task_id, COUNT(*) AS events, SUM(LENGTH(raw) + COALESCE(LENGTH(payload), 0)) AS bytes FROM event GROUP BY task_id) l
WHERE l.task_id = task.id;
-- How long raw was, if it is not kept; then payload is what a replay needs of it.
ALTER TABLE event ADD COLUMN cut_size BIGINT;

-- +goose Down
ALTER TABLE event DROP COLUMN cut_size;
ALTER TABLE task DROP COLUMN cut_bytes;
ALTER TABLE task DROP COLUMN cut_events;
ALTER TABLE task DROP COLUMN ledger_bytes;
ALTER TABLE task DROP COLUMN ledger_events;
DROP TABLE former_secret;
