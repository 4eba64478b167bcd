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
);
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
);

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
);

-- A task has all entries of those that became it.
CREATE INDEX task_merged ON task (merged_into) WHERE merged_into IS NOT NULL;

-- +goose StatementBegin
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is append-only';
END $$;
-- +goose StatementEnd
CREATE TRIGGER audit_entry_no_change BEFORE UPDATE OR DELETE ON audit_entry FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_entry_no_truncate BEFORE TRUNCATE ON audit_entry FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_link_no_change BEFORE UPDATE OR DELETE ON audit_link FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_link_no_truncate BEFORE TRUNCATE ON audit_link FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

-- +goose Down
DROP INDEX task_merged;
DROP TABLE audit_pending;
DROP TABLE audit_head;
DROP TABLE audit_link;
DROP TABLE audit_entry;
DROP FUNCTION refuse_audit_change;
