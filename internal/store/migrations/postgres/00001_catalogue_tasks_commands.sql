-- +goose Up
-- Times are microseconds since 1970 UTC. JSON from agents is TEXT or BYTEA,
-- exactly as it came. IDs are UUIDv7 in text.

CREATE TABLE agent (
    id                TEXT PRIMARY KEY,
    organisation_id   TEXT NOT NULL,
    card_url          TEXT NOT NULL,
    resolved_card_url TEXT NOT NULL DEFAULT '',
    name              TEXT NOT NULL, -- the card's, or the host of card_url
    card_id           TEXT,
    health_status     TEXT NOT NULL CHECK (health_status IN ('unknown', 'reachable', 'unreachable')),
    health_error      TEXT NOT NULL DEFAULT '',
    health_attempts   TEXT NOT NULL DEFAULT '[]',
    checked_us        BIGINT,
    refresh_us        BIGINT NOT NULL,
    created_us        BIGINT NOT NULL,
    updated_us        BIGINT NOT NULL,
    UNIQUE (organisation_id, card_url)
);
CREATE INDEX agent_refresh ON agent (refresh_us);

-- Every version of every card that was fetched.
CREATE TABLE agent_card (
    id         TEXT PRIMARY KEY,
    agent_id   TEXT NOT NULL REFERENCES agent (id),
    url        TEXT NOT NULL,
    raw        BYTEA NOT NULL,
    sha256     TEXT NOT NULL,
    fetched_us BIGINT NOT NULL
);
ALTER TABLE agent ADD FOREIGN KEY (card_id) REFERENCES agent_card (id);
CREATE INDEX agent_card_agent ON agent_card (agent_id, fetched_us);

CREATE TABLE task (
    id              TEXT PRIMARY KEY,
    organisation_id TEXT NOT NULL,
    agent_id        TEXT NOT NULL REFERENCES agent (id),
    tenant          TEXT NOT NULL DEFAULT '',
    remote_task_id  TEXT,
    context_id      TEXT NOT NULL DEFAULT '',
    kind            TEXT NOT NULL CHECK (kind IN ('task', 'message')),
    state           TEXT NOT NULL,
    state_us        BIGINT,            -- the agent's own time of that state, if it gave one
    question_id     TEXT NOT NULL DEFAULT '', -- the A2A messageId of the open question, or ''
    question_sha256 TEXT NOT NULL DEFAULT '', -- of its content
    question_number BIGINT NOT NULL DEFAULT 0, -- how many questions were asked
    answered_by     TEXT NOT NULL DEFAULT '', -- the command that answers the question, or ''
    needs_you       BOOLEAN NOT NULL DEFAULT FALSE,
    snapshot_sha256 TEXT NOT NULL DEFAULT '', -- of the last snapshot that was taken in
    title           TEXT NOT NULL,
    title_search    TEXT NOT NULL,
    next_seq        BIGINT NOT NULL DEFAULT 1,
    version         BIGINT NOT NULL DEFAULT 1,
    merged_into     TEXT REFERENCES task (id),
    check_us        BIGINT,            -- when to ask the agent next; NULL: not needed
    check_interval  BIGINT NOT NULL DEFAULT 0,
    check_error     TEXT NOT NULL DEFAULT '',
    observed_us     BIGINT,            -- when the agent was last heard
    created_us      BIGINT NOT NULL,
    updated_us      BIGINT NOT NULL,
    CHECK (answered_by = '' OR needs_you = FALSE)
);
CREATE UNIQUE INDEX task_remote ON task (agent_id, tenant, remote_task_id) WHERE remote_task_id IS NOT NULL;
CREATE INDEX task_newest ON task (organisation_id, updated_us DESC, id DESC) WHERE merged_into IS NULL;
CREATE INDEX task_needs_you ON task (organisation_id, updated_us DESC, id DESC) WHERE needs_you AND merged_into IS NULL;
CREATE INDEX task_check ON task (check_us) WHERE check_us IS NOT NULL;

