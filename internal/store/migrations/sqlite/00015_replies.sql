-- +goose Up
-- What was purged can be purged again once it has changed: a conversation may go on.
DROP INDEX task_purge;
CREATE INDEX task_purge ON task (organisation_id, updated_us) WHERE merged_into IS NULL AND (purged_us IS NULL OR purged_us < updated_us);
DROP TRIGGER event_no_update;
-- An observation of a task that has ended, or of a conversation without a task, may lose
-- its bytes, once. Nothing else of it ever changes, and none is deleted.
-- +goose StatementBegin
CREATE TRIGGER event_no_update BEFORE UPDATE ON event
WHEN NOT COALESCE(OLD.purged_us IS NULL AND NEW.purged_us IS NOT NULL
    AND length(NEW.raw) = 0 AND NEW.payload IS NULL AND NEW.purged_size = length(OLD.raw)
    AND NEW.id IS OLD.id
    AND NEW.task_id IS OLD.task_id
    AND NEW.source IS OLD.source
    AND NEW.source_key IS OLD.source_key
    AND NEW.sha256 IS OLD.sha256
    AND NEW.asked_us IS OLD.asked_us
    AND NEW.received_us IS OLD.received_us
    AND NEW.cut_size IS OLD.cut_size
    AND NEW.artifact_limit IS OLD.artifact_limit
    AND NEW.number IS OLD.number
    AND NEW.seq IS OLD.seq
    AND NEW.answered_by IS OLD.answered_by
    AND NEW.after_answer IS OLD.after_answer
    AND EXISTS (SELECT 1 FROM task t WHERE t.id = OLD.task_id AND (t.kind = 'message' OR t.state IN ('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')))
    AND NOT EXISTS (SELECT 1 FROM command c WHERE c.task_id = OLD.task_id AND c.status IN ('pending', 'dispatching', 'uncertain')), FALSE)
BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;
-- +goose StatementEnd

-- +goose Down
DROP INDEX task_purge;
CREATE INDEX task_purge ON task (organisation_id, updated_us) WHERE purged_us IS NULL AND merged_into IS NULL;
DROP TRIGGER event_no_update;
-- +goose StatementBegin
CREATE TRIGGER event_no_update BEFORE UPDATE ON event
WHEN NOT COALESCE(OLD.purged_us IS NULL AND NEW.purged_us IS NOT NULL
    AND length(NEW.raw) = 0 AND NEW.payload IS NULL AND NEW.purged_size = length(OLD.raw)
    AND NEW.id IS OLD.id
    AND NEW.task_id IS OLD.task_id
    AND NEW.source IS OLD.source
    AND NEW.source_key IS OLD.source_key
    AND NEW.sha256 IS OLD.sha256
    AND NEW.asked_us IS OLD.asked_us
    AND NEW.received_us IS OLD.received_us
    AND NEW.cut_size IS OLD.cut_size
    AND NEW.artifact_limit IS OLD.artifact_limit
    AND NEW.number IS OLD.number
    AND NEW.seq IS OLD.seq
    AND NEW.answered_by IS OLD.answered_by
    AND NEW.after_answer IS OLD.after_answer
    AND EXISTS (SELECT 1 FROM task t WHERE t.id = OLD.task_id AND t.state IN ('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED'))
    AND NOT EXISTS (SELECT 1 FROM command c WHERE c.task_id = OLD.task_id AND c.status IN ('pending', 'dispatching', 'uncertain')), FALSE)
BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;
-- +goose StatementEnd
