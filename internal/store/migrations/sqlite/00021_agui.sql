-- +goose Up
-- What AG-UI clients have begun. A thread is one person's with one agent, by the
-- client's own ID of it.
CREATE TABLE agui_thread (
    id              TEXT PRIMARY KEY,
    organisation_id TEXT NOT NULL REFERENCES organisation (id),
    person_id       TEXT NOT NULL CHECK (person_id <> ''),
    agent_id        TEXT NOT NULL REFERENCES agent (id),
    thread_key      TEXT NOT NULL CHECK (thread_key <> ''),
    created_us      BIGINT NOT NULL,
    UNIQUE (organisation_id, person_id, agent_id, thread_key)
);
CREATE INDEX agui_thread_agent ON agui_thread (agent_id);

-- One command of a thread. A client may use the ID of an interrupted run again.
CREATE TABLE agui_run (
    id            TEXT PRIMARY KEY,
    thread_id     TEXT NOT NULL REFERENCES agui_thread (id),
    number        BIGINT NOT NULL CHECK (number > 0),
    run_key       TEXT NOT NULL CHECK (run_key <> ''),
    task_id       TEXT NOT NULL REFERENCES task (id),
    command_id    TEXT NOT NULL UNIQUE REFERENCES command (id),
    resume_sha256 TEXT NOT NULL DEFAULT '',
    created_us    BIGINT NOT NULL,
    UNIQUE (thread_id, number)
);
CREATE INDEX agui_run_key ON agui_run (run_key);
CREATE INDEX agui_run_task ON agui_run (task_id);

-- A message of the client, which comes again with every later run.
CREATE TABLE agui_said (
    thread_id  TEXT NOT NULL REFERENCES agui_thread (id),
    message_id TEXT NOT NULL CHECK (message_id <> ''),
    number     BIGINT NOT NULL CHECK (number > 0),
    run_id     TEXT NOT NULL REFERENCES agui_run (id),
    sent       BOOLEAN NOT NULL,
    sha256     TEXT NOT NULL,
    plain      BOOLEAN NOT NULL,
    content    TEXT NOT NULL, -- JSON
    PRIMARY KEY (thread_id, message_id),
    UNIQUE (thread_id, number)
);
CREATE INDEX agui_said_run ON agui_said (run_id);

-- What a person is asked before a thread goes on, under an ID that stays the same.
CREATE TABLE agui_interrupt (
    id         TEXT PRIMARY KEY,
    thread_id  TEXT NOT NULL REFERENCES agui_thread (id),
    run_id     TEXT NOT NULL REFERENCES agui_run (id),
    task_id    TEXT NOT NULL REFERENCES task (id),
    subject    TEXT NOT NULL CHECK (subject <> ''),
    content    TEXT NOT NULL, -- JSON
    decision   TEXT NOT NULL DEFAULT '', -- SHA-256 of the answer
    command_id TEXT REFERENCES command (id),
    created_us BIGINT NOT NULL,
    decided_us BIGINT,
    CHECK ((decision = '') = (command_id IS NULL)),
    CHECK ((decision = '') = (decided_us IS NULL)),
    UNIQUE (thread_id, task_id, subject)
);
CREATE INDEX agui_interrupt_run ON agui_interrupt (run_id);
CREATE INDEX agui_interrupt_task ON agui_interrupt (task_id);
CREATE INDEX agui_interrupt_command ON agui_interrupt (command_id);

-- +goose Down
DROP TABLE agui_interrupt;
DROP TABLE agui_said;
DROP TABLE agui_run;
DROP TABLE agui_thread;
