-- +goose Up
-- Pushes are a source of observations. SQLite cannot change a constraint, so the
-- ledger is written anew, row by row as it was, with its triggers.
CREATE TABLE event_new (
    id          TEXT PRIMARY KEY,
    task_id     TEXT NOT NULL REFERENCES task (id),
    source      TEXT NOT NULL CHECK (source IN ('reply', 'stream', 'poll', 'push')),
    source_key  TEXT NOT NULL,
    raw         BLOB NOT NULL, -- the bytes received
    payload     BLOB,          -- the A2A content in them; NULL if it is all of raw
    sha256      TEXT NOT NULL, -- of raw
    asked_us    BIGINT,        -- when it was asked for, for a poll
    received_us BIGINT NOT NULL,
    cut_size    BIGINT,        -- how long raw was, if it is not kept
    artifact_limit BIGINT NOT NULL DEFAULT 0,
    UNIQUE (task_id, source, source_key)
);
INSERT INTO event_new (id, task_id, source, source_key, raw, payload, sha256, asked_us, received_us, cut_size, artifact_limit)
    SELECT id, task_id, source, source_key, raw, payload, sha256, asked_us, received_us, cut_size, artifact_limit FROM event ORDER BY rowid;
DROP TABLE event;
ALTER TABLE event_new RENAME TO event;
-- +goose StatementBegin
CREATE TRIGGER event_no_update BEFORE UPDATE ON event BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER event_no_delete BEFORE DELETE ON event BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;
-- +goose StatementEnd

-- What an agent was asked to push about a task, and how far that has come.
CREATE TABLE push_registration (
    id            TEXT PRIMARY KEY,
    task_id       TEXT NOT NULL UNIQUE REFERENCES task (id),
    agent_id      TEXT NOT NULL REFERENCES agent (id),
    state         TEXT NOT NULL CHECK (state IN ('wanted', 'registered', 'failed', 'removing', 'removed')),
    origin        TEXT NOT NULL DEFAULT '', -- that the agent was given
    key_id        TEXT NOT NULL DEFAULT '', -- of the key that its secrets are derived from
    config_id     TEXT NOT NULL DEFAULT '', -- the agent's
    attempts      BIGINT NOT NULL DEFAULT 0, -- of what is to be done now
    due_us        BIGINT,                    -- when to do it, or to look again; NULL: never
    problem       TEXT NOT NULL DEFAULT '',  -- what went wrong last, in words
    pushed_us     BIGINT,                    -- when the agent pushed last
    window_us     BIGINT NOT NULL DEFAULT 0, -- when the minute began in which pushes are counted
    window_pushes BIGINT NOT NULL DEFAULT 0, -- how many there were in it
    created_us    BIGINT NOT NULL,
    updated_us    BIGINT NOT NULL
);
CREATE INDEX push_registration_due ON push_registration (due_us) WHERE due_us IS NOT NULL;

-- How an agent can be observed, beside asking it about each task.
CREATE TABLE agent_watch (
    agent_id        TEXT PRIMARY KEY REFERENCES agent (id),
    push_refused    TEXT NOT NULL DEFAULT '',  -- the card with which it refused to push, or ''
    push_problem    TEXT NOT NULL DEFAULT '',  -- in words
    sweep_us        BIGINT,                    -- when to list its tasks next; NULL: not known yet
    sweep_interval  BIGINT NOT NULL DEFAULT 0, -- the one that has passed
    swept_us        BIGINT,                    -- when its tasks were listed last
    sweep_refused   TEXT NOT NULL DEFAULT '',  -- the card with which it refused to list, or ''
    sweep_problem   TEXT NOT NULL DEFAULT ''   -- in words
);

-- The stream that told of the state, or wrote the artifact; '' if that was anything
-- else. And since when something is known to be missing, which a check brings.
ALTER TABLE task ADD COLUMN state_stream TEXT NOT NULL DEFAULT '';
ALTER TABLE task ADD COLUMN unsettled_us BIGINT;
ALTER TABLE artifact ADD COLUMN stream TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE artifact DROP COLUMN stream;
ALTER TABLE task DROP COLUMN unsettled_us;
ALTER TABLE task DROP COLUMN state_stream;
DROP TABLE agent_watch;
DROP TABLE push_registration;
-- What came by push stays in the ledger, under the name of the nearest source.
CREATE TABLE event_old (
    id          TEXT PRIMARY KEY,
    task_id     TEXT NOT NULL REFERENCES task (id),
    source      TEXT NOT NULL CHECK (source IN ('reply', 'stream', 'poll')),
    source_key  TEXT NOT NULL,
    raw         BLOB NOT NULL,
    payload     BLOB,
    sha256      TEXT NOT NULL,
    asked_us    BIGINT,
    received_us BIGINT NOT NULL,
    cut_size    BIGINT,
    artifact_limit BIGINT NOT NULL DEFAULT 0,
    UNIQUE (task_id, source, source_key)
);
INSERT INTO event_old (id, task_id, source, source_key, raw, payload, sha256, asked_us, received_us, cut_size, artifact_limit)
    SELECT id, task_id, CASE source WHEN 'push' THEN 'poll' ELSE source END, source_key, raw, payload, sha256, asked_us, received_us, cut_size, artifact_limit FROM event ORDER BY rowid;
DROP TABLE event;
ALTER TABLE event_old RENAME TO event;
-- +goose StatementBegin
CREATE TRIGGER event_no_update BEFORE UPDATE ON event BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER event_no_delete BEFORE DELETE ON event BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;
-- +goose StatementEnd
