-- +goose Up
-- What was purged can be purged again once it has changed: a conversation may go on.
DROP INDEX task_purge;
CREATE INDEX task_purge ON task (organisation_id, updated_us) WHERE merged_into IS NULL AND (purged_us IS NULL OR purged_us < updated_us);
-- An observation of a task that has ended, or of a conversation without a task, may lose
-- its bytes, once. Nothing else of it ever changes, and none is deleted.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION allow_purge() RETURNS trigger LANGUAGE plpgsql AS $$
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
    AND EXISTS (SELECT 1 FROM task t WHERE t.id = OLD.task_id AND (t.kind = 'message' OR t.state IN ('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')))
    AND NOT EXISTS (SELECT 1 FROM command c WHERE c.task_id = OLD.task_id AND c.status IN ('pending', 'dispatching', 'uncertain')), FALSE) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'the ledger is append-only';
END $$;
-- +goose StatementEnd

-- +goose Down
DROP INDEX task_purge;
CREATE INDEX task_purge ON task (organisation_id, updated_us) WHERE purged_us IS NULL AND merged_into IS NULL;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION allow_purge() RETURNS trigger LANGUAGE plpgsql AS $$
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