-- The ledger: one row an observation, never changed.
CREATE TABLE event (
    id          TEXT PRIMARY KEY,
    task_id     TEXT NOT NULL REFERENCES task (id),
    source      TEXT NOT NULL CHECK (source IN ('reply', 'stream', 'poll')),
    source_key  TEXT NOT NULL,
    raw         BYTEA NOT NULL, -- the bytes received
    payload     BYTEA,          -- the A2A content in them; NULL if it is all of raw
    sha256      TEXT NOT NULL, -- of raw
    asked_us    BIGINT,        -- when it was asked for, for a poll
    received_us BIGINT NOT NULL,
    UNIQUE (task_id, source, source_key)
);
-- +goose StatementBegin
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the ledger is append-only';
END $$;
-- +goose StatementEnd
CREATE TRIGGER event_no_change BEFORE UPDATE OR DELETE ON event FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER event_no_truncate BEFORE TRUNCATE ON event FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE command (
    id              TEXT PRIMARY KEY,
    organisation_id TEXT NOT NULL,
    agent_id        TEXT NOT NULL REFERENCES agent (id),
    task_id         TEXT NOT NULL REFERENCES task (id),
    action          TEXT NOT NULL CHECK (action IN ('send', 'cancel')),
    message_id      TEXT NOT NULL,
    request         BYTEA NOT NULL,    -- what to send, without what the task knows at dispatch
    sha256          TEXT NOT NULL,    -- of what the caller asked for
    idempotency_key TEXT NOT NULL,
    answers         TEXT,             -- the messageId of the question that it answers
    question_number BIGINT,           -- and that question's number in its task
    status          TEXT NOT NULL CHECK (status IN ('pending', 'dispatching', 'succeeded', 'failed', 'uncertain')),
    error           TEXT NOT NULL DEFAULT '',
    attempts        INTEGER NOT NULL DEFAULT 0,
    run_us          BIGINT NOT NULL,
    owner           TEXT NOT NULL DEFAULT '',
    actor_id        TEXT NOT NULL,
    actor_name      TEXT NOT NULL,
    created_us      BIGINT NOT NULL,
    updated_us      BIGINT NOT NULL,
    UNIQUE (organisation_id, idempotency_key),
    CHECK (status <> 'dispatching' OR owner <> ''),
    CHECK ((answers IS NULL) = (question_number IS NULL))
);
-- One answer a question, whoever sends it: only a failed one may be repeated.
CREATE UNIQUE INDEX command_answer ON command (task_id, question_number) WHERE question_number IS NOT NULL AND status <> 'failed';
CREATE INDEX command_due ON command (run_us, id) WHERE status = 'pending';
CREATE INDEX command_dispatching ON command (owner) WHERE status = 'dispatching';
CREATE INDEX command_open ON command (task_id, created_us) WHERE status IN ('pending', 'dispatching');
-- A settled command stays settled, and only a claimed one settles.
-- +goose StatementBegin
CREATE FUNCTION refuse_command_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'no such change of a command''s status';
END $$;
-- +goose StatementEnd
CREATE TRIGGER command_states BEFORE UPDATE OF status ON command FOR EACH ROW
WHEN (NOT (OLD.status = NEW.status
    OR (OLD.status = 'pending' AND NEW.status IN ('dispatching'))
    OR (OLD.status = 'dispatching' AND NEW.status IN ('pending', 'succeeded', 'failed', 'uncertain'))))
EXECUTE FUNCTION refuse_command_status();

CREATE TABLE message (
    task_id         TEXT NOT NULL REFERENCES task (id),
    seq             BIGINT NOT NULL,
    version         BIGINT NOT NULL,
    message_id      TEXT NOT NULL,
    role            TEXT NOT NULL CHECK (role IN ('user', 'agent')),
    parts           TEXT NOT NULL,
    sha256          TEXT NOT NULL, -- of role and parts
    search          TEXT NOT NULL, -- lower-case text, for the search
    command_id      TEXT REFERENCES command (id),
    form_definition BYTEA,          -- the form that the message fills in, as it was drawn
    at_us           BIGINT NOT NULL,
    PRIMARY KEY (task_id, seq),
    UNIQUE (task_id, message_id, sha256)
);

CREATE TABLE artifact (
    task_id     TEXT NOT NULL REFERENCES task (id),
    seq         BIGINT NOT NULL,
    version     BIGINT NOT NULL,
    artifact_id TEXT NOT NULL,
    name        TEXT NOT NULL,
    description TEXT NOT NULL,
    complete    BOOLEAN NOT NULL,
    appended    BOOLEAN NOT NULL DEFAULT FALSE, -- it came in chunks: adjacent texts are one text
    sha256      TEXT NOT NULL DEFAULT '',       -- of the whole artifact as a snapshot gave it; '' after a chunk
    next_part   BIGINT NOT NULL DEFAULT 0,
    at_us       BIGINT NOT NULL,
    PRIMARY KEY (task_id, artifact_id)
);
CREATE TABLE artifact_part (
    task_id     TEXT NOT NULL,
    artifact_id TEXT NOT NULL,
    part        BIGINT NOT NULL,
    parts       TEXT NOT NULL, -- a JSON array: the parts of one chunk
    PRIMARY KEY (task_id, artifact_id, part),
    FOREIGN KEY (task_id, artifact_id) REFERENCES artifact (task_id, artifact_id)
);

CREATE TABLE transition (
    task_id TEXT NOT NULL REFERENCES task (id),
    seq     BIGINT NOT NULL,
    version BIGINT NOT NULL,
    state   TEXT NOT NULL,
    at_us   BIGINT NOT NULL,
    PRIMARY KEY (task_id, seq)
);

-- Bytes that agents sent as raw parts, by their digest.
CREATE TABLE blob (
    sha256     TEXT PRIMARY KEY,
    size       BIGINT NOT NULL,
    content    BYTEA NOT NULL,
    created_us BIGINT NOT NULL
);
CREATE TABLE task_blob (
    task_id    TEXT NOT NULL REFERENCES task (id),
    sha256     TEXT NOT NULL REFERENCES blob (sha256),
    filename   TEXT NOT NULL,
    media_type TEXT NOT NULL,
    PRIMARY KEY (task_id, sha256)
);
CREATE INDEX task_blob_blob ON task_blob (sha256);

-- +goose Down
DROP TABLE task_blob;
DROP TABLE blob;
DROP TABLE transition;
DROP TABLE artifact_part;
DROP TABLE artifact;
DROP TABLE message;
DROP TABLE command;
DROP FUNCTION refuse_command_status;
DROP TABLE event;
DROP FUNCTION refuse_change;
DROP TABLE task;
ALTER TABLE agent DROP COLUMN card_id;
DROP TABLE agent_card;
DROP TABLE agent;
