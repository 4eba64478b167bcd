-- +goose Up
-- The trail: what was done, by whom. An entry is written in the transaction of its deed,
-- and never changed. Who, what and which names they had is kept as it was then, so
-- nothing here refers to another table.
CREATE TABLE audit_entry (
    id              TEXT PRIMARY KEY,
    organisation_id TEXT NOT NULL CHECK (organisation_id <> ''),
    deed_id         TEXT NOT NULL, -- the first entry of the same transaction
    at_us           BIGINT NOT NULL,
    actor_kind      TEXT NOT NULL CHECK (actor_kind <> ''),
    actor_id        TEXT NOT NULL CHECK (actor_id <> ''),
    actor_name      TEXT NOT NULL,
    session_id      TEXT NOT NULL,
    token_id        TEXT NOT NULL,
    action          TEXT NOT NULL CHECK (action <> ''),
    kind            TEXT NOT NULL CHECK (kind <> ''),
    agent_id        TEXT NOT NULL,
    agent_name      TEXT NOT NULL,
    task_id         TEXT NOT NULL,
    command_id      TEXT NOT NULL,
    message_id      TEXT NOT NULL,
    content_sha256  TEXT NOT NULL,
    object_id       TEXT NOT NULL,
    object_name     TEXT NOT NULL,
    detail          TEXT NOT NULL  -- a JSON object of strings
) WITHOUT ROWID;
CREATE INDEX audit_entry_time ON audit_entry (organisation_id, at_us, id);
CREATE INDEX audit_entry_task ON audit_entry (organisation_id, task_id, at_us, id) WHERE task_id <> '';
CREATE INDEX audit_entry_kind ON audit_entry (organisation_id, kind, at_us, id);
CREATE INDEX audit_entry_actor ON audit_entry (organisation_id, actor_id, at_us, id);

-- The place of each entry in the chain of its organisation, given a moment later.
CREATE TABLE audit_link (
    organisation_id TEXT NOT NULL,
    seq             BIGINT NOT NULL CHECK (seq > 0),
    entry_id        TEXT NOT NULL UNIQUE,
    previous        TEXT NOT NULL, -- the hash of the link before it; '' for the first
    hash            TEXT NOT NULL, -- of the entry with previous
    PRIMARY KEY (organisation_id, seq)
) WITHOUT ROWID;

-- The end of each chain; whoever makes it longer locks this row.
CREATE TABLE audit_head (
    organisation_id TEXT PRIMARY KEY,
    seq             BIGINT NOT NULL,
    hash            TEXT NOT NULL
);

-- Entries that have no place yet.
CREATE TABLE audit_pending (
    organisation_id TEXT NOT NULL,
    deed_id         TEXT NOT NULL,
    entry_id        TEXT NOT NULL UNIQUE,
    PRIMARY KEY (organisation_id, deed_id, entry_id)
) WITHOUT ROWID;

-- A task has all entries of those that became it.
CREATE INDEX task_merged ON task (merged_into) WHERE merged_into IS NOT NULL;

-- +goose StatementBegin
CREATE TRIGGER audit_entry_no_update BEFORE UPDATE ON audit_entry BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_entry_no_delete BEFORE DELETE ON audit_entry BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END;
-- +goose StatementEnd
-- INSERT OR REPLACE takes rows away without a DELETE.
-- +goose StatementBegin
CREATE TRIGGER audit_entry_no_replace BEFORE INSERT ON audit_entry
WHEN EXISTS (SELECT 1 FROM audit_entry WHERE id = NEW.id) BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_link_no_update BEFORE UPDATE ON audit_link BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_link_no_delete BEFORE DELETE ON audit_link BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_link_no_replace BEFORE INSERT ON audit_link
WHEN EXISTS (SELECT 1 FROM audit_link WHERE (organisation_id = NEW.organisation_id AND seq = NEW.seq) OR entry_id = NEW.entry_id) BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END;
-- +goose StatementEnd

-- The same for the ledger. What was observed before is not observed again: that is left
-- as it is, as the program expects of it.
-- +goose StatementBegin
CREATE TRIGGER event_no_replace BEFORE INSERT ON event
WHEN EXISTS (SELECT 1 FROM event WHERE id = NEW.id OR rowid = NEW.rowid OR (task_id = NEW.task_id AND number = NEW.number)) BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER event_once BEFORE INSERT ON event
WHEN EXISTS (SELECT 1 FROM event WHERE task_id = NEW.task_id AND source = NEW.source AND source_key = NEW.source_key)
    AND NOT EXISTS (SELECT 1 FROM event WHERE id = NEW.id) BEGIN
    SELECT RAISE(IGNORE);
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER event_once;
DROP TRIGGER event_no_replace;
DROP INDEX task_merged;
DROP TABLE audit_pending;
DROP TABLE audit_head;
DROP TABLE audit_link;
DROP TABLE audit_entry;
