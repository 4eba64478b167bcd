-- +goose Up
-- For how long raw observations and files are kept, by organisation. Without a row
-- for ever.
CREATE TABLE retention (
    organisation_id TEXT PRIMARY KEY,
    days            BIGINT NOT NULL CHECK (days >= 0), -- after the last change of a task that has ended; 0: for ever
    set_by          TEXT NOT NULL,
    set_by_name     TEXT NOT NULL,
    set_us          BIGINT NOT NULL
);
-- When the raw record and the files of a task were purged.
ALTER TABLE task ADD COLUMN purged_us BIGINT;
CREATE INDEX task_purge ON task (organisation_id, updated_us) WHERE purged_us IS NULL AND merged_into IS NULL;
-- When an observation's bytes were purged, and how many those of raw were.
ALTER TABLE event ADD COLUMN purged_us BIGINT;
ALTER TABLE event ADD COLUMN purged_size BIGINT;

-- Files that a task held and that were purged.
CREATE TABLE purged_blob (
    task_id    TEXT NOT NULL REFERENCES task (id),
    sha256     TEXT NOT NULL,
    size       BIGINT NOT NULL,
    filename   TEXT NOT NULL,
    media_type TEXT NOT NULL,
    purged_us  BIGINT NOT NULL,
    PRIMARY KEY (task_id, sha256)
);
CREATE INDEX purged_blob_blob ON purged_blob (sha256);

DROP TRIGGER event_no_change ON event;
-- An observation of a task that has ended may lose its bytes, once. Nothing else of
-- it ever changes, and none is deleted.
-- +goose StatementBegin
CREATE FUNCTION allow_purge() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF COALESCE(OLD.purged_us IS NULL AND NEW.purged_us IS NOT NULL
    AND length(NEW.raw) = 0 AND NEW.payload IS NULL AND NEW.purged_size = length(OLD.raw)
    AND NEW.id IS NOT DISTINCT FROM OLD.id
    AND NEW.task_id IS NOT DISTINCT FROM OLD.task_id
    AND NEW.source IS NOT DISTINCT FROM OLD.source
    AND NEW.source_key IS NOT DISTINCT FROM OLD.source_key
    AND NEW.sha256 IS NOT DISTINCT FROM OLD.sha256
    AND NEW.asked_us IS NOT DISTINCT FROM OLD.asked_us
    AND NEW.received_us IS NOT DISTINCT FROM OLD.received_us
    AND NEW.cut_size IS NOT DISTINCT FROM OLD.cut_size
    AND NEW.artifact_limit IS NOT DISTINCT FROM OLD.artifact_limit
    AND NEW.number IS NOT DISTINCT FROM OLD.number
    AND NEW.seq IS NOT DISTINCT FROM OLD.seq
    AND NEW.answered_by IS NOT DISTINCT FROM OLD.answered_by
    AND NEW.after_answer IS NOT DISTINCT FROM OLD.after_answer
    AND EXISTS (SELECT 1 FROM task t WHERE t.id = OLD.task_id AND t.state IN ('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED'))
    AND NOT EXISTS (SELECT 1 FROM command c WHERE c.task_id = OLD.task_id AND c.status IN ('pending', 'dispatching', 'uncertain')), FALSE) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'the ledger is append-only';
END $$;
-- +goose StatementEnd
CREATE TRIGGER event_no_update BEFORE UPDATE ON event FOR EACH ROW EXECUTE FUNCTION allow_purge();
CREATE TRIGGER event_no_delete BEFORE DELETE ON event FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- +goose Down
DROP TRIGGER event_no_delete ON event;
DROP TRIGGER event_no_update ON event;
DROP FUNCTION allow_purge();
DROP TABLE purged_blob;
ALTER TABLE event DROP COLUMN purged_size;
ALTER TABLE event DROP COLUMN purged_us;
DROP INDEX task_purge;
ALTER TABLE task DROP COLUMN purged_us;
DROP TABLE retention;
CREATE TRIGGER event_no_change BEFORE UPDATE OR DELETE ON event FOR EACH ROW EXECUTE FUNCTION refuse_change();
