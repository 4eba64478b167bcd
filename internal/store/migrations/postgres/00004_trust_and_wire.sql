-- +goose Up
-- The interface that an administrator chose for an agent, as JSON; '' for the one
-- that its card decides.
ALTER TABLE agent ADD COLUMN interface TEXT NOT NULL DEFAULT '';

-- Public keys that cards from an origin are signed with.
CREATE TABLE card_pin (
    id              TEXT PRIMARY KEY,
    organisation_id TEXT NOT NULL,
    origin          TEXT NOT NULL,
    jwk             TEXT NOT NULL, -- the key, as a JSON Web Key
    expires_us      BIGINT NOT NULL,
    created_by      TEXT NOT NULL,
    created_us      BIGINT NOT NULL
);
CREATE INDEX card_pin_origin ON card_pin (organisation_id, origin);

-- What went over the wire, without secrets; kept for a while.
CREATE TABLE exchange (
    id              TEXT PRIMARY KEY,
    agent_id        TEXT NOT NULL REFERENCES agent (id),
    task_id         TEXT NOT NULL DEFAULT '', -- that it was for, or ''
    command_id      TEXT NOT NULL DEFAULT '', -- likewise
    operation       TEXT NOT NULL,            -- SendMessage, …, or AgentCard
    binding         TEXT NOT NULL DEFAULT '',
    version         TEXT NOT NULL DEFAULT '', -- of A2A
    method          TEXT NOT NULL DEFAULT '',
    url             TEXT NOT NULL DEFAULT '',
    request_header  TEXT NOT NULL DEFAULT '{}',
    request_body    BYTEA,
    request_size    BIGINT NOT NULL DEFAULT 0, -- of all of the body
    status          BIGINT NOT NULL DEFAULT 0, -- of HTTP; 0 without an answer, or for gRPC
    grpc_status     TEXT NOT NULL DEFAULT '',
    response_header TEXT NOT NULL DEFAULT '{}',
    response_body   BYTEA,
    response_size   BIGINT NOT NULL DEFAULT 0,
    events          BIGINT NOT NULL DEFAULT 0, -- how many there were
    error           TEXT NOT NULL DEFAULT '',
    started_us      BIGINT NOT NULL,
    answered_us     BIGINT,
    ended_us        BIGINT                     -- NULL while it goes on
);
CREATE INDEX exchange_agent ON exchange (agent_id, started_us DESC, id DESC);
CREATE INDEX exchange_task ON exchange (task_id, started_us DESC, id DESC) WHERE task_id <> '';
CREATE INDEX exchange_started ON exchange (started_us);

-- The events of a stream, the first ones if there were many.
CREATE TABLE exchange_event (
    exchange_id TEXT NOT NULL REFERENCES exchange (id) ON DELETE CASCADE,
    number      BIGINT NOT NULL,
    received_us BIGINT NOT NULL,
    event_id    TEXT NOT NULL DEFAULT '',
    event_type  TEXT NOT NULL DEFAULT '',
    body        BYTEA NOT NULL,
    size        BIGINT NOT NULL,
    PRIMARY KEY (exchange_id, number)
);

-- +goose Down
DROP TABLE exchange_event;
DROP TABLE exchange;
DROP TABLE card_pin;
ALTER TABLE agent DROP COLUMN interface;
